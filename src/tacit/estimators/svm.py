"""Private linear support vector classification, by a hinge with a rounded corner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.design.response import Binary, Response
from tacit.errors import SettingError
from tacit.estimators.class_response import Classifier
from tacit.estimators.parameters import estimator
from tacit.losses import hinge
from tacit.losses.loss import Loss


@estimator
class LinearSVC(Classifier):
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

    most_classes = 2

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes, never more."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _response_of(self, name: str, labels: Sequence[Any]) -> Response:
        if len(labels) > 2:
            raise SettingError(
                "LinearSVC separates two classes. Only binary classification is supported; for "
                "more use LogisticRegression, or declare two with classes=…"
            )
        return Binary.of(name, labels)

    def _loss(self, response: Response) -> Loss:
        del response
        return hinge.loss()
