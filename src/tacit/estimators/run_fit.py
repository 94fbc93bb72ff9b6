"""One fit, from checked settings and an opened table to a release: plan, admit, warn, run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence

from tacit.contract.assumptions import VALID
from tacit.contract.budget_warnings import plan_cautions
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.engine.refusals import Refusals
from tacit.engine.table import Table
from tacit.errors import PrivacyWarning
from tacit.estimators.settings import Settings
from tacit.losses import logistic
from tacit.losses.loss import Loss
from tacit.solvers.signal import plan_warnings

STACKLEVEL = 4
"""A warning points at the line that called `fit` or `glm`, which call a function of their own."""


def run_fit(
    table: Table,
    settings: Settings,
    design: Design,
    facts: Sequence[PublicFact],
    on_plan: Callable[[Plan], None] | None = None,
    *,
    refusals: Refusals,
    loss: Loss = logistic.LOSS,
    warned: Sequence[str] = (),
) -> Release:
    """Plan the fit, admit the records, and run the plan.

    Guarantee
    ---------
    - What public facts can refuse is refused before the first record is read.
    - Warnings are of public facts alone, and come before anything is spent.
    """
    known = table.known_records(design)
    plan = settings.first_plan([(design, loss)], known)
    exact = settings.budget.is_infinite
    with refusals.logged():
        table.admit(design, invalid_rows=refusals.invalid_rows, exact=exact, seed=settings.seed)
    if known is None and settings.relation.n_is_public:
        plan = settings.plan(design, table.records, loss)
    plan = plan.with_facts(*facts)
    for text in (*warned, *plan_warnings(plan), *_more_columns_than_records(plan)):
        warnings.warn(text, UserWarning, stacklevel=STACKLEVEL)
    for text in plan_cautions(plan):
        warnings.warn(text, PrivacyWarning, stacklevel=STACKLEVEL)
    if on_plan is not None:
        on_plan(plan)
    return table.run(plan, seed=settings.seed)


def common_facts(
    settings: Settings,
    names: Sequence[str],
    *,
    invalid_rows: str,
    units: bool = False,
    types: Mapping[str, str] | None = None,
) -> list[PublicFact]:
    """What every fit takes as public, and on whose word; n is the number of units if there are.

    Where invalid records are refused, that none was refused is public as well. `types` are those
    that a library gave the columns before they came here, which a record may have decided.
    """
    facts = [PublicFact("columns", list(names), "assumed")]
    if types:
        facts.append(PublicFact("column types", dict(types), "assumed"))
    if settings.relation.n_is_public:
        counted = "units" if units else "records"
        facts.append(PublicFact(f"number of {counted}", "n", "assumed"))
    else:
        facts.append(PublicFact("n_at_least", settings.n_at_least, "declared"))
    if invalid_rows == "error":
        facts.append(PublicFact(VALID, True, "assumed"))
    return facts


def _more_columns_than_records(plan: Plan) -> tuple[str, ...]:
    if plan.design.width <= plan.records:
        return ()
    text = (
        f"There are more coefficients ({plan.design.width}) than records: many fit equally well, "
        "and this is one of them. Use fewer columns, or l2=…"
    )
    return (text,)
