"""Checks of less travelled paths: cells stored twice, units over several blocks, in groups and in evaluations, refits.

Most blind bugs got past all other checks here (docs/audit.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import scipy.sparse as sp

import tacit
from tacit.accounting import compose
from tacit.audit.single_answers import FIRST, ZERO, prepared_table
from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.query import BatchGradientSum
from tacit.ledger import Ledger
from tacit.mechanisms import batch_gradient
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.rows.admission import admit_rows
from tacit.rows.storage.batch_store import BatchStore
from tacit.rows.storage.record_store import MemoryStore
from tests.bounty.fits import LABELS, table_of
from tests.bounty.ledger_checks import DELTA, model_of
from tests.bounty.recorded_fits import Fit, answered_as, realised, recorded

ROUNDED = 1 + 1e-6
PERSONS, ROWS, BLOCK = 40, 4, 64
RECORDS, ANSWERS, LAGS = 40, 300, 4
RELATIONS = (Relation.REPLACE_ONE, Relation.ZERO_OUT)
SCHEMA = """
relation = "{relation}"
[unit]
column = "who"
max_rows = 4
[columns.x]
type = "numeric"
lower = -1
upper = 1
[columns.ward]
type = "factor"
levels = ["a", "b", "c", "d"]
[columns.y]
type = "binary"
levels = [0, 1]
"""
BLANK: Mapping[str, Any] = {"x": np.nan, "ward": None, "y": None}


def costs_more(fit: Fit, *pairs: tuple[Any, Any], allowed: float = 1.0) -> str | None:
    """Replay a fit of one table on its neighbour: the answers may show no more than the μ² that was paid."""
    shown = 0.0
    for first, second in pairs:
        run = recorded(fit, first)
        shown = max(shown, realised(run, answered_as(fit, second, run))[0])
    if shown == 0.0:
        return "nothing was asked of the record that differs"
    differ = f"neighbouring tables differ by {shown:.4g} where {allowed:.4g} was paid"
    return differ if shown > allowed * ROUNDED else None


def cell_is_stored_twice(relation: Relation) -> str | None:
    """A sparse row may hold a cell several times: their sum is the number, and is clipped."""

    def table(entry: float) -> Any:
        columns = np.concatenate([np.zeros(9, dtype=int), np.arange(60) % 3])
        values = np.concatenate([np.full(9, entry), np.full(60, 0.5)])
        starts = np.concatenate([[0], 9 + np.arange(61)])
        return sp.csr_array((values, columns, starts), shape=(61, 3))

    def fit(X: Any) -> Any:
        labels = np.arange(61) % 2
        model = model_of(solver="gradient", iterations=2, relation=str(relation), fit_intercept=False)
        return model.set_params(invalid_rows="zero", clip=0.5, row_norm=1.0, step_size=0.1).fit(X, labels).coef_

    other = -1.0 if relation is Relation.REPLACE_ONE else np.nan
    return costs_more(fit, (table(1.0), table(other)))


def of_persons(*, spread: bool) -> tuple[pd.DataFrame, Any]:
    """A table with several rows of each person, side by side or far apart; and which rows are the first person's."""
    rng = np.random.default_rng(17)
    who = np.tile(np.arange(PERSONS), ROWS) if spread else np.repeat(np.arange(PERSONS), ROWS)
    wards = np.array(list("abcd"))[np.arange(len(who)) // (PERSONS if spread else 1) % 4]
    table = pd.DataFrame(
        {"who": who, "x": rng.uniform(-1, 1, len(who)), "ward": wards, "y": rng.integers(0, 2, len(who))}
    )
    return table, who == 0


def neighbouring(relation: Relation, *, spread: bool, wards: str = "dcba") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables that differ in all rows of the first person, as far as they can."""
    table, own = of_persons(spread=spread)
    first, second = table.copy(), table.astype({"y": object})
    first.loc[own, ["x", "y"]] = [1.0, 0]
    far: Mapping[str, Any] = {"x": -1.0, "ward": list(wards), "y": 1}
    for name in far:
        second.loc[own, name] = (far if relation is Relation.REPLACE_ONE else BLANK)[name]
    return first.astype({"y": object}), second


def unit_in_blocks(relation: Relation) -> str | None:
    """Rows of a person that are read in different blocks of a table are still one person's."""

    def fit(table: pd.DataFrame) -> Any:
        model = model_of(max_rows_per_unit=ROWS, solver="gradient", iterations=1, relation=str(relation))
        model.set_params(invalid_rows="zero", clip=0.5, row_norm=1.0, step_size=0.1)
        return model.fit(table[["x"]].to_numpy(), table["y"].to_numpy(), units=table["who"].to_numpy()).coef_

    with patch.object(admit_rows, "default_block_rows", lambda *_: BLOCK):
        return costs_more(fit, neighbouring(relation, spread=True))


def unit_in_groups(relation: Relation) -> str | None:
    """A person with rows in many groups counts once in all of them together."""
    schema = tacit.Schema.parse(SCHEMA.format(relation=relation))

    def ask(table: pd.DataFrame) -> Any:
        mean = tacit.Mean("x", by="ward")
        given: Any = {"budget": Budget(mu=1.0), "queries": [mean], "invalid_rows": "zero", "columns": ["x", "ward"]}
        with tacit.statistics(table, schema, **given) as gate:
            return repr(gate.ask(mean))

    # Rows in all groups against rows in one.
    return costs_more(ask, neighbouring(relation, spread=False, wards="aaaa"))


def unit_in_evaluation(relation: Relation) -> str | None:
    """An evaluation has the unit of its fit: all rows of a person count as one."""
    schema = tacit.Schema.parse(SCHEMA.format(relation=relation))
    table, own = of_persons(spread=False)
    table = table.astype({"y": object})
    given: Any = {"schema": schema, "budget": Budget(mu=1.0), "invalid_rows": "zero", "inference": False}
    found = tacit.glm("y ~ x", table, family="binomial", **given)

    def labelled(label: Any) -> pd.DataFrame:
        # One person's rows are alike, so that all are right or all are wrong.
        return table.assign(x=np.where(own, 1.0, table["x"]), y=np.where(own, label, table["y"]))

    def evaluate(rows: pd.DataFrame) -> Any:
        return found.evaluate(rows, budget=Budget(mu=1.0), invalid_rows="zero")

    replaced = relation is Relation.REPLACE_ONE
    pairs = [(labelled(label), labelled(1 - label if replaced else None)) for label in (0, 1)]
    return costs_more(evaluate, *pairs)


def batches_depend(sampling: Sampling) -> str | None:
    """Whether a record is read in one step must tell nothing about the steps after it."""
    store = prepared_table([(FIRST, 0.0)] + [(ZERO, 0.0)] * (RECORDS - 1), MemoryStore)
    population = 2**32 if sampling is Sampling.POISSON else RECORDS
    price = BatchPrice(2**30, 6, Batches(sampling, population // 4, population))
    read: list[Any] = []

    def watched(of: Any, members: Any) -> Any:
        read.append(np.isin(np.arange(RECORDS), members(0, RECORDS)))
        return BatchStore(of, members)

    responder = Responder(store, private=True, seed=None)
    with patch.object(batch_gradient, "batch_of", watched):
        for _ in range(ANSWERS):
            responder.answer(BatchGradientSum(ZERO, 0.25), price)
    drawn = np.array(read, dtype=np.float64)
    drawn -= drawn.mean()
    for lag in range(1, LAGS + 1):
        products = (drawn[lag:] * drawn[:-lag]).sum(axis=1)
        if abs(products.sum()) > 7 * np.sqrt(len(products)) * drawn.var() * np.sqrt(RECORDS):
            return "records of one batch tell which are in another"
    return None


def refit_is_free() -> str | None:
    """A search that fits its winner again charges a ledger at least what its certificate states."""
    table = table_of(LABELS, 18)
    model = tacit.LogisticRegression(epsilon=4.0, delta=DELTA, bounds=(-1, 1), classes=(0, 1))
    search = tacit.PrivateSearchCV(model, {"l2": [1e-3, 1.0]}, law="geometric", mean_runs=1.5, refit=True)
    with Ledger(budget=Budget(epsilon=60.0, delta=DELTA), law="rdp") as ledger:
        search.fit(table["X"], table["y"])
    (charge,) = ledger.charges()
    paid = compose(charge.events, Relation.REPLACE_ONE).epsilon(DELTA)
    stated = float(search.certificate_.parsed["total"]["epsilon"])
    return f"a ledger is charged ε = {paid:.5g} for a search of ε = {stated:.5g}" if paid * ROUNDED < stated else None


CHECKS: Mapping[str, Callable[[], str | None]] = {
    **{f"sparse: cells stored twice, {it}": partial(cell_is_stored_twice, it) for it in RELATIONS},
    **{f"units: blocks, {it}": partial(unit_in_blocks, it) for it in RELATIONS},
    **{f"units: groups, {it}": partial(unit_in_groups, it) for it in RELATIONS},
    **{f"units: evaluation, {it}": partial(unit_in_evaluation, it) for it in RELATIONS},
    **{f"batches: independence, {it}": partial(batches_depend, it) for it in Sampling},
    "search: refit": refit_is_free,
}
