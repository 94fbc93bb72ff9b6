"""`glm()`: a formula, a table and a schema in; a private fit out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tacit.contract.gate import Progress
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.design.response import Continuous, Count, Response
from tacit.documents.dataclass_json import to_plain
from tacit.engine.ledger_use import Refusals
from tacit.engine.table import Table
from tacit.estimators.fit import Fit
from tacit.estimators.loss_choice import LossShape, loss_of
from tacit.estimators.settings import Settings, check_settings
from tacit.formula.formula import design_from_formula
from tacit.ledger.current_ledger import active_ledger, pinned
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.schema.schema import Schema


def glm(
    formula: str,
    data: Any,
    schema: Schema | str | os.PathLike[str],
    family: str = "binomial",
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    budget: Budget | None = None,
    row_norm: float | None = None,
    solver: str = "auto",
    output: str | None = None,
    iterations: int | None = None,
    step_size: float | None = None,
    max_passes: int | None = None,
    radius: float | None = None,
    l2: float = 0.0,
    prior_mean: Sequence[float] | None = None,
    constraint: Any = None,
    threshold: float = 1.345,
    scale: float | None = None,
    quantile: float = 0.5,
    smoothing: float | None = None,
    inference: bool | None = None,
    invalid_rows: str | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
    on_plan: Callable[[Plan], None] | None = None,
) -> Fit:
    """Fit a generalised linear model under differential privacy.

    Guarantee
    ---------
    - What is returned is (ε, δ)-differentially private for one unit of the schema, under its
      relation, given the public facts that `certificate` lists.
    - Bounds and levels come from the schema, never from the table.

    Parameters
    ----------
    formula
        For example ``"readmit ~ age + C(ward)"``.
    data
        A pandas, polars or Arrow table, or the path of a CSV or Parquet file.
    schema
        A `Schema`, or the path of a TOML file.
    family
        "binomial" (a binary column), "multinomial" (a factor of three or more levels), "gaussian",
        "huber" or "quantile" (a numeric column, whose declared bounds are those of the response),
        or "poisson" (a numeric column from 0 to its largest count).
    epsilon, delta, budget
        The budget; ε has no default.
    threshold, scale
        Of the family "huber", as in `HuberRegressor`.
    quantile, smoothing
        Of the family "quantile", as in `QuantileRegressor`.
    inference
        Whether to pay for standard errors and intervals out of the same budget. By default yes,
        unless a penalty, a constraint, or another solver than "auto", "newton" and
        "majorised-newton" is asked for; "multinomial" and "quantile" have none.
    solver
        "auto" (with intervals one step from a pilot), "newton", "majorised-newton",
        "whitened-gradient" or "gradient"; for "binomial" also "objective-perturbation" and
        "double-noise-newton", for "gaussian" also "moments". Intervals of all but the first are
        called approximate, and the last two have none.
    invalid_rows
        "error" refuses a table with invalid records, "zero" lets them contribute nothing. None:
        "error" outside a ledger and "zero" inside one, as in `LogisticRegression`.
    progress
        Called with (done, total, label) after each public step.
    on_plan
        Called with the plan before anything is spent.

    The other parameters are those of `LogisticRegression`.
    """
    shape = LossShape(threshold, scale, quantile, smoothing)
    declared = schema if isinstance(schema, Schema) else Schema.read(schema)
    settings = check_settings(
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        relation=declared.relation,
        unit=declared.unit,
        n_at_least=declared.n_at_least,
        solver=solver,
        output=output,
        iterations=iterations,
        step_size=step_size,
        max_passes=max_passes,
        radius=radius,
        l2=l2,
        prior_mean=prior_mean,
        constraint=constraint,
        inference=inference,
        invalid_rows=invalid_rows,
        random_state=random_state,
    )
    design = design_from_formula(formula, declared, family=family, row_norm=row_norm)
    loss = loss_of(family, design.response, shape)
    facts = [*_facts(formula, design, row_norm), *shape.facts(family)]
    return Fit.of(_fit(formula, data, settings, design, loss, facts, progress, on_plan), family)


def _fit(
    formula: str,
    data: Any,
    settings: Settings,
    design: Design,
    loss: Loss,
    facts: Sequence[PublicFact],
    progress: Progress | None,
    on_plan: Callable[[Plan], None] | None,
) -> Release:
    # Asked once: the ledger that decides about refusals is the one that is charged.
    with pinned(active_ledger()):
        invalid_rows = settings.invalid_rows
        refusals = Refusals.settle(invalid_rows, label=loss.name, formula=formula, data=data)
        if isinstance(data, str | os.PathLike):
            # Before the file is opened: a schema tells all but the number of records.
            settings.first_plan([(design, loss)], None)
        with refusals.logged():
            opened = Table(data, progress=progress, fewest=settings.fewest)
        with opened as table:
            common = settings.facts(
                table.names,
                table.column_types,
                invalid_rows=refusals.invalid_rows,
                units=design.attached.unit is not None,
            )
            return table.fit(
                design,
                lambda n: settings.first_plan([(design, loss)], n).with_facts(*common, *facts),
                refusals=refusals,
                seed=settings.seed,
                on_plan=on_plan,
            )


def _facts(formula: str, design: Design, row_norm: float | None) -> list[PublicFact]:
    facts = [
        PublicFact("formula", formula, "declared"),
        *_response_facts(design.response),
        PublicFact("bounds", {c.name: [c.lower, c.upper] for c in design.columns}, "declared"),
    ]
    for name, levels in design.levels.items():
        facts.append(PublicFact(f"levels of {name}", list(levels), "declared"))
    if row_norm is not None:
        facts.append(PublicFact("row_norm", row_norm, "declared"))
    attached = to_plain(design.attached)
    facts.extend(
        PublicFact(name, attached[name], "declared") for name in attached if attached[name]
    )
    return facts


def _response_facts(response: Response) -> list[PublicFact]:
    match response:
        case Continuous():
            return [PublicFact("y_bounds", [response.lower, response.upper], "declared")]
        case Count():
            return [PublicFact("y_max", response.upper, "declared")]
    return [PublicFact("classes", list(response.classes), "declared")]
