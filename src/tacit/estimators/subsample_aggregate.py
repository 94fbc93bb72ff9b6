"""Subsample and aggregate: any estimator as a black box on disjoint blocks, of which an aggregate is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.contract.plan import Plan, PublicFact
from tacit.contract.query import Gate
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.errors import SettingError
from tacit.estimators.block_model import HONEST, BlockModel, output_design, with_design
from tacit.estimators.block_programs import FittedNumbers
from tacit.estimators.parameters import estimator
from tacit.estimators.settings import ORDER, UNIT
from tacit.solvers import block_plans
from tacit.solvers.block_plans import Aggregator, BlockAggregate
from tacit.solvers.block_rules import BLOCKS
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.validate import one_of, whole

Floats = NDArray[np.float64]


@estimator
class SubsampleAggregate(BlockModel):
    """Any scikit-learn-compatible estimator under differential privacy, as a black box on disjoint blocks.

    The records are split into blocks in secret. A fresh clone is fitted to each block, in a process of its own, and
    returns some numbers: by default its `intercept_` and `coef_`. Released is an aggregate of the blocks' numbers. A
    record is in one block, so it matters little, whatever the estimator does.

    Guarantee
    ---------
    - A clone that raises, takes too long or too much memory, or returns other than finite numbers gives the middle of
      `output_bounds`, and is charged the same. What it prints or warns of is discarded.
    - The estimator is tried on invented rows first: what fails there is refused, and costs nothing.

    Parameters
    ----------
    estimator
        A scikit-learn-compatible estimator; each block fits a clone. With several classes it must have the same labels
        in each block.
    output_bounds
        Public (lower, upper) of the numbers, as two numbers or two sequences; numbers outside act as if they stood on
        them. Results are as precise as these are narrow.
    statistic, outputs
        A function of the fitted clone that returns numbers, and how many, or their names.
    aggregator
        "mean", with Gaussian noise, or "median", by the exponential mechanism, which takes wider bounds and δ = 0.
    blocks
        How many blocks; None: by rule (docs/aggregate.md).
    jackknife
        Whether each block takes the first term of the bias off, by fits without a quarter of its rows.
    seconds, memory
        Processor time that a block may take, and gigabytes beyond what the loaded estimator has.
    y_bounds, classes
        Public bounds of a response, to which it is clipped; labels of a classifier, None: they are read from y.
    progress
        Called with (done, total, label) after each block.

    Attributes
    ----------
    values_, names_
        The released numbers and what they are.
    coef_, intercept_
        The same, by default, as the estimator has them.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, STOC 2007; A. Smith, STOC 2011.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> from sklearn.linear_model import TheilSenRegressor
    >>> X = np.linspace(-1, 1, 4000).reshape(-1, 1)
    >>> y = 2 * X[:, 0] + np.sin(np.arange(4000))
    >>> model = tacit.SubsampleAggregate(
    ...     estimator=TheilSenRegressor(), epsilon=4.0, output_bounds=(-5, 5), aggregator="median", blocks=60
    ... )
    >>> bool(abs(model.fit(X, y).coef_[0] - 2) < 1)
    True
    """

    estimator: Any = None
    output_bounds: ArrayLike | None = None
    statistic: Callable[[Any], Any] | None = None
    outputs: int | Sequence[str] | None = None
    aggregator: str = "mean"
    blocks: int | None = None
    jackknife: bool = True
    seconds: float = 60.0
    memory: float = 2.0
    y_bounds: ArrayLike | None = None
    classes: Sequence[Any] | None = None
    progress: Any = None

    def fit(self, X: Any, y: Any, units: Any = None, order: Any = None) -> Self:  # type: ignore[override]
        """Fit a clone to each block of private records and release an aggregate of their numbers."""
        return self._fit(X, y, {UNIT: units, ORDER: order})

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict by the linear predictors of `coef_` and `intercept_`; not for numbers of one's own."""
        check_is_fitted(self)
        if self.statistic is not None:
            raise SettingError("predict is for coefficients; these are numbers of your own, in values_.")
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        margins = rows @ np.atleast_2d(self.coef_).T + self.intercept_
        if not self._is_classifier():
            return np.asarray(margins[:, 0])
        codes = (margins[:, 0] > 0).astype(np.int64) if margins.shape[1] == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _is_classifier(self) -> bool:
        tagged = hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type)
        return self.classes is not None or (tagged and bool(is_classifier(self.estimator)))

    def _output_names(self, design: Design) -> list[str]:
        if self.statistic is None:
            labels = design.response.classes if len(design.response.classes) > 2 else ("",)
            ends = [f"{label}: " if label != "" else "" for label in labels]
            columns = [column.name for column in design.columns]
            return [f"{end}Intercept" for end in ends] + [f"{end}{name}" for end in ends for name in columns]
        if self.outputs is None:
            raise SettingError("outputs=… must say how many numbers statistic=… returns, or their names.")
        if isinstance(self.outputs, str) or not isinstance(self.outputs, Sequence):
            return [f"output {number}" for number in range(whole("outputs", self.outputs))]
        return [str(name) for name in self.outputs]

    def _ends(self, size: int) -> tuple[Floats, Floats]:
        expected = f"two numbers (lower, upper), or two sequences of length {size}"
        try:
            given: Any = self.output_bounds
            low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), (size,)) for side in given)
        except (TypeError, ValueError):
            raise SettingError(f"output_bounds must be {expected}: public bounds of a block's numbers.") from None
        if not (np.isfinite(low) & np.isfinite(high) & (low < high)).all():
            raise SettingError("output_bounds must be finite, each lower one below its upper one.")
        return low, high

    def _planned(self, facts: PublicFacts, options: SolverOptions) -> Plan:
        del options
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise SettingError("estimator must be an object with fit, such as sklearn.linear_model.Ridge().")
        aggregator = Aggregator(one_of("aggregator", self.aggregator, [Aggregator.MEAN, Aggregator.MEDIAN]))
        names = self._output_names(facts.design)
        lower, upper = self._ends(len(names))
        labels = np.array(facts.design.response.classes) if self._is_classifier() else None
        program = FittedNumbers(self.estimator, self.statistic, labels)
        groups = BLOCKS.groups if self.jackknife else 0
        function = self._black_box(program, (lower + upper) / 2, facts.design, groups)
        solver = BlockAggregate(function, 2, aggregator, tuple(lower.tolist()), tuple(upper.tolist()))
        plan = block_plans.plan(facts, solver, self._number_of_blocks("blocks"))
        public = {"estimator": type(self.estimator).__name__, "output_bounds": [lower.tolist(), upper.tolist()]}
        found = [PublicFact(name, value, "declared") for name, value in public.items()]
        return plan.with_facts(*found, PublicFact(HONEST, True, "assumed"))

    def _released(self, gate: Gate, plan: Plan, *, seeded: bool) -> Release:
        names = self._output_names(plan.design)
        self._shape = len(plan.design.columns), plan.design.response.classes
        lower, upper = self._ends(len(names))
        theta = plan.solver.run(gate, plan).theta
        return Release(with_design(plan, output_design(names, lower.tolist(), upper.tolist())), theta, seeded)

    def _store(self, coefficients: Floats, design: Design) -> None:
        self.values_, self.names_ = coefficients, design.names
        columns, classes = self.__dict__.pop("_shape")
        if classes:
            self.classes_ = np.array(classes)
        if self.statistic is None:
            rows = len(coefficients) // (columns + 1)
            slopes = coefficients[rows:].reshape(rows, columns)
            self.coef_ = slopes if classes else slopes[0]
            self.intercept_: Any = coefficients[:rows] if classes else float(coefficients[0])
