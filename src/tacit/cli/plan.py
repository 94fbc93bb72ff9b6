"""`tacit plan`: what a fit would cost and is expected to achieve, without any table."""

from __future__ import annotations

from typing import Annotated

from tacit.cli import options
from tacit.cli.fit import show_plan
from tacit.cli.flag_names import in_flags
from tacit.cli.options import flag
from tacit.cli.output import Screen


@options.grouped
def plan(
    formula: options.Formula,
    *,
    schema: options.SchemaFile,
    records: Annotated[
        int | None, flag("N", "Number of records, where it is public.", "--n")
    ] = None,
    budget: options.BudgetOptions,
    model: options.ModelOptions,
    as_json: options.AsJson = False,
) -> None:
    """Show what a fit would cost and achieve.

    No table is read and nothing is spent.
    """
    whole = budget.budget()
    from tacit.contract.guarantee_caveats import plan_cautions
    from tacit.estimators.loss_choice import loss_of
    from tacit.estimators.settings import check_settings
    from tacit.formula.formula import design_from_formula
    from tacit.report.statements import plan_document
    from tacit.schema.schema import Schema
    from tacit.solvers.signal import plan_warnings

    screen = Screen(as_json)
    facts = Schema.read(schema)
    settings = check_settings(
        budget=whole,
        relation=facts.relation,
        unit=facts.unit,
        n_at_least=facts.n_at_least,
        **model.settings("family", "row_norm"),
    )
    design = design_from_formula(formula, facts, family=model.family, row_norm=model.row_norm)
    planned = settings.plan(design, records, loss_of(model.family, design.response))
    warned = [in_flags(text) for text in (*plan_warnings(planned), *plan_cautions(planned))]
    screen.result({**plan_document(planned), "warnings": warned})
    show_plan(planned, screen)
    for text in warned:
        screen.say(text, "warning")
