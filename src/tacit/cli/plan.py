"""`tacit plan`: what a fit would cost and is expected to achieve, without any table."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli import options
from tacit.cli.fit import show_plan
from tacit.cli.flag_names import in_flags
from tacit.cli.output import Screen


def plan(
    formula: options.Formula,
    *,
    schema: options.SchemaFile,
    records: Annotated[
        int | None,
        typer.Option("--n", metavar="N", help="Number of records, where it is public."),
    ] = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    mu: options.Mu = None,
    rho: options.Rho = None,
    family: options.Family = "binomial",
    solver: options.Solver = "auto",
    iterations: options.Iterations = None,
    step_size: options.StepSize = None,
    max_passes: options.MaxPasses = None,
    l2: options.Ridge = 0.0,
    radius: options.Radius = None,
    row_norm: options.RowNorm = None,
    inference: options.Inference = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what a fit would cost and achieve.

    No table is read and nothing is spent.
    """
    budget = options.budget_of(epsilon, delta, mu, rho)
    from tacit.contract.budget_warnings import plan_cautions
    from tacit.estimators.fitting import make_request
    from tacit.estimators.loss_choice import loss_of
    from tacit.formula.formula import design_from_formula
    from tacit.report.statements import plan_document
    from tacit.schema.schema import Schema
    from tacit.solvers.signal import plan_warnings

    screen = Screen(as_json)
    facts = Schema.read(schema)
    request = make_request(
        epsilon=None,
        delta=None,
        budget=budget,
        relation=facts.relation,
        unit=facts.unit,
        n_at_least=facts.n_at_least,
        solver=solver,
        iterations=iterations,
        step_size=step_size,
        max_passes=max_passes,
        radius=radius,
        l2=l2,
        inference=inference,
    )
    design = design_from_formula(formula, facts, family=family, row_norm=row_norm)
    planned = request.plan(design, records, loss_of(family, design.response))
    warned = [in_flags(text) for text in (*plan_warnings(planned), *plan_cautions(planned))]
    screen.result({**plan_document(planned), "warnings": warned})
    show_plan(planned, screen)
    for text in warned:
        screen.say(text, "warning")
