"""A search over settings of an estimator, paid as a whole, of which only the winner is shown."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from tacit.accounting.best_of_runs import SearchEvents, search_events
from tacit.certificate.search_certificate import NO_TRIAL, PUBLIC_ROWS, SearchCertificate
from tacit.contract.plan import Plan, PublicFact, Whole
from tacit.engine.ledger_use import Refusals, require_declared
from tacit.engine.search import Search, SearchTable, Trial, run_search
from tacit.errors import SettingError
from tacit.estimators.base import LinearModel
from tacit.estimators.evaluation import UNPAID, Scores
from tacit.estimators.ledger_membership import LedgerMember
from tacit.estimators.public_rows import PublicRows
from tacit.estimators.search_space import (
    Rows,
    budget_of,
    known_shape,
    law_of_runs,
    part_of,
    require_within,
    settings_of_search,
    validating,
)
from tacit.estimators.settings import ORDER, UNIT, WEIGHT, unit_name
from tacit.estimators.surroundings import Surroundings, surroundings
from tacit.ledger import current_ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, Pure
from tacit.privacy.relation import Relation

REFIT_RATIO = Fraction(2)
"""μ of the refit over that of a trial: scores need less than coefficients, and a trial is paid about twice."""
FOLDS = 3
"""Parts of the public rows that settings are tried on."""
WORDS = {"sample_weight": WEIGHT, "units": UNIT, "order": ORDER}
"""What stands beside the rows, by the names that `fit` has for it."""
Method = TypeVar("Method", bound=Callable[..., Any])
LOSSES = ("log_loss", "zero_one_loss", "mean_squared_error")
"""What trials are judged by: the first of them that the scores have."""


@dataclass(frozen=True, repr=False)
class _Tried:
    """What one trial fitted, and the plan of its score; None on public rows."""

    model: LinearModel
    score_plan: Plan | None


@dataclass(frozen=True, repr=False, eq=False)
class _Trials:
    """Fits and scores of one search."""

    model: LinearModel
    settings: list[dict[str, Any]]
    rows: Rows
    table: SearchTable
    refusals: Refusals
    public: PublicRows | None
    price: Gaussian | Pure
    budget: Mapping[str, Any]

    def fitted(
        self, setting: int, part: NDArray[np.bool_] | None, budget: Mapping[str, Any], number: int
    ) -> LinearModel:
        """Fit a setting to a part of the rows, or to all."""
        chosen: LinearModel = clone(self.model).set_params(**self.settings[setting], **budget)
        if self.model.random_state is not None:
            chosen.set_params(random_state=self.model.random_state + 1 + number)
        X, y, more = self.rows if part is None else part_of(self.rows, part)
        # Warnings of trials would tell how many there were.
        with warnings.catch_warnings(), self.refusals.logged():
            warnings.simplefilter("ignore")
            return chosen.fit(X, y, **more)

    def attempt(self, setting: int, drawn: NDArray[np.bool_], number: int) -> Trial[_Tried]:
        """Fit a setting, and score it on the rows of the drawn units, or on public rows."""
        mask = self.table.records_of(drawn)
        found = self.fitted(setting, ~mask if self.public is None else None, self.budget, number)
        require_within(found.plan_, self.price)
        if self.public is not None:
            return Trial(setting, _score(found.evaluate(self.public)), _Tried(found, None))
        X, y, more = part_of(self.rows, mask)
        with warnings.catch_warnings(), self.refusals.logged():
            warnings.simplefilter("ignore")
            scores = found.evaluate(X, y, units=more.get("units"), budget=self.budget["budget"])
        return Trial(setting, _score(scores), _Tried(found, scores.plan))


def _winner_has(name: str) -> Callable[[Method], Method]:
    def has(search: PrivateSearchCV) -> bool:
        return hasattr(getattr(search, "best_estimator_", search.estimator), name)

    return cast("Callable[[Method], Method]", available_if(has))


class PrivateSearchCV(MetaEstimatorMixin, LedgerMember):
    """Choose the settings of a private estimator on private records, within the estimator's own ε and δ.

    A secret part of the rows validates. Randomly many trials, each of a random setting, are fitted on the rest and
    scored with noise. The best is shown, and nothing else: not how many there were, not how the others did. The time of
    a fit tells about their number, so it must not be published. With `tune_on` the settings are chosen on public rows
    at no charge, and the estimator is fitted once, with its whole budget.

    Guarantee: the fitted attributes together are within the budget of the estimator. Scores of private rows that nobody
    paid for are refused, and so is an empty search.

    Parameters
    ----------
    estimator
        A model of Tacit with `evaluate`; its budget, ε and δ, is that of the whole search. With δ = 0 the law must be
        geometric or another negative binomial one, and the validation rows public.
    params
        {name: values}, or a list of such, as for GridSearchCV. With `n_settings`, distributions as for
        RandomizedSearchCV, from which so many settings are drawn first.
    law
        Of the number of trials: "poisson", "geometric", or a `PoissonRuns` or `NegativeBinomial` of `tacit.privacy`.
    mean_runs
        Mean number of trials. More of them leave less for each.
    validation
        Share of the units that validate, or rows that are `tacit.public`, on which scores are free.
    tune_on
        Rows that are `tacit.public`: settings are chosen on them.
    refit
        Whether the winner's setting is fitted again on all rows, which is paid as well. Else the winner is kept.
    n_settings, random_state
        How many settings are drawn from distributions, and the public seed of that draw.

    Attributes
    ----------
    best_params_, best_score_, best_estimator_
        The winner. `best_score_` is no accuracy and no R²: it is minus the noised share of errors (two classes) or
        minus the noised mean squared error (numbers) on the validating rows, so that larger is better and 0 is best.
    certificate_
        What the whole search guarantees.

    References
    ----------
    N. Papernot, T. Steinke, ICLR 2022; J. Liu, K. Talwar, STOC 2019.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = np.arange(20_000) * 0.618 % 1 < 1 / (1 + np.exp(-3 * X[:, 0]))
    >>> model = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=[False, True])
    >>> search = PrivateSearchCV(model, {"l2": [1e-4, 1e-2, 1.0]}, law="geometric").fit(X, y)
    >>> search.certificate_.check().consistent
    True
    """

    def __init__(
        self,
        estimator: Any,
        params: Any,
        *,
        law: Any = "poisson",
        mean_runs: float = 10,
        validation: Any = 0.2,
        tune_on: Any = None,
        refit: bool = False,
        n_settings: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator, self.params, self.law, self.mean_runs = estimator, params, law, mean_runs
        self.validation, self.tune_on, self.refit = validation, tune_on, refit
        self.n_settings, self.random_state = n_settings, random_state
        current_ledger.born(self)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, units: Any = None, order: Any = None) -> Self:
        """Search on private records; what can be refused without them is refused first."""
        model = self._model()
        settings = settings_of_search(model, self.params, self.n_settings, self.random_state)
        given = {"sample_weight": sample_weight, "units": units, "order": order}
        given = {name: values for name, values in given.items() if values is not None}
        with current_ledger.charged_for(self):
            if self.tune_on is not None:
                return self._fit_by_public_rows(model, settings, (X, y, given))
            return self._fit(model, settings, (X, y, given))

    def _fit(self, model: LinearModel, settings: list[dict[str, Any]], rows: Rows) -> Self:
        X, y, given = rows
        attached = {WORDS[name]: values for name, values in given.items()}
        model.require_rows(X, y, attached)
        share, public = validating(model, self.validation)
        # A shape is public and can refuse before a record is read; units are yet to be numbered.
        shape = known_shape(X) if UNIT not in attached else None
        priced = None if shape is None else self._priced(model, settings, *shape)
        relation, unit = Relation.parse(model.relation), unit_name(attached)
        refusals = Refusals.settle(model.invalid_rows, label="private search", beside=(X, y, *given.values()))
        model.set_params(invalid_rows=refusals.invalid_rows, **self._classes(model, y))
        with refusals.logged():
            fewest, grouped = (2 if relation.n_is_public else 0), UNIT if UNIT in attached else None
            table = SearchTable(X, y, attached, unit=grouped, fewest=fewest)
        price, budget = priced or self._priced(model, settings, table.units, len(table.names))
        trial = budget_of(price.trial, budget)
        # Warnings of trials are not shown, so that the search itself says what stands around it.
        around = surroundings(self) if model.random_state is None else Surroundings()
        around.warn(charged=current_ledger.active_ledger() is not None, stacklevel=3)
        search = Search(price, relation, unit, len(settings), table.units, share, model.random_state)
        trials = _Trials(model, settings, (table.X, y, given), table, refusals, public, price.trial, trial)
        best, charged = run_search(search, trials.attempt, X)
        drawn = best is not None
        if best is None:
            twin = clone(model).set_params(**settings[0], **trial)
            best = Trial(0, float("nan"), _Tried(twin.without_records(X, table.names, table.units, unit), None))
        refitted = None
        if price.refit is not None:
            with current_ledger.pinned(None):
                refitted = trials.fitted(best.setting, None, budget_of(price.refit, budget), -1)
        facts = [PublicFact("settings that were tried", len(settings), "declared"), *around.facts()]
        if public is not None:
            facts.append(PublicFact(*PUBLIC_ROWS, "declared"))
        if not drawn:
            facts.append(PublicFact(*NO_TRIAL, "declared"))
        self._keep(best, refitted, settings[best.setting])
        self._certify(price, best, refitted, budget, facts)
        if charged is not None:
            charged.note(self.certificate_.digest)
        return self

    def _priced(
        self, model: LinearModel, settings: list[dict[str, Any]], units: int, width: int
    ) -> tuple[SearchEvents, Budget]:
        """What the search pays for, by the number of units; a setting that is not within a trial is refused."""
        budget = model.plan(units, width).budget
        price = search_events(budget, law_of_runs(self.law, self.mean_runs), REFIT_RATIO if self.refit else None)
        trial = budget_of(price.trial, budget)
        for setting in settings:
            require_within(clone(model).set_params(**setting, **trial).plan(units, width), price.trial)
        return price, budget

    def _fit_by_public_rows(self, model: LinearModel, settings: list[dict[str, Any]], rows: Rows) -> Self:
        """Try every setting on folds of the public rows, with the noise of the fit, and fit the best privately."""
        if not isinstance(self.tune_on, PublicRows):
            raise SettingError(f"tune_on takes rows that are public: tune_on=tacit.public(X, y). {UNPAID}")
        X, y = self.tune_on.both()
        folds = np.arange(_num_samples(X)) % FOLDS
        found = []
        with current_ledger.pinned(None), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for setting in settings:
                scores = []
                for fold in range(FOLDS):
                    rest, tried = (part_of((X, y, {}), folds != fold), part_of((X, y, {}), folds == fold))
                    twin = clone(model).set_params(**setting, max_rows_per_unit=None, **self._classes(model, y))
                    scores.append(_score(twin.fit(*rest[:2]).evaluate(PublicRows(*tried[:2]))))
                found.append(float(np.mean(scores)))
        place = int(np.argmax(found))
        winner = clone(model).set_params(**settings[place]).fit(rows[0], rows[1], **rows[2])
        self._keep(Trial(place, found[place], _Tried(winner, None)), None, settings[place])
        self.public_scores_ = tuple(found)
        self.certificate_ = winner.certificate_
        return self

    def _keep(self, best: Trial[_Tried], refitted: LinearModel | None, params: Mapping[str, Any]) -> None:
        self.best_params_, self.best_score_ = dict(params), best.score
        self.best_estimator_ = best.outcome.model if refitted is None else refitted
        self.n_features_in_ = self.best_estimator_.n_features_in_
        for name in ("classes_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    def _certify(
        self,
        price: SearchEvents,
        best: Trial[_Tried],
        refitted: LinearModel | None,
        budget: Budget,
        facts: list[PublicFact],
    ) -> None:
        tried = best.outcome
        model = tried.model if refitted is None else refitted
        self.certificate_ = SearchCertificate.issue(
            price,
            (tried.model.plan_, tried.score_plan, None if refitted is None else refitted.plan_),
            budget,
            estimator=type(model).__name__,
            settings=facts[0].value,
            chosen=self.best_params_,
            covered={"terms": model.release_.estimates(), "score": best.score},
            seeded=model.random_state is not None,
            facts=facts,
        )
        # What the winner cost is what the search did, and its parameters are those that were asked for.
        whole = Whole("private search", price.events(), budget.delta or 0.0)
        model.release_ = replace(model.release_, plan=replace(model.plan_, whole=whole))
        model.plan_ = model.release_.plan
        model.__dict__["certificate_"] = self.certificate_
        model.set_params(**{name: getattr(self.estimator, name) for name in ("epsilon", "delta", "budget")})

    def _model(self) -> LinearModel:
        if not isinstance(self.estimator, LinearModel):
            what = "a linear model of Tacit, such as tacit.LogisticRegression(epsilon=1, bounds=…)"
            way = (
                " Search its last step, as PrivateSearchCV(pipeline[-1], params) on pipeline[:-1].transform(X), by the "
                "step's own names of settings (l2, not step__l2) and transformers that learn nothing."
            )
            pipeline = hasattr(self.estimator, "steps") and hasattr(self.estimator, "named_steps")
            kind = type(self.estimator).__name__
            raise SettingError(f"A search is over settings of {what}, not of a {kind}.{way if pipeline else ''}")
        model: LinearModel = clone(self.estimator)
        return model

    @staticmethod
    def _classes(model: LinearModel, y: Any) -> dict[str, Any]:
        """Classes of all trials: those declared, or outside a ledger those of the labels."""
        parameters = model.get_params(deep=False)
        if "classes" not in parameters or parameters["classes"] is not None:
            return {}
        require_declared("the classes of the response", "classes=[…]")
        return {"classes": np.unique(np.asarray(y)).tolist()}

    @_winner_has("predict")
    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the winner."""
        return np.asarray(self._winner().predict(X))

    @_winner_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities by the winner."""
        return np.asarray(self._winner().predict_proba(X))

    @_winner_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Linear predictors of the winner."""
        return np.asarray(self._winner().decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """Score of the winner on public rows; on private ones it is not private."""
        return float(self._winner().score(X, y))

    def _winner(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_


def _score(scores: Scores) -> float:
    """Minus the loss that trials are judged by."""
    return -next(scores[name] for name in LOSSES if name in scores)
