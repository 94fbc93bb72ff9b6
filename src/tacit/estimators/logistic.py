"""Private binary logistic regression with scikit-learn's habits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.engine.table import Table
from tacit.errors import DataError
from tacit.estimators.fitting import Request, common_facts, fit_release, make_request
from tacit.inference.intervals import intervals, term_rows
from tacit.inference.summary import Summary, summarise
from tacit.ledger.active import active_ledger, inherited, mark
from tacit.losses import logistic
from tacit.privacy.budget import Budget
from tacit.problem.certificate import Certificate
from tacit.problem.design import Design, matrix_design
from tacit.problem.plan import Plan, PublicFact
from tacit.problem.release import Release
from tacit.problem.response import Binary


class LogisticRegression(ClassifierMixin, BaseEstimator):
    """Binary logistic regression under differential privacy; nothing to tune.

    Minimises mean log(1 + exp(-y x·coef)) + (l2 / 2)‖coef - prior_mean‖² by noisy gradient descent
    in privately whitened coordinates, and releases the coefficients only.

    Guarantee
    ---------
    - The fitted attributes are (ε, δ)-differentially private for one record under `relation`, given
      the public facts that `certificate_` lists. `predict` and `score` on private records are not.
    - Values outside the declared bounds act as if they stood on them.
    - Without declared bounds nothing is fitted: they are never read off the data.

    Parameters
    ----------
    epsilon, delta
        The budget. ε has no default; δ defaults to min(1e-5, n^-1.1), or 1e-6 where n is private.
    budget
        A `tacit.Budget` in their place.
    bounds
        Public (lower, upper) of the features: two numbers or two sequences.
    row_norm
        Public bound on the L2 norm of a feature row, after mapping to [-1, 1] if bounds are given.
    relation
        "replace-one" (n public), "zero-out" (n public) or "add-remove" (declare `n_at_least`).
    n_at_least
        Public lower bound on the number of records, for add-remove.
    solver
        "auto", "whitened-gradient" or "gradient" (plain descent, as in the lecture notes).
    output
        "average" of all iterates, their "tail" half, or the "last"; None: the solver's default.
    iterations, step_size
        None: planned from public facts.
    max_passes
        Public cap on passes over the data; None: 30 where n·d ≥ 10^7, else 1000.
    radius
        Radius of a ball that holds the slopes; None: no constraint.
    l2, prior_mean
        Ridge penalty on the slopes, and the point it shrinks to (default 0).
    fit_intercept
        Whether to add an intercept.
    inference
        Whether the plan pays for standard errors and intervals, out of the same budget.
    classes
        The two labels, negative first. Read from y if not declared, and then listed as assumed
        public.
    invalid_rows
        "error" refuses a table with NaN, infinite or undeclared entries; "zero" lets such records
        contribute nothing.
    random_state
        A seed for reproducible noise, for tests: the certificate then says `private: false`.

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
        bounds: ArrayLike | None = None,
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
        fit_intercept: bool = True,
        inference: bool = False,
        classes: Sequence[Any] | None = None,
        invalid_rows: str = "error",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.bounds = bounds
        self.row_norm = row_norm
        self.relation = relation
        self.n_at_least = n_at_least
        self.solver = solver
        self.output = output
        self.iterations = iterations
        self.step_size = step_size
        self.max_passes = max_passes
        self.radius = radius
        self.l2 = l2
        self.prior_mean = prior_mean
        self.fit_intercept = fit_intercept
        self.inference = inference
        self.classes = classes
        self.invalid_rows = invalid_rows
        self.random_state = random_state

    def plan(self, n: int, d: int) -> Plan:
        """Price and forecast of a fit on n records and d features; no data."""
        names = [f"x{j}" for j in range(d)]
        classes = (0, 1) if self.classes is None else self.classes
        return self._request().plan(self._design(names, "y", classes), n)

    def fit(self, X: Any, y: Any) -> LogisticRegression:
        """Fit to private records and release the coefficients."""
        request = self._request()
        if y is None:
            raise DataError("requires y to be passed, but the target y is None.")
        if isinstance(X, str | os.PathLike) or isinstance(y, str):
            raise DataError(
                "fit takes features X and labels y beside them; for a file, or a response named in "
                "the table, use tacit.glm."
            )
        with self._ledger_of_origin(), Table(X, y) as table:
            validate_data(self, X, skip_check_array=True)
            response = table.response or "y"
            classes = table.classes(response) if self.classes is None else self.classes
            design = self._design(table.names, response, classes)
            facts = [*common_facts(request, table.names), *self._facts(design)]
            release = fit_release(table, request, design, facts)
        self._keep(release)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Take the active ledger along: a copy that fits in a worker process must charge it."""
        state = dict(super().__getstate__())
        state.pop("_ledger", None)
        words = mark()
        return {**state, "_ledger": words} if words else state

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Linear predictor of new records."""
        check_is_fitted(self)
        values = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(values @ self.coef_[0] + self.intercept_[0])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of both classes for new records."""
        positive = logistic.probability(self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable class of new records."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    def conf_int(self, level: float = 0.95) -> NDArray[np.float64]:
        """Intervals of all coefficients, the intercept first: columns lower and upper."""
        check_is_fitted(self)
        found = intervals(self.release_, level)
        return np.column_stack([found.lower, found.upper])

    def summary(self) -> Summary:
        """Coefficients with what was paid for, and the guarantee; print it."""
        check_is_fitted(self)
        return summarise(self.release_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes, never more."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _ledger_of_origin(self) -> AbstractContextManager[object]:
        """The ledger that was active where this copy was made, if none is here."""
        ledger = None if active_ledger() else inherited(getattr(self, "_ledger", ""))
        return nullcontext() if ledger is None else ledger

    def _request(self) -> Request:
        return make_request(
            epsilon=self.epsilon,
            delta=self.delta,
            budget=self.budget,
            relation=self.relation,
            n_at_least=self.n_at_least,
            solver=self.solver,
            output=self.output,
            iterations=self.iterations,
            step_size=self.step_size,
            max_passes=self.max_passes,
            radius=self.radius,
            l2=self.l2,
            prior_mean=self.prior_mean,
            inference=self.inference,
            invalid_rows=self.invalid_rows,
            random_state=self.random_state,
        )

    def _design(self, names: Sequence[str], response: str, classes: Sequence[Any]) -> Design:
        return matrix_design(
            names,
            Binary.of(response, classes),
            bounds=self.bounds,
            row_norm=self.row_norm,
            intercept=self.fit_intercept,
        )

    def _facts(self, design: Design) -> list[PublicFact]:
        word = "assumed" if self.classes is None else "declared"
        facts = [PublicFact("classes", list(design.response.classes), word)]
        if self.bounds is not None:
            bounds = [[column.lower, column.upper] for column in design.columns]
            facts.append(PublicFact("bounds", bounds, "declared"))
        if self.row_norm is not None:
            facts.append(PublicFact("row_norm", float(self.row_norm), "declared"))
        return facts

    def _keep(self, release: Release) -> None:
        coefficients = release.coefficients()
        design = release.plan.design
        self.release_ = release
        self.plan_ = release.plan
        self.certificate_ = Certificate.issue(release, term_rows(release))
        self.classes_ = np.asarray(design.response.classes)
        self.intercept_ = coefficients[:1] if design.intercept else np.zeros(1)
        self.coef_ = coefficients[int(design.intercept) :][None, :]
