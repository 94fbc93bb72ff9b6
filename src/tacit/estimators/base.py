"""What all estimators share: the way from parameters to a release, and what is read off it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.certificate.certificate import Certificate
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.release import Release
from tacit.design.design import Design, matrix_design
from tacit.design.response import Absent, Response
from tacit.documents.dataclass_json import to_plain
from tacit.engine.prediction import margins
from tacit.engine.refusals import Refusals
from tacit.engine.table import Table
from tacit.errors import DataError
from tacit.estimators.attached_columns import ORDER, UNIT, WEIGHT, Declared, unit_name
from tacit.estimators.fitting import Request, common_facts, fit_release, make_request
from tacit.estimators.loss_choice import predicted
from tacit.inference.prediction import Prediction
from tacit.inference.results import Results
from tacit.inference.results_mixin import Readable
from tacit.ledger import current_ledger
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget

SETTINGS = (
    "relation",
    "n_at_least",
    "solver",
    "output",
    "iterations",
    "step_size",
    "max_passes",
    "radius",
    "l2",
    "prior_mean",
    "constraint",
    "inference",
    "invalid_rows",
    "random_state",
)
"""Parameters that go to the request as they are; an estimator may have fewer."""


class Model(Readable, BaseEstimator, ABC):
    """A private estimator, without its loss.

    A class of models says what its response is (`_response`), which loss it minimises (`_loss`),
    which further facts are public (`_facts`) and what its fitted attributes are (`_keep`). Its
    constructor lists its parameters, as scikit-learn wants them.

    Guarantee
    ---------
    - Settings that need no table are checked before it is touched, and a refusal costs nothing.
    - What `fit` leaves behind is a function of the release, which was paid for, and public facts.
    """

    epsilon: float | None
    delta: float | None
    budget: Budget | None
    bounds: ArrayLike | str | None
    row_norm: float | None
    relation: str
    n_at_least: int | None
    solver: str
    output: str | None
    iterations: int | None
    step_size: float | None
    max_passes: int | None
    radius: float | None
    l2: float
    prior_mean: Sequence[float] | None
    constraint: Any
    fit_intercept: bool
    feature_map: Any
    inference: bool
    max_weight: float | None
    max_rows_per_unit: int | None
    invalid_rows: str | None
    random_state: int | None

    def _set(self, parameters: dict[str, Any]) -> None:
        """Keep the constructor's arguments as they are, unchecked, as scikit-learn wants it."""
        for name, value in parameters.items():
            if name != "self":
                setattr(self, name, value)
        current_ledger.born(self)

    def plan(self, n: int, d: int) -> Plan:
        """Price and forecast of a fit on n records and d features; no data."""
        names = [f"x{j}" for j in range(d)]
        response = self._response("y", None)
        design = self._design(names, response, {}, sparse=False)
        return self._request().plan(design, n, self._loss(response))

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, units: Any = None, order: Any = None
    ) -> Self:
        """Fit to private records and release the coefficients.

        Parameters
        ----------
        X, y
            Features, as a matrix, a sparse matrix or a table, and the response beside them.
        sample_weight
            How often a record counts, not below 0; needs `max_weight`, above which it is capped.
        units
            Whose record each one is; needs `max_rows_per_unit`. The guarantee then is for all
            records of a unit together.
        order
            Of a unit's records those with the smallest entries are kept; without it, those with the
            smallest hash of their content.
        """
        with self._prepared(X, y, {WEIGHT: sample_weight, UNIT: units, ORDER: order}) as run:
            return self._take(run())

    def get_prediction(self, X: Any) -> Prediction:
        """Mean predictions for new public rows, with intervals: `.conf_int()`."""
        check_is_fitted(self)
        design = self.plan_.design
        rows = linear_predictors(self, X, np.eye(design.width))
        mean = partial(predicted, design.response, offset=design.beside.offset)
        return self._results().get_prediction(rows, mean)

    def _results(self) -> Results:
        check_is_fitted(self)
        return Results(self.release_)

    def __getstate__(self) -> dict[str, Any]:
        """Take the active ledger along: a copy that fits in a worker process must charge it."""
        state = dict(super().__getstate__())
        state.pop(current_ledger.MARK, None)
        words = current_ledger.mark(self)
        return {**state, current_ledger.MARK: words} if words else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Belong to the ledger that the copy took along, where it comes from another process."""
        super().__setstate__(state)
        current_ledger.received(self)

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters alone, and where the copy belongs."""
        twin: Self = super().__sklearn_clone__()
        current_ledger.descend(twin, self)
        return twin

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse matrices are read."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @contextmanager
    def _prepared(
        self, X: Any, y: Any, beside: Mapping[str, Any]
    ) -> Iterator[Callable[[], Release]]:
        """Check everything that needs no record, open the table, and yield the run to come.

        `fit` itself calls it, so that warnings point at the line that called `fit`.
        """
        given = {name: values for name, values in beside.items() if values is not None}
        request = replace(self._request(), unit=unit_name(given))
        declared = self._declared()
        declared.require(given)
        label = self._require_table(X, y, given)
        with current_ledger.charged_for(self), ExitStack() as opened:
            self._require_nothing_read()
            refusals = Refusals.settle(request.invalid_rows, label=label)
            with refusals.logged():
                table = Table(X, y, beside=given, fewest=request.fewest)
            opened.enter_context(table)
            # Names alone: of a list, scikit-learn would look at the first record.
            validate_data(self, X, skip_check_array=True, ensure_2d=False)
            self.n_features_in_ = len(table.names)
            response = self._response(table.response or "y", table)
            design = self._design(table.names, response, table.beside, sparse=is_sparse(X))
            facts = [
                *common_facts(
                    request,
                    table.names,
                    invalid_rows=refusals.invalid_rows,
                    units=UNIT in given,
                    types=table.column_types,
                ),
                *self._design_facts(design),
                *self._facts(response),
                *declared.facts(given),
            ]
            yield partial(
                fit_release,
                table,
                request,
                design,
                facts,
                refusals=refusals,
                loss=self._loss(response),
                warned=declared.warnings(given),
            )

    def _take(self, release: Release) -> Self:
        self.release_ = release
        self.plan_ = release.plan
        self.certificate_ = Certificate.issue(release, Results(release).terms())
        self._keep(release.coefficients(), release.plan.design)
        return self

    @abstractmethod
    def _response(self, name: str, table: Table | None) -> Response:
        """The kind of response; `table` may be asked for classes that are not declared."""

    @abstractmethod
    def _loss(self, response: Response) -> Loss:
        """What is minimised."""

    @abstractmethod
    def _facts(self, response: Response) -> list[PublicFact]:
        """Public facts about the response."""

    @abstractmethod
    def _keep(self, coefficients: NDArray[np.float64], design: Design) -> None:
        """Set the fitted attributes; the intercept is first where there is one."""

    def _require_nothing_read(self) -> None:
        """Refuse, inside a ledger, to read off the records what should be declared."""

    def _class_weights(self, response: Response) -> tuple[float, ...] | None:
        del response
        return None

    def _declared(self) -> Declared:
        return Declared(self.max_weight, self.max_rows_per_unit)

    def _request(self) -> Request:
        chosen = {name: getattr(self, name) for name in SETTINGS if hasattr(self, name)}
        unit = "row" if self.max_rows_per_unit is None else "unit"
        return make_request(
            epsilon=self.epsilon, delta=self.delta, budget=self.budget, unit=unit, **chosen
        )

    def _design(
        self, names: Sequence[str], response: Response, columns: Mapping[str, str], *, sparse: bool
    ) -> Design:
        design = matrix_design(
            names,
            response,
            bounds=self.bounds,
            row_norm=self.row_norm,
            intercept=self.fit_intercept,
            shifted=not sparse,
            feature_map=self.feature_map,
        )
        beside = self._declared().beside(columns, self._class_weights(response))
        return replace(design, beside=beside)

    def _design_facts(self, design: Design) -> list[PublicFact]:
        facts = []
        if isinstance(self.bounds, str):
            facts.append(PublicFact("bounds", self.bounds, "declared"))
        elif self.bounds is not None:
            columns = design.columns if design.feature_map is None else design.inputs
            ends = [[column.lower, column.upper] for column in columns]
            facts.append(PublicFact("bounds", ends, "declared"))
        if self.row_norm is not None:
            facts.append(PublicFact("row_norm", float(self.row_norm), "declared"))
        if design.feature_map is not None:
            facts.append(PublicFact("feature_map", to_plain(design.feature_map), "declared"))
        return facts

    def _require_table(self, X: Any, y: Any, given: Mapping[str, Any]) -> str:
        """Refuse what is no table of this model; return the name of its loss."""
        response = self._response("y", None)
        if y is None and not isinstance(response, Absent):
            raise DataError("requires y to be passed, but the target y is None.")
        loss = self._loss(response)
        if isinstance(X, str | os.PathLike) or isinstance(y, str):
            raise DataError(
                "fit takes features X and a response y beside them; for a file, or a response "
                "named in the table, use tacit.glm."
            )
        if any(isinstance(values, str) for values in given.values()):
            raise DataError("Weights, units, order and exposure are sequences beside X.")
        return loss.name


def linear_predictors(
    model: Any, X: Any, coefficients: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Linear predictors of new records on the user's scale: (n,), or (n, K) for K ≥ 3 classes.

    With `coefficients` by these, not those of the fit: by the unit matrix, rows of the design.
    """
    check_is_fitted(model)
    values = validate_data(model, X, reset=False, dtype=np.float64, accept_sparse="csr")
    if coefficients is None:
        coefficients = model.release_.coefficients()
    design = model.plan_.design
    if design.feature_map is not None:
        return np.concatenate(list(margins(values, _by_position(design), coefficients)))
    if model.plan_.locating is not None:
        # Found bounds may be narrow: records beyond them act as they did in the fit.
        values = np.clip(values, *np.array([(c.lower, c.upper) for c in design.columns]).T)
    slopes = coefficients[int(design.intercept) :]
    return np.asarray(values @ slopes + (coefficients[0] if design.intercept else 0.0))


def _by_position(design: Design) -> Design:
    """The design for a matrix whose columns have no names of their own."""
    inputs = tuple(replace(column, name=f"x{j}") for j, column in enumerate(design.inputs))
    return replace(design, inputs=inputs)


def is_sparse(X: Any) -> bool:
    """Whether a matrix is one of scipy's sparse ones."""
    return hasattr(X, "tocsr")


def split(coefficients: NDArray[np.float64], design: Design) -> tuple[float, NDArray[np.float64]]:
    """Intercept, 0 where there is none, and slopes of one linear predictor."""
    first = int(design.intercept)
    return (float(coefficients[0]) if first else 0.0), np.array(coefficients[first:])
