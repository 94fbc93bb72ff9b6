"""`glm()`: a formula, a table and a schema in; a private fit out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tacit.engine.table import Table
from tacit.errors import SettingError
from tacit.estimators.fit import Fit
from tacit.estimators.fitting import common_facts, fit_release, make_request
from tacit.privacy.budget import Budget
from tacit.problem.design import Design
from tacit.problem.formula import design_from_formula
from tacit.problem.plan import Plan, PublicFact
from tacit.problem.progress import Progress, silent
from tacit.problem.schema import Schema

FAMILIES = ("binomial",)


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
    inference: bool | None = None,
    invalid_rows: str = "error",
    random_state: int | None = None,
    progress: Progress = silent,
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
        "binomial": logistic regression of a binary column.
    epsilon, delta, budget
        The budget; ε has no default.
    inference
        Whether to pay for standard errors and intervals out of the same budget. By default yes,
        unless a penalty, a ball or a solver is asked for.
    progress
        Called with (done, total, label) after each public step.
    on_plan
        Called with the plan before anything is spent.

    The other parameters are those of `LogisticRegression`.
    """
    if family not in FAMILIES:
        raise SettingError(f'family must be "binomial"; got {family!r}.')
    facts_about = schema if isinstance(schema, Schema) else Schema.read(schema)
    request = make_request(
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        relation=facts_about.relation,
        unit=facts_about.unit,
        n_at_least=facts_about.n_at_least,
        solver=solver,
        output=output,
        iterations=iterations,
        step_size=step_size,
        max_passes=max_passes,
        radius=radius,
        l2=l2,
        prior_mean=prior_mean,
        inference=inference,
        invalid_rows=invalid_rows,
        random_state=random_state,
    )
    design = design_from_formula(formula, facts_about, row_norm=row_norm)
    with Table(data, progress=progress) as table:
        facts = [*common_facts(request, table.names), *_facts(formula, design, row_norm)]
        release = fit_release(table, request, design, facts, on_plan)
    return Fit.of(release, family)


def _facts(formula: str, design: Design, row_norm: float | None) -> list[PublicFact]:
    facts = [
        PublicFact("formula", formula, "declared"),
        PublicFact("classes", list(design.response.classes), "declared"),
        PublicFact("bounds", {c.name: [c.lower, c.upper] for c in design.columns}, "declared"),
    ]
    for name, levels in design.levels.items():
        facts.append(PublicFact(f"levels of {name}", list(levels), "declared"))
    if row_norm is not None:
        facts.append(PublicFact("row_norm", row_norm, "declared"))
    return facts
