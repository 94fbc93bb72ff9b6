"""`plan()`: a formula, a schema and a budget in; the price and the forecast of a fit out, before a table is opened."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tacit.contract.plan import Plan
from tacit.errors import SettingError
from tacit.estimators.loss_choice import LossShape, loss_of
from tacit.estimators.settings import Settings, settings_of
from tacit.formula.formula import design_from_formula
from tacit.planning.assumptions import Assumptions
from tacit.planning.study import Study
from tacit.privacy.budget import Budget
from tacit.schema.schema import Schema

SEARCHED_FROM = 10_000
"""Number of records at which a search for the least begins."""


def plan(
    formula: str,
    schema: Schema | str | os.PathLike[str],
    *,
    n: int | None = None,
    family: str = "binomial",
    row_norm: float | None = None,
    assumptions: Assumptions | None = None,
    **settings: Any,
) -> Study:
    """Plan and forecast a fit of `tacit.glm` from public facts; no table is opened and nothing is spent.

    Parameters
    ----------
    formula, schema, family, row_norm
        As in `tacit.glm`.
    n
        Number of records. Left out where it is private: the schema's n_at_least is planned with. Without it, or without
        a budget, the study has no plan yet, and its ``required("n", …)`` or ``required("epsilon", …)`` finds the least.
    assumptions
        What to assume of the table, or second moments that have been released: `tacit.planning.Assumptions`.
    settings
        Further settings of `tacit.glm`: epsilon, delta, budget, solver, inference and so on.

    Examples
    --------
    >>> from tacit.planning.demo_table import CLINIC_SCHEMA
    >>> study = plan("readmit ~ age + C(ward)", Schema.parse(CLINIC_SCHEMA), n=20_000, epsilon=1.0)
    >>> study.plan.guarantee().epsilon <= 1.0
    True
    >>> 0 < study.forecast.excess_risk < 0.1
    True
    """
    declared = Schema.of(schema)
    without = all(settings.get(name) is None for name in ("epsilon", "budget", "noise_multiplier"))
    if without:
        settings = {**settings, "epsilon": 1.0}
    known = settings_of({**vars(declared), **settings})
    design = design_from_formula(formula, declared, family=family, row_norm=row_norm)
    loss = loss_of(family, design.response, LossShape.among(settings))
    unknown = "epsilon" if without else None
    if n is None and (known.relation.n_is_public or known.n_at_least is None):
        if without:
            raise SettingError(
                "Give n=… to find the least epsilon of a target, epsilon=… to find the least n, or both."
            )
        n, unknown = SEARCHED_FROM, "n"
    study = study_of(known, lambda own, records: own.plan(design, records, loss), n, assumptions)
    return replace(study, open=unknown)


def study_of(
    settings: Settings,
    plan_with: Callable[[Settings, int], Plan],
    n: int | None,
    assumptions: Assumptions | None = None,
) -> Study:
    """The study of a model, by what plans it with other settings and another number of records."""
    if n is None and (settings.relation.n_is_public or settings.n_at_least is None):
        raise SettingError("The number of records is missing: n=…, or n_at_least where it is private.")

    def plan_at(records: int, budget: Budget, iterations: int | None) -> Plan:
        options = settings.options
        if iterations is not None:
            options = replace(options, iterations=iterations)
        own = replace(settings, budget=budget, options=options)
        if own.n_at_least is not None:
            own = replace(own, n_at_least=records)
        return plan_with(own, records)

    records = settings.n_at_least if n is None else n
    return Study(plan_at, int(records or 0), settings.budget, assumptions or Assumptions())
