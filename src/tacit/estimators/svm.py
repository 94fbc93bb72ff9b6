"""Private linear support vector classification, by a hinge with a rounded corner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from tacit.design.response import Binary, Response
from tacit.engine.table import Table
from tacit.errors import SettingError
from tacit.estimators.base import Model
from tacit.estimators.class_response import Classified, labels_of
from tacit.losses import hinge
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget


class LinearSVC(Classified, ClassifierMixin, Model):
    """Linear support vector classification of two classes under differential privacy.

    Minimises mean h(m) + (l2 / 2)‖coef - prior_mean‖² over margins m = ±x·coef. h is the hinge with
    its corner rounded over ±½: 0 from 1½ on, (1½ - m)² / 2 down to ½, 1 - m below. There are no
    probabilities.

    Guarantee
    ---------
    - The fitted attributes are (ε, δ)-differentially private for one record under `relation` (for
      one unit where units are given), given the public facts that `certificate_` lists. `predict`
      and `score` on private records are not.
    - Values outside the declared bounds act as if they stood on them.
    - Without declared bounds nothing is fitted: they are never read off the data.

    Parameters
    ----------
    l2
        Penalty on the slopes. With n records it is scikit-learn's C = 1 / (n·l2).
    classes
        The two labels, the negative one first. Read from y if not declared, and then listed as
        assumed public.

    The other parameters are those of `LogisticRegression`, and so are the attributes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> model = LinearSVC(epsilon=1.0, bounds=(-1, 1)).fit(X, X[:, 0] > 0.2)
    >>> model.predict([[0.9], [-0.9]]).tolist()
    [True, False]
    """

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        budget: Budget | None = None,
        bounds: ArrayLike | str | None = None,
        row_norm: float | None = None,
        relation: str = "replace-one",
        n_at_least: int | None = None,
        solver: str = "auto",
        output: str | None = None,
        iterations: int | None = None,
        step_size: float | None = None,
        max_passes: int | None = None,
        radius: float | None = None,
        l2: float = 0.0,
        prior_mean: Sequence[float] | None = None,
        constraint: Any = None,
        fit_intercept: bool = True,
        feature_map: Any = None,
        inference: bool = False,
        classes: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | None = None,
        max_weight: float | None = None,
        max_rows_per_unit: int | None = None,
        invalid_rows: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self._set(locals())

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes, never more."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _response(self, name: str, table: Table | None) -> Response:
        labels = labels_of(self.classes, name, table)
        if len(labels) > 2:
            raise SettingError(
                "LinearSVC separates two classes. Only binary classification is supported; for "
                "more use LogisticRegression, or declare two with classes=…"
            )
        return Binary.of(name, labels)

    def _loss(self, response: Response) -> Loss:
        del response
        return hinge.loss()
