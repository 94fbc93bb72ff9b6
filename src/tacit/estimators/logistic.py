"""Private logistic regression of two or more classes, with scikit-learn's habits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.estimators.class_response import Classifier
from tacit.estimators.loss_choice import predicted
from tacit.estimators.parameters import estimator


@estimator
class LogisticRegression(Classifier):
    """Logistic regression under differential privacy; nothing to tune.

    Minimises the mean of log(1 + exp(-y x·coef)) for two classes, for more that of
    log Σ_k exp(x·coef_k) - x·coef_y (one joint model), plus (l2 / 2)‖coef - prior_mean‖².

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = np.arange(20_000) * 0.618 % 1 < 1 / (1 + np.exp(-3 * X[:, 0]))
    >>> model = LogisticRegression(epsilon=1.0, bounds=(-1, 1)).fit(X, y)
    >>> bool(abs(model.coef_[0, 0] - 3) < 0.5)
    True
    """

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of all classes for new records."""
        margins = self.decision_function(X)
        chances = predicted(self.plan_.design.response, margins)
        return chances if chances.ndim == 2 else np.column_stack([1.0 - chances, chances])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities of all classes."""
        return np.log(self.predict_proba(X))
