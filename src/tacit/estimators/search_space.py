"""What a private search tries and how: settings, the law of the trials, validating rows, and what a trial may cost."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import _safe_indexing

from tacit.accounting.composition import compose
from tacit.accounting.rounding import float_down, root_down
from tacit.certificate.search_certificate import FIXED
from tacit.contract.plan import Plan
from tacit.errors import BudgetError, SettingError
from tacit.estimators.base import LinearModel
from tacit.estimators.evaluation import UNPAID
from tacit.estimators.public_rows import PublicRows
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, NegativeBinomial, PoissonRuns, Pure, RunCountLaw
from tacit.privacy.relation import Relation
from tacit.validate import positive, whole, within

Rows = tuple[Any, Any, Mapping[str, Any]]
"""X, y, and what is attached to them."""


def settings_of_search(model: LinearModel, params: Any, count: int | None, seed: int | None) -> list[dict[str, Any]]:
    """Settings of a grid, or `count` of them drawn from distributions with a public seed."""
    try:
        if count is None:
            found = list(ParameterGrid(params))
        else:
            found = list(ParameterSampler(params, whole("n_settings", count), random_state=seed))
    except (ValueError, TypeError) as error:
        raise SettingError(
            f"params is no search space: {error} Give for example {{'l2': [0.01, 0.1, 1.0]}}."
        ) from error
    if not found:
        raise SettingError("The search space is empty; expected at least one setting, e.g. {'l2': [0.01, 0.1, 1.0]}.")
    names = {name for setting in found for name in setting}
    unknown, fixed = names - set(model.get_params(deep=False)), names & FIXED
    if unknown or fixed:
        what = f"{', '.join(sorted(unknown))}: no parameter of the estimator" if unknown else ", ".join(sorted(fixed))
        raise SettingError(f"Cannot be searched over: {what}. Budget, relation and classes are those of the search.")
    return found


def law_of_runs(law: Any, mean_runs: Any) -> RunCountLaw:
    """The law of the number of trials, by name and mean, or as given."""
    if isinstance(law, PoissonRuns | NegativeBinomial):
        return law
    mean = Fraction(positive("mean_runs", mean_runs)).limit_denominator(1000)
    if law == "poisson" and mean > 0:
        return PoissonRuns(mean)
    if law == "geometric" and mean > 1:
        return NegativeBinomial(1, 1 / mean)
    raise SettingError("law must be 'poisson' or 'geometric' (mean_runs above 1), or a law of tacit.privacy.")


def validating(model: LinearModel, validation: Any) -> tuple[Fraction, PublicRows | None]:
    """The share of the units that validate, or public rows in their place; private rows that nobody pays for: no."""
    if isinstance(validation, PublicRows):
        return Fraction(0), validation
    if isinstance(validation, bool) or not isinstance(validation, int | float):
        raise SettingError(f"validation is a share of the rows, such as 0.2, or tacit.public(X, y). {UNPAID}")
    if model.delta == 0 or (model.budget is not None and model.budget.is_pure):
        raise BudgetError("With delta = 0 no score of private rows can be paid for: use public validation rows.")
    if not Relation.parse(model.relation).n_is_public:
        what = "A secret draw of validation rows needs a public number of records"
        raise SettingError(f"{what}: use relation='zero-out' or 'replace-one', or validation=tacit.public(X, y).")
    share = within("validation", validation, 0.01, 0.9)
    return Fraction(round(share * 2**32), 2**32), None


def known_shape(X: Any) -> tuple[int, int] | None:
    """Number of rows and columns, where an array or a table says so itself; of a list nothing is looked at."""
    shape = getattr(X, "shape", None)
    return (int(shape[0]), int(shape[1])) if isinstance(shape, tuple) and len(shape) == 2 else None


def part_of(rows: Rows, mask: NDArray[np.bool_]) -> tuple[Any, Any, dict[str, Any]]:
    """The rows of a mask, with what is attached to them."""
    X, y, given = rows
    places = np.flatnonzero(mask)
    more = {name: _safe_indexing(values, places) for name, values in given.items()}
    return _safe_indexing(X, places), _safe_indexing(y, places), more


def budget_of(event: Gaussian | Pure, budget: Budget) -> dict[str, Any]:
    """Parameters of a fit that costs at most an event."""
    if isinstance(event, Gaussian):
        given = Budget(mu=root_down(event.mu_squared), delta=budget.delta)
    else:
        given = Budget(epsilon=float_down(Fraction(event.epsilon)), delta=0)
    return {"epsilon": None, "delta": None, "budget": given}


def require_within(plan: Plan, event: Gaussian | Pure) -> None:
    """Refuse a setting whose fit is not within the trial: one that has neither a μ nor a pure ε."""
    cost = compose(plan.events(), plan.relation)
    if isinstance(event, Gaussian):
        fits = cost.square is not None and cost.square <= event.mu_squared
    else:
        fits = cost.pure_epsilon is not None and cost.pure_epsilon <= event.epsilon
    if not fits:
        raise SettingError(
            f"A setting is fitted by {plan.solver.name}, which has no μ (or, with delta = 0, no pure ε) for a search "
            "to add up. Choose another solver."
        )
