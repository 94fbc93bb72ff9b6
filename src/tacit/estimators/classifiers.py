"""Private classifiers: logistic regression of two or more classes, and a linear SVM of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from tacit.contract.plan import PublicFact
from tacit.design.design import Design
from tacit.design.response import Binary, Classes, Response
from tacit.engine.table import Table
from tacit.errors import DataError, SettingError
from tacit.estimators.base import LinearModel, split, with_noise
from tacit.estimators.loss_choice import predicted
from tacit.estimators.parameters import estimator
from tacit.losses import classification
from tacit.losses.loss import Loss


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(ClassifierMixin, LinearModel):
    """A classifier by linear predictors.

    Guarantee:

    - Classes that are read from the labels are listed in the certificate as assumed public. Inside
      a ledger they are not read: they must be declared. Their weights are never read off the labels.

    Parameters
    ----------
    classes
        The labels, the negative one first where there are two; None: they are read from y.
    class_weight
        A fixed weight for each label, {label: weight}; others count 1.

    Attributes
    ----------
    coef_, intercept_
        On the user's scale: (1, d) and (1,) for two classes, (K, d) and (K,) for K ≥ 3.
    classes_
        The labels, in the order of the rows.
    """

    most_classes = 3
    """Kinds of labels that are planned for before they are read: all above 2 are planned alike."""
    classes: Sequence[Any] | None = None
    class_weight: Mapping[Any, float] | None = None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that scores are noisy."""
        return with_noise(super().__sklearn_tags__(), self.epsilon)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Linear predictors of new records: one, or one a class where there are three or more."""
        return self._linear_predictors(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest linear predictor."""
        margins = self.decision_function(X)
        chosen = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def _loss(self, response: Response) -> Loss:
        return classification.SOFTMAX if isinstance(response, Classes) else classification.LOGISTIC

    def _response(self, name: str, table: Table | None) -> Response:
        """Of declared labels, else those of the table's response; 0 and 1 without a table."""
        if self.classes is not None or table is None:
            return self._response_of(name, (0, 1) if self.classes is None else self.classes)
        labels = table.classes(name)
        if any(isinstance(label, float) and not label.is_integer() for label in labels):
            what = "Unknown label type: the response has fractions, like a continuous one."
            raise DataError(f"{what} Use a regression, or declare the labels with classes=…")
        return self._response_of(name, labels)

    def _response_of(self, name: str, labels: Sequence[Any]) -> Response:
        return Classes.of(name, labels) if len(labels) > 2 else Binary.of(name, labels)

    def _stand_ins(self) -> list[Response]:
        """Responses of as many labels as there may be, those with a weight among them."""
        if self.classes is not None:
            return []
        weighted = list(self.class_weight) if isinstance(self.class_weight, Mapping) else []
        labels = [*weighted, *(f"another label {place}" for place in range(self.most_classes))]
        counts = sorted({max(len(weighted), count) for count in (2, self.most_classes)})
        return [self._response_of("y", labels[:count]) for count in counts]

    def _facts(self, response: Response) -> list[PublicFact]:
        facts = [PublicFact("classes", list(response.classes), "assumed" if self.classes is None else "declared")]
        weights = self._class_weights(response)
        return facts if weights is None else [*facts, PublicFact("class_weight", list(weights), "declared")]

    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        """Rows are classes, or the one predictor of the second class."""
        intercept, slopes = split(coefficients.reshape(design.width, -1), design)
        self.classes_ = np.asarray(design.response.classes)
        self.intercept_, self.coef_ = np.full(slopes.shape[1], intercept), np.array(slopes.T)


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


@dataclass(eq=False, repr=False, kw_only=True)
class BinaryClassifier(Classifier):
    """A classifier of two classes, never more."""

    most_classes = 2

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes, never more."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _response_of(self, name: str, labels: Sequence[Any]) -> Response:
        if len(labels) > 2:
            more = "for more use LogisticRegression, or declare two with classes=…"
            what = f"{type(self).__name__} separates two classes. Only binary classification is supported"
            raise SettingError(f"{what}; {more}")
        return Binary.of(name, labels)


@estimator
class LinearSVC(BinaryClassifier):
    """Linear support vector classification of two classes under differential privacy.

    Minimises mean h(m) + (l2 / 2)‖coef - prior_mean‖² over margins m = ±x·coef. h is the hinge with
    its corner rounded over ±½: 0 from 1½ on, (1½ - m)² / 2 down to ½, 1 - m below. With n records
    the penalty is scikit-learn's C = 1 / (n·l2). There are no probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> model = LinearSVC(epsilon=1.0, bounds=(-1, 1)).fit(X, X[:, 0] > 0.2)
    >>> model.predict([[0.9], [-0.9]]).tolist()
    [True, False]
    """

    def _loss(self, _response: Response) -> Loss:
        return classification.hinge()
