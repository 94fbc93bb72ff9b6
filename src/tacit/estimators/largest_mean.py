"""One of many statistics, selected privately: the one with the largest mean."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.certificate.certificate import Certificate
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.query import Progress
from tacit.contract.selection_query import LARGEST_NUMBER, SelectionLaw, StatisticChoice
from tacit.design.design import Column
from tacit.design.expression import Statistic, cells_of
from tacit.design.expression_tree import Interval
from tacit.display import Displayed, Shown
from tacit.engine.ledger_use import Refusals
from tacit.engine.table import Table
from tacit.errors import SettingError
from tacit.estimators.estimates import Answered, release_of
from tacit.estimators.settings import settings_of
from tacit.estimators.statistics_gate import stored_design
from tacit.formula.expression import read_statistic
from tacit.ledger.current_ledger import active_ledger, pinned
from tacit.losses import regression
from tacit.schema.schema import Schema
from tacit.solvers.hypotheses import statistic_plan
from tacit.validate import one_of

NOISY_MAX = "report-noisy-max"
METHODS = (*SelectionLaw, NOISY_MAX)


@dataclass(frozen=True, repr=False)
class Selected(Displayed):
    """What was selected: its place in the list, its expression, and what was guaranteed."""

    index: int
    expression: str
    certificate: Certificate

    def _shown(self) -> Shown:
        guarantee = str(self.certificate.rederive())
        return Shown(
            "Selected", (("Expression", self.expression), ("Place", f"{self.index}"), ("Guarantee", guarantee))
        )


def select(
    data: Any,
    schema: Schema | str | os.PathLike[str],
    expressions: Sequence[str],
    *,
    epsilon: float | None = None,
    method: str = SelectionLaw.PERMUTE_AND_FLIP.value,
    columns: Sequence[str] | None = None,
    invalid_rows: str | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Selected:
    """Select the expression with the largest mean, under pure differential privacy.

    Guarantee: the selection is exact and ε-differentially private for one unit of the schema, under its relation. Only
    which expression it was is released: no mean, and not how near the next one was. Ask for its mean with
    `tacit.statistics`, at a charge of its own.

    Parameters
    ----------
    data, schema, columns, invalid_rows, random_state, progress
        As in `tacit.statistics`.
    expressions
        Bounded expressions of a record, as in `tacit.Mean`. All are compared on the hull of their intervals.
    epsilon
        The budget; there is no δ. The sums differ by about 4(log k + log(1/β)) / ε half intervals, or less, with
        probability 1 - β for k expressions where a record is replaced.
    method
        "permute-and-flip", whose expected error is the smallest; "exponential", which has a bounded range and so
        composes better; "report-noisy-max" with exponential noise, which has the law of "permute-and-flip" and is
        drawn by it. (With Gumbel noise it is "exponential".)

    Examples
    --------
    >>> import numpy as np, pyarrow, tacit
    >>> schema = tacit.Schema.parse('''
    ... [columns.x]
    ... type = "numeric"
    ... lower = 0
    ... upper = 1
    ... ''')
    >>> table = pyarrow.table({"x": np.linspace(0, 1, 20_000) ** 2})
    >>> tacit.select(table, schema, ["x > 0.9", "x < 0.1", "x > 0.5"], epsilon=1.0).expression
    'x < 0.1'
    """
    declared = schema if isinstance(schema, Schema) else Schema.read(schema)
    given = {"epsilon": epsilon, "delta": 0.0, "budget": None, "invalid_rows": invalid_rows}
    settings = settings_of({**given, "random_state": random_state, **vars(declared)})
    one_of("method", method, METHODS)
    law = SelectionLaw.PERMUTE_AND_FLIP if method == NOISY_MAX else SelectionLaw(method)
    design = stored_design(declared, columns)
    query = _choice(expressions, declared, cells_of(design))

    def plan(records: int | None) -> Plan:
        case = [(design, regression.DISTANCE)]
        return settings.first_plan(case, records, lambda facts, _: statistic_plan(facts, law))

    plan(None)
    with pinned(active_ledger()):
        refusals = Refusals.settle(settings.invalid_rows, label="selection", data=data)
        with refusals.logged():
            opened = Table(data, progress=progress, fewest=settings.fewest, reading=design.reading)
        with opened as table:
            facts = settings.facts(table, refusals.invalid_rows, units=declared.person is not None)
            bounds = {column.name: [column.lower, column.upper] for column in design.columns}
            facts += [PublicFact("bounds", bounds, "declared")]
            facts += [PublicFact("expressions", list(expressions), "declared")]
            opening = table.planned_session(
                design, lambda n: plan(n).with_facts(*facts), refusals=refusals, seed=settings.seed
            )
            with opening as session:
                index = int(session.gate.ask(query).value[0])
                half = max((len(expressions) - 1) / 2, 0.5)
                column = Column("index of the selected expression", (), 0.0, 2 * half, half, half)
                answered = Answered((column,), np.array([(index - half) / half]))
                session.release = release_of(session.plan, [answered], seeded=settings.seed is not None)
    return Selected(index, expressions[index], Certificate.issue(session.release))


def _choice(expressions: Sequence[str], schema: Schema, cells: Any) -> StatisticChoice:
    """Read the expressions, all on the hull of their intervals."""
    if isinstance(expressions, str) or not 1 <= len(expressions) <= LARGEST_NUMBER:
        raise SettingError(f"expressions must be a list of 1 to {LARGEST_NUMBER} expressions.")
    read: list[Statistic] = [read_statistic(text, schema, cells) for text in expressions]
    hull = Interval(min(it.interval.lower for it in read), max(it.interval.upper for it in read))
    return StatisticChoice(tuple(replace(it, interval=hull) for it in read))
