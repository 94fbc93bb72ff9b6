"""Statistical queries: means of bounded expressions, asked for one after the other.

`statistics` plans and opens; the gate it returns answers a fixed number of queries, and no more.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from threading import Lock
from typing import Any, Self

import numpy as np

from tacit.certificate.certificate import Certificate
from tacit.contract.cluster import Cluster
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.query import Progress
from tacit.contract.release import Release
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.attached_columns import AttachedColumns
from tacit.design.design import Design
from tacit.design.expression import Statistic, cells_of, exact_column
from tacit.design.expression_tree import Cell
from tacit.design.factor import LabelCell, LevelCode, Numeric
from tacit.design.response import Absent
from tacit.display import Displayed
from tacit.documents.dataclass_json import to_plain
from tacit.engine.ledger_use import Refusals
from tacit.engine.table import Session, Table
from tacit.errors import PlanViolation, SettingError
from tacit.estimators.estimates import Answered, Estimate, group_estimate, mean_estimate, release_of
from tacit.estimators.settings import Settings, settings_of
from tacit.formula.expression import column_of_levels, read_statistic
from tacit.ledger.current_ledger import active_ledger, pinned
from tacit.losses import regression
from tacit.privacy.budget import Budget
from tacit.schema.schema import NumericColumn, Schema
from tacit.solvers import statistical_queries
from tacit.solvers.statistical_queries import QueryShape
from tacit.validate import is_whole, positive, whole

MOST_QUERIES = 10_000
ESTIMAND = "Each {unit} counts once, with the mean over its rows."


@dataclass(frozen=True, init=False)
class Mean(Displayed):
    """The means of one or more expressions over the records, or over those of each level of a column.

    Several expressions are answered together. With `by` a record enters its own group alone, so any number of
    groups costs no more than one.

    Examples
    --------
    >>> Mean("x * y")
    Mean(expressions=('x * y',), by=None)
    """

    expressions: tuple[str, ...]
    by: str | None

    def __init__(self, *expressions: str, by: str | None = None) -> None:
        if not expressions and by is None:
            raise SettingError('Mean needs an expression, for example Mean("x * y").')
        object.__setattr__(self, "expressions", tuple(expressions))
        object.__setattr__(self, "by", by)

    @property
    def shape(self) -> QueryShape:
        """What its price depends on."""
        return QueryShape(len(self.expressions), self.by is not None)


UNWEIGHTED = (
    "Means are not weighted: every record counts once, whatever its {0!r}. For a weighted mean of x declare {0!r} as a "
    "numeric column of a schema without [weight], and divide Mean('x * {0}') by Mean('{0}')."
)


def statistics(
    data: Any,
    schema: Schema | str | os.PathLike[str],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    budget: Budget | None = None,
    queries: int | Sequence[int | Mean] = 1,
    shares: Sequence[float] | None = None,
    columns: Sequence[str] | None = None,
    invalid_rows: str | None = None,
    random_state: int | None = None,
    cluster: Any = None,
    progress: Progress | None = None,
) -> StatisticsGate:
    """Open a table for a fixed number of statistical queries under differential privacy.

    Guarantee: all answers together are (ε, δ)-differentially private for one unit of the schema, under its relation,
    given the public facts that the certificate lists, however the queries depend on earlier answers. Number, sizes and
    prices of the queries are fixed before a record is read. Further queries are refused.

    Parameters
    ----------
    data
        A pandas, polars or Arrow table, a matrix, or the path of a CSV or Parquet file.
    schema
        A `Schema`, or the path of a TOML file: bounds and levels, relation and unit. Its weight is not used, and a
        warning says so: ask for the mean of a product.
    epsilon, delta, budget
        The budget of all queries together; ε has no default.
    queries
        How many queries of one mean each; or for each query in turn how many means it asks for, or a `Mean` of the same
        shape.
    shares
        The queries' parts of the budget (of μ²), in any unit. None: every mean has the same noise in units of its
        interval.
    columns
        The declared columns that expressions may name. None: all of them. A record is invalid if one of them is.
    invalid_rows
        As in `glm`. A record that is invalid counts as one in the middle of every interval, and in no group.
    random_state, cluster, progress
        As in `glm`.

    Examples
    --------
    >>> import numpy as np, pyarrow, tacit
    >>> schema = tacit.Schema.parse('''
    ... [columns.x]
    ... type = "numeric"
    ... lower = 0
    ... upper = 1
    ... ''')
    >>> table = pyarrow.table({"x": np.linspace(0, 1, 20_000)})
    >>> with tacit.statistics(table, schema, epsilon=1.0, queries=2) as gate:
    ...     mean = gate.ask(tacit.Mean("x"))
    ...     square = gate.ask(tacit.Mean(f"(x - {mean.value}) ** 2"))
    >>> bool(abs(mean.value - 1 / 2) < 0.01 and abs(square.value - 1 / 12) < 0.01)
    True
    >>> gate.certificate.check().consistent
    True
    """
    declared = Schema.of(schema)
    if declared.weight is not None:
        warnings.warn(UNWEIGHTED.format(declared.weight.column), UserWarning, stacklevel=2)
    given = {"epsilon": epsilon, "delta": delta, "budget": budget, "invalid_rows": invalid_rows}
    settings = settings_of({**given, "random_state": random_state, **vars(declared)})
    design = stored_design(declared, columns)
    shapes = shapes_of(queries)
    gate = StatisticsGate(declared, settings, design, shapes, shares_of(shares, len(shapes)))
    for query in queries if isinstance(queries, Sequence) else ():
        if type(query) is Mean:
            gate.read(query)
    return gate.opening(data, progress, Cluster.of(cluster))


def stored_design(schema: Schema, names: Sequence[str] | None) -> Design:
    """How records are kept for expressions: numbers within their bounds and indices of levels, without rounding."""
    chosen = {name: schema.column(name) for name in (schema.predictors if names is None else names)}
    if not chosen:
        raise SettingError("columns must name at least one declared column.")
    columns = [
        exact_column(name, Numeric(name), column.lower, column.upper)
        if isinstance(column, NumericColumn)
        else exact_column(name, LevelCode(name), 0.0, len(column.levels) - 1.0)
        for name, column in chosen.items()
    ]
    labelled = {name: column for name, column in chosen.items() if not isinstance(column, NumericColumn)}
    return Design(
        columns=tuple(columns),
        response=Absent(),
        feature_norm=float(np.sqrt(len(columns))),
        intercept=True,
        levels={name: tuple(map(str, column.levels)) for name, column in labelled.items()},
        attached=AttachedColumns(None, None, schema.person),
        cells={name: column.cell for name, column in chosen.items() if column.cell != LabelCell()},
        reading=schema.reading((*chosen, *schema.attached)),
    )


def shapes_of(queries: int | Sequence[int | Mean]) -> tuple[QueryShape, ...]:
    """Shapes of the planned queries, in their order."""
    if is_whole(queries):
        return (QueryShape(1),) * whole("queries", queries, 1, MOST_QUERIES)
    form = f"queries must be a whole number from 1 to {MOST_QUERIES}, or a list of numbers of means and of tacit.Mean"
    if isinstance(queries, str | int) or not isinstance(queries, Sequence) or not 1 <= len(queries) <= MOST_QUERIES:
        raise SettingError(f"{form}.")
    if not all(type(it) is Mean or is_whole(it, 1) for it in queries):
        raise SettingError(f"{form}.")
    return tuple(it.shape if isinstance(it, Mean) else QueryShape(int(it)) for it in queries)


def shares_of(shares: Sequence[float] | None, count: int) -> tuple[Fraction, ...] | None:
    """Checked shares of the budget, one a query."""
    if shares is None:
        return None
    if isinstance(shares, str) or not isinstance(shares, Sequence) or len(shares) != count:
        raise SettingError(f"shares must be a list of {count} positive numbers, one a query.")
    return tuple(Fraction(positive("A share", share)) for share in shares)


class StatisticsGate(AbstractContextManager["StatisticsGate"], Displayed):
    """Answers a fixed number of statistical queries; a context manager, which opens the table once.

    Attributes
    ----------
    plan
        The plan with its price. Before the block, where n is not declared, for a supposed 10,000 records.
    release, certificate
        What left the wall, and what was guaranteed; after the block.
    """

    def __init__(
        self,
        schema: Schema,
        settings: Settings,
        design: Design,
        shapes: tuple[QueryShape, ...],
        shares: tuple[Fraction, ...] | None = None,
    ) -> None:
        self._schema, self._settings, self._design = schema, settings, design
        self._shapes, self._shares = shapes, shares
        self._cells: Mapping[str, Cell] = cells_of(design)
        self._open: Callable[[], Table] | None = None
        self._stack = ExitStack()
        self._session: Session | None = None
        self._answered: list[Answered] = []
        self._asked, self._process, self._turnstile = 0, os.getpid(), Lock()
        self._data: Any = None
        self.release: Release | None = None

    def __str__(self) -> str:
        """How many queries are planned and answered."""
        return f"Statistics: {self._asked} of {len(self._shapes)} planned queries answered"

    def opening(self, data: Any, progress: Progress | None, cluster: Cluster | None = None) -> Self:
        """Name the table, plan for it, and refuse what public facts can refuse; no record is read."""
        self._data = data
        fewest, units = self._settings.fewest, self._design.attached.unit is not None
        self._open = lambda: Table(
            data, progress=progress, fewest=fewest, grouped=units, reading=self._design.reading, cluster=cluster
        )
        self.plan = self._plan(None)
        return self

    def _plan(self, records: int | None) -> Plan:
        case = [(self._design, regression.DISTANCE)]
        return self._settings.first_plan(
            case, records, lambda facts, _: statistical_queries.plan(facts, self._shapes, self._shares)
        )

    def __enter__(self) -> Self:
        """Read the records and charge the whole plan."""
        if self._open is None:
            raise SettingError("These queries were opened before; call tacit.statistics again, at a new charge.")
        opened, self._open, self._process = self._open, None, os.getpid()
        with pinned(active_ledger()):
            refusals = Refusals.settle(self._settings.invalid_rows, label="means", data=self._data)
            try:
                with refusals.logged():
                    table = self._stack.enter_context(opened())
                facts = self._public(table, refusals.invalid_rows)
                opening = table.planned_session(
                    self._design,
                    lambda n: self._plan(n).with_facts(*facts),
                    refusals=refusals,
                    seed=self._settings.seed,
                    stacklevel=5,
                )
                self._session = self._stack.enter_context(opening)
            except BaseException:
                self._stack.close()
                raise
        self.plan = self._session.plan
        return self

    def __exit__(self, *failure: object) -> None:
        """Give the records up, and keep what was released."""
        if self._session is not None:
            self.release = self._session.release = release_of(
                self._session.plan, self._answered, seeded=self._settings.seed is not None
            )
            self._session = None
        self._stack.close()

    def ask(self, query: Mean) -> Estimate:
        """Answer the next planned query, by a noised mean.

        Guarantee: an expression without a provably finite interval, or a query of another shape than planned, is
        refused before a record is touched, and uses up nothing.
        """
        if type(query) is not Mean:
            raise SettingError('ask takes a tacit.Mean, for example gate.ask(tacit.Mean("x * y")).')
        found = self.read(query)
        # One at a time: two threads must not be given the same reserved answer.
        with self._turnstile:
            return self._answer(query, found)

    def _answer(self, query: Mean, found: BoundedSums | GroupSums) -> Estimate:
        if self._session is None or self._process != os.getpid():
            where = "inside the block, with tacit.statistics(…) as gate: …, and in the process that opened it"
            raise PlanViolation(f"Queries are asked {where}.")
        if self._asked >= len(self._shapes):
            raise PlanViolation(f"The plan is used up: {self._asked} queries were reserved. Plan more with queries=….")
        if query.shape != (planned := self._shapes[self._asked]):
            what = f"{planned} at this point, not {query.shape}. Plan it with queries=[…]"
            raise PlanViolation(f"The plan reserved {what}.")
        answer = self._session.gate.ask(found)
        self._asked += 1
        plan = self._session.plan
        single = len(query.expressions) == 1
        if isinstance(found, GroupSums):
            levels = column_of_levels(query.by, self._schema).levels
            answered, estimate = group_estimate(found, answer, plan, levels, single=single)
        else:
            answered, estimate = mean_estimate(found, answer, plan, single=single)
        self._answered.append(answered)
        return estimate

    def read(self, query: Mean) -> BoundedSums | GroupSums:
        """Check the expressions of a query against the schema."""
        statistics: tuple[Statistic, ...] = tuple(
            read_statistic(text, self._schema, self._cells) for text in query.expressions
        )
        if query.by is None:
            return BoundedSums(statistics)
        column = column_of_levels(query.by, self._schema)
        if query.by not in self._cells:
            raise SettingError(f'Column "{query.by}" was not opened for these queries: name it in columns=….')
        return GroupSums(statistics, self._cells[query.by], len(column.levels))

    @property
    def remaining(self) -> int:
        """How many planned queries were not asked yet."""
        return len(self._shapes) - self._asked

    @cached_property
    def certificate(self) -> Certificate:
        """What was guaranteed for all answers together, and why it is true; after the block."""
        if self.release is None:
            raise SettingError("There is a certificate after the block, when everything has been asked.")
        return Certificate.issue(self.release)

    def _public(self, table: Table, invalid_rows: str) -> list[PublicFact]:
        units = self._schema.person is not None
        facts = [fact for fact in self._settings.facts(table, invalid_rows, units=units) if fact.name != "estimand"]
        design = self._design
        declared: dict[str, Any] = {"bounds": {c.name: [c.lower, c.upper] for c in design.columns}}
        declared |= {f"levels of {name}": list(levels) for name, levels in design.levels.items()}
        declared |= {name: value for name, value in to_plain(design.attached).items() if value}
        if units:
            declared["estimand"] = ESTIMAND.format(unit=self._settings.unit)
        return [*facts, *(PublicFact(name, value, "declared") for name, value in declared.items())]
