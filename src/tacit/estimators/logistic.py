"""Private logistic regression of two or more classes, with scikit-learn's habits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from tacit.design.response import Response
from tacit.estimators.base import Model
from tacit.estimators.class_response import Classified
from tacit.estimators.loss_choice import classifying_loss, predicted
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget


class LogisticRegression(Classified, ClassifierMixin, Model):
    """Logistic regression under differential privacy; nothing to tune.

    Minimises the mean of log(1 + exp(-y x·coef)) for two classes, for more that of
    log Σ_k exp(x·coef_k) - x·coef_y (one joint model), plus (l2 / 2)‖coef - prior_mean‖², by noisy
    gradient descent in privately whitened coordinates, and releases the coefficients only.

    Guarantee
    ---------
    - The fitted attributes are (ε, δ)-differentially private for one record under `relation` (for
      one unit where units are given), given the public facts that `certificate_` lists. `predict`
      and `score` on private records are not.
    - Values outside the declared bounds act as if they stood on them.
    - Without declared bounds nothing is fitted: they are never read off the data.

    Parameters
    ----------
    epsilon, delta
        The budget. ε has no default; δ defaults to min(1e-5, n^-1.1), or, where n is private, to
        min(1e-6, n_at_least^-1.1).
    budget
        A `tacit.Budget` in their place.
    bounds
        Public (lower, upper) of the features: two numbers or two sequences; or "private": part of
        the budget is spent on finding them.
    row_norm
        Public bound on the L2 norm of a feature row, after mapping to [-1, 1] if bounds are given.
    relation
        "replace-one" (n public), "zero-out" (n public) or "add-remove" (declare `n_at_least`).
    n_at_least
        Public lower bound on the number of records, for add-remove.
    solver
        "auto", "whitened-gradient", "gradient" (plain descent, as in the lecture notes), or
        "newton" or "majorised-newton" (noisy Newton steps); for two classes also
        "objective-perturbation" and "double-noise-newton". With `inference` "auto" is one step
        from a pilot, and both descents run in whitened coordinates.
    output
        "average" of all iterates, their "tail" half, or the "last"; None: the solver's default.
    iterations, step_size
        None: planned from public facts. A Newton step is at most 1, which is the full one.
    max_passes
        Public cap on passes over the data; None: 30 where n·d ≥ 10^7 (38 with `inference`), else
        1000.
    radius
        Radius of a ball that holds the slopes; None: no constraint.
    l2, prior_mean
        Ridge penalty on the slopes, and the point it shrinks to (default 0).
    constraint
        A set of `tacit.constraints` that holds the slopes; None: none.
    fit_intercept
        Whether to add an intercept.
    feature_map
        A public row-wise map from features to further ones: `tacit.Polynomial`,
        `tacit.RandomFourier`, or another of `tacit.design.feature_map`.
    inference
        Whether the plan pays for standard errors and intervals, out of the same budget.
    classes
        The labels, the negative one first where there are two. Read from y if not declared, and
        then listed as assumed public. Inside a ledger they must be declared.
    class_weight
        A fixed weight for each label, {label: weight}; others count 1. They are never read off
        the labels.
    max_weight
        Public largest weight of a record, for `sample_weight`; larger ones are capped.
    max_rows_per_unit
        How many records of one unit are kept, for `units`; the guarantee then is for units.
    invalid_rows
        "error" refuses a table with NaN, infinite or undeclared entries, or text where numbers are
        due; "zero" lets such records contribute nothing. A column whose type is text is refused.
        None: "error" outside a ledger, where the certificate then lists that every record is valid
        as assumed; inside one "zero", and "error" only if the ledger allows refusals.
    random_state
        A seed for reproducible noise, for tests: the certificate then says `private: false`.

    Attributes
    ----------
    coef_, intercept_
        On the user's scale: (1, d) and (1,) for two classes, (K, d) and (K,) for K ≥ 3.
    classes_
        The labels, in the order of the rows.
    release_, plan_, certificate_
        What left the wall, the plan that paid for it, and what was guaranteed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = np.arange(20_000) * 0.618 % 1 < 1 / (1 + np.exp(-3 * X[:, 0]))
    >>> model = LogisticRegression(epsilon=1.0, bounds=(-1, 1)).fit(X, y)
    >>> bool(abs(model.coef_[0, 0] - 3) < 0.5)
    True
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

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of all classes for new records."""
        margins = self.decision_function(X)
        chances = predicted(self.plan_.design.response, margins)
        return chances if chances.ndim == 2 else np.column_stack([1.0 - chances, chances])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities of all classes."""
        return np.log(self.predict_proba(X))

    def _loss(self, response: Response) -> Loss:
        return classifying_loss(response)
