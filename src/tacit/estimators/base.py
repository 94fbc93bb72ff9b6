"""What all estimators share: from parameters to a release, and what is read off the release."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.certificate.certificate import Certificate
from tacit.contract.cluster import Cluster
from tacit.contract.plan import SOME_WEIGHT, Plan, PublicFact
from tacit.contract.release import Release
from tacit.design.design import Design, matrix_design
from tacit.design.response import Absent, Response
from tacit.documents.dataclass_json import to_plain
from tacit.engine.ledger_use import Refusals, require_declared
from tacit.engine.prediction import margins
from tacit.engine.table import Table
from tacit.errors import ClusterLost, SettingError
from tacit.estimators.column_vector import column_vector
from tacit.estimators.evaluation import UNPAID, Scores, model_fact, private_scores, public_scores
from tacit.estimators.ledger_membership import LedgerMember
from tacit.estimators.loss_choice import predicted
from tacit.estimators.parameters import CommonParameters, RegressionParameters
from tacit.estimators.public_rows import PublicRows, model_coefficients, prepared_start, start_fact, without_privacy
from tacit.estimators.saved_estimator import stored_fit_of
from tacit.estimators.settings import ORDER, UNIT, WEIGHT, Declared, Settings, class_weights, settings_of, unit_name
from tacit.estimators.surroundings import surroundings
from tacit.estimators.table_form import feature_names, require_declared_classes, require_form
from tacit.inference.results_mixin import ResultsMixin
from tacit.ledger import current_ledger
from tacit.losses.loss import Code, Loss
from tacit.privacy.budget import Budget
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

if TYPE_CHECKING:
    from tacit.inference.prediction import Prediction
    from tacit.inference.results import Results
    from tacit.planning.assumptions import Assumptions
    from tacit.planning.study import Study


class Model(ResultsMixin, CommonParameters, LedgerMember, ABC):
    """A private estimator, without its loss.

    A class of models says what its response is (`_response`), which loss it minimises (`_loss`), which further facts
    are public (`_facts`) and what its fitted attributes are (`_store`).

    Guarantee: whatever settings and public facts can refuse is refused before a record is read, and costs nothing. What
    `fit` stores is a function of the release, which was paid for, and of public facts.
    """

    fit_intercept: bool = True
    feature_map: Any = None
    _reads_files: ClassVar[bool] = True
    """Whether records of files are read, which may be more than fit into memory."""

    def plan(self, n: int, d: int) -> Plan:
        """Cost and forecast of a fit on n records and d features; no data."""
        settings = self._settings("row" if self.max_rows_per_unit is None else UNIT)
        return self._plan_at(settings, n, numbered(d))

    def study(self, n: int, d: int, assumptions: Assumptions | None = None) -> Study:
        """Forecast a fit on n records and d features, and what a target would need; no data, nothing is spent."""
        from tacit.estimators.study import study_of

        settings = self._settings("row" if self.max_rows_per_unit is None else UNIT)
        return study_of(settings, lambda own, records: self._plan_at(own, records, numbered(d)), n, assumptions)

    def _plan_at(self, settings: Settings, n: int, names: Sequence[str]) -> Plan:
        response = self._response("y", None)
        design = self._design(names, response, columns={}, sparse=False)
        return settings.plan(design, n, self._loss(response), self._planned)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, units: Any = None, order: Any = None, *, cluster: Any = None
    ) -> Self:
        """Fit to private records and release the coefficients.

        Parameters
        ----------
        X, y
            Features, as a matrix, a sparse matrix or a table, and the response. Or files, as for `tacit.glm`, and the
            name of the column that is the response; what stands beside it are names too. Features are the columns that
            `bounds` names, or all others.
        sample_weight
            How often a record counts, not below 0; needs `max_weight`, above which it is capped.
        units
            Whose record each one is; needs `max_rows_per_unit`. The guarantee is for all records of a unit together.
        order
            A unit's records with the smallest entries are used; without it, those with the smallest hash.
        cluster
            Where files are read and summed, as for `tacit.glm`. A seeded fit has the bits of one without.
        """
        return self._fit(X, y, {WEIGHT: sample_weight, UNIT: units, ORDER: order}, cluster)

    @cached_property
    def certificate_(self) -> Certificate:
        """What was guaranteed, and why it is true; built when it is first asked for."""
        return Certificate.issue(self.release_, self._results().terms())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit as JSON. `tacit.load` reads a `tacit.Fit` as of `glm`; to keep an estimator, use joblib."""
        stored_fit_of(self).write(path)

    def _results(self) -> Results:
        from tacit.inference.results import Results

        check_is_fitted(self)
        return Results(self.release_)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a release: a fit that was refused has learnt names of columns, and released nothing."""
        return "release_" in vars(self)

    def __dir__(self) -> list[str]:
        """Names of all attributes; scikit-learn's own would compute each of them."""
        return list(object.__dir__(self))

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters alone, and where the copy belongs."""
        twin: Self = super().__sklearn_clone__()
        if self._warm_start() is not None:
            # A fitted model is a parameter like any other here: its twin would not be fitted.
            twin.set_params(warm_start=self._warm_start())
        return twin

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse matrices are read."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X: Any, y: Any, attached: Mapping[str, Any], cluster: Any = None) -> Self:
        """Check what needs no record, open the table, run the fit, and store the release."""
        given = {name: values for name, values in attached.items() if values is not None}
        declared = self._declared()
        declared.require(given)
        stand_ins = self._stand_ins()
        settings, start = self._settings(unit_name(given)), self._warm_start()
        label, where = self._require_table(X, y, given, files=self._reads_files), Cluster.of(cluster)
        require_declared_classes(where, stand_ins)
        with current_ledger.charged_for(self):
            if stand_ins:
                require_declared("the classes of the response", "classes=[…]")
            refusals = Refusals.settle(settings.invalid_rows, label=label, data=X, beside=(y, *given.values()))
            with refusals.logged():
                named: dict[str, Any] = {"attached": given, "grouped": UNIT in given, "cluster": where}
                opened = Table(X, column_vector(y), getattr(self, "progress", None), fewest=settings.fewest, **named)
            with opened as table:
                names, columns = feature_names(self, X, y, table), table.attached
                self.n_features_in_ = len(names)
                design_of = partial(self._design, names, columns=columns, sparse=hasattr(X, "tocsr"))
                if stand_ins:
                    cases = [(design_of(each), self._loss(each)) for each in stand_ins]
                    settings.first_plan(cases, table.known_records(cases[0][0]), self._planned)
                response = self._response(table.response or "y", table)
                design, loss = design_of(response), self._loss(response)
                facts = settings.facts(table, refusals.invalid_rows, units=UNIT in given)
                facts += [*self._design_facts(design), *self._facts(response), *declared.facts(given)]
                facts += self._premises(settings, weighted=WEIGHT in given and refusals.invalid_rows == "error")
                if start is not None:
                    settings = settings.starting_at(prepared_start(self._started(start, design), design))
                    facts.append(start_fact(start))
                try:
                    # No frame of its own: warnings of the table point to the caller of `fit`.
                    release = self._fitter(table)(
                        design,
                        lambda n: settings.first_plan([(design, loss)], n, self._planned).with_facts(*facts),
                        refusals=refusals,
                        seed=settings.seed,
                        warned=declared.warnings(given),
                    )
                except ClusterLost as lost:
                    raise lost.returning(self._released_by) from None
        return self._released_by(release)

    def _released_by(self, release: Release) -> Self:
        """Become the fit of a release."""
        self.release_, self.plan_ = release, release.plan
        self.__dict__.pop("certificate_", None)
        self._store(release.coefficients(), release.plan.design)
        return self

    def _premises(self, settings: Settings, *, weighted: bool) -> list[PublicFact]:
        """What is assumed of the weights, and of the scikit-learn around a private fit, of which it warns."""
        facts = [PublicFact(SOME_WEIGHT, True, "assumed")] if weighted else []
        if settings.budget.is_infinite or settings.seed is not None:
            return facts
        around = surroundings(self)
        around.warn(charged=current_ledger.active_ledger() is not None, stacklevel=4)
        return [*facts, *around.facts()]

    def without_records(self, X: Any, names: Sequence[str], records: int, unit: str) -> Self:
        """Become a fit that no record has entered: all coefficients 0. Of X the names of columns are read."""
        validate_data(self, X, skip_check_array=True, ensure_2d=False)
        self.n_features_in_ = len(names)
        plan = self._plan_at(self._settings(unit), records, names)
        shape = (plan.design.width,) if plan.design.outputs == 1 else (plan.design.width, plan.design.outputs)
        return self._released_by(Release(plan, np.zeros(shape), self.random_state is not None))

    def _planned(self, facts: PublicFacts, options: SolverOptions) -> Plan:
        """Price the fit."""
        return make_plan(facts, options)

    def _fitter(self, table: Table) -> Callable[..., Release]:
        """Return what reads the records and releases, with the parameters of `Table.fit`."""
        return table.fit

    @abstractmethod
    def _response(self, name: str, table: Table | None) -> Response:
        """The kind of response; `table` may be asked for classes that are not declared."""

    @abstractmethod
    def _loss(self, response: Response) -> Loss:
        """What is minimised."""

    @abstractmethod
    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        """Set the fitted attributes; the intercept is first where there is one."""

    def _facts(self, _response: Response) -> list[PublicFact]:
        """Public facts about the response."""
        return []

    def _warm_start(self) -> Any:
        # False is what scikit-learn says for none.
        return getattr(self, "warm_start", None) or None

    def _started(self, start: Any, design: Design) -> NDArray[np.float64]:
        """Coefficients to begin at: those of a model, or of this one on public rows."""
        if not isinstance(start, PublicRows):
            return model_coefficients(start, design)
        X, y = start.both()
        twin = clone(self).set_params(**without_privacy(self.get_params(deep=False)))
        if design.response.classes and "classes" in self.get_params(deep=False):
            twin.set_params(classes=design.response.classes)
        with current_ledger.pinned(None):
            return np.asarray(twin.fit(X, y).release_.coefficients())

    def _stand_ins(self) -> list[Response]:
        """Responses to plan for while the classes are yet to be read; none where declared."""
        return []

    def _class_weights(self, response: Response) -> tuple[float, ...] | None:
        return class_weights(getattr(self, "class_weight", None), response.classes)

    def _declared(self) -> Declared:
        return Declared(self.max_weight, self.max_rows_per_unit, getattr(self, "exposure_bounds", None))

    def _settings(self, unit: str) -> Settings:
        settings = settings_of({"inference": False, **vars(self)}, unit=unit)
        # Where a fit begins changes no price: it is computed once the design is known.
        return settings if self._warm_start() is None else settings.starting_at((0.0,))

    def _design(self, names: Sequence[str], response: Response, *, columns: Mapping[str, str], sparse: bool) -> Design:
        design = matrix_design(
            names,
            response,
            bounds=self.bounds,
            row_norm=self.row_norm,
            intercept=self.fit_intercept,
            shifted=not sparse,
            feature_map=self.feature_map,
        )
        return replace(design, attached=self._declared().attached(columns, self._class_weights(response)))

    def _design_facts(self, design: Design) -> list[PublicFact]:
        facts: dict[str, Any] = {}
        if self.bounds is not None:
            columns = design.columns if design.feature_map is None else design.inputs
            ends = [[column.lower, column.upper] for column in columns]
            facts["bounds"] = self.bounds if isinstance(self.bounds, str) else ends
        if self.row_norm is not None:
            facts["row_norm"] = float(self.row_norm)
        if design.feature_map is not None:
            facts["feature_map"] = to_plain(design.feature_map)
        return [PublicFact(name, value, "declared") for name, value in facts.items()]

    def require_rows(self, X: Any, y: Any, given: Mapping[str, Any]) -> None:
        """Refuse what `fit` of rows in memory would refuse whatever they hold."""
        self._declared().require(given)
        self._require_table(X, y, given, files=False)

    def _require_table(self, X: Any, y: Any, given: Mapping[str, Any], *, files: bool) -> str:
        """Refuse what is no table of this model; return the name of its loss."""
        response = self._response("y", None)
        require_form(X, y, given, has_response=not isinstance(response, Absent), files=files)
        return self._loss(response).name


class LinearModel(RegressionParameters, Model):
    """A private estimator with coefficients and predictions."""

    coef_: NDArray[np.float64]
    intercept_: Any

    def get_prediction(self, X: Any) -> Prediction:
        """Mean predictions for new public rows, with intervals: `.conf_int()`."""
        results, design = self._results(), self.plan_.design
        rows = self._linear_predictors(X, np.eye(design.width))
        return results.get_prediction(rows, partial(predicted, design.response, offset=design.attached.offset))

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        budget: Budget | None = None,
        units: Any = None,
        scores: Sequence[str] | None = None,
    ) -> Scores:
        """Say how good the fit is: free of charge on public rows, by noised and paid sums on private ones.

        `evaluate(tacit.public(X, y))` has accuracy, 0–1 loss and log loss of classes, or R² and mean errors of numbers.
        `evaluate(X, y, epsilon=…)` has the 0–1 loss of two classes, or the mean squared error of numbers. It is charged
        like a fit, for one record (or unit) under the relation of the model, and has a certificate. With `scores` it
        has "accuracy", "auc", "log_loss" and "calibration" of two classes, or "r2" of numbers, whose shares of the
        budget are equal; `interval(name)` of the result is a confidence interval.

        Guarantee: rows that are not `tacit.public` cost what is given for them; without a budget they are refused.
        """
        plan = (results := self._results()).release.plan
        paid = epsilon is not None or delta is not None or budget is not None
        if isinstance(X, PublicRows):
            if y is not None or units is not None or paid or scores is not None:
                raise SettingError(
                    "Public rows hold their response and cost nothing: give evaluate(tacit.public(X, y))."
                )
            rows, labels = X.both()
            response, found = plan.design.response, self._linear_predictors(rows)
            chances = plan.loss.code in (Code.LOGISTIC, Code.SOFTMAX)
            if chances or not response.classes:
                found = predicted(response, found, plan.design.attached.offset)
            return public_scores(response, labels, found, chances=chances)
        if y is None:
            raise SettingError(
                "A response is missing: give evaluate(X, y, epsilon=…), or evaluate(tacit.public(X, y))."
            )
        if not paid:
            raise SettingError(UNPAID)
        given = {} if units is None else {UNIT: units}
        own = {name: getattr(self, name) for name in ("relation", "n_at_least", "invalid_rows", "random_state")}
        settings = settings_of({**own, "epsilon": epsilon, "delta": delta, "budget": budget}, unit=unit_name(given))
        theta, rows = tuple(np.ravel(results.release.theta).tolist()), (X, y, given)
        facts = [*self._design_facts(plan.design), model_fact(private=results.release.private)]
        with current_ledger.charged_for(self):
            return private_scores(plan.design, plan.loss, theta, settings, rows, self._declared(), facts, scores)

    def _linear_predictors(self, X: Any, coefficients: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Linear predictors of new records on the user's scale: (n,), or (n, K) for K ≥ 3 classes.

        With `coefficients` by these, not those of the fit: by the unit matrix, rows of the design.
        """
        check_is_fitted(self)
        values = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse="csr")
        coefficients = self.release_.coefficients() if coefficients is None else coefficients
        design = self.plan_.design
        if design.feature_map is not None:
            # A matrix has columns without names of their own.
            inputs = tuple(replace(column, name=f"x{j}") for j, column in enumerate(design.inputs))
            return np.concatenate(list(margins(values, replace(design, inputs=inputs), coefficients)))
        if self.plan_.locating is not None:
            # Found bounds may be narrow: records beyond them act as they did in the fit.
            values = np.clip(values, *np.array([(c.lower, c.upper) for c in design.columns]).T)
        intercept, slopes = split(coefficients, design)
        return np.asarray(values @ slopes + intercept)

    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        intercept, slopes = split(coefficients, design)
        self.intercept_, self.coef_ = float(intercept), np.array(slopes)


def with_noise(tags: Any, epsilon: Any) -> Any:
    """Tell scikit-learn that noise spoils scores on its tables of some tens of records."""
    (tags.classifier_tags or tags.regressor_tags).poor_score = epsilon != math.inf
    return tags


def numbered(width: int) -> list[str]:
    """Names of columns that have none."""
    return [f"x{j}" for j in range(width)]


def split(coefficients: NDArray[np.float64], design: Design) -> tuple[Any, NDArray[np.float64]]:
    """Intercept, 0 where there is none, and slopes."""
    first = int(design.intercept)
    return (coefficients[0] if first else 0.0), coefficients[first:]
