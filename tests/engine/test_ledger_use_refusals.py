"""Whom a refusal is for: the curator outside a ledger, nobody inside, unless it is logged."""

from contextlib import nullcontext
from functools import partial
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv

import tacit
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.engine.ledger_use import Refusals, require_declared
from tacit.engine.table import Table
from tacit.errors import DataError, FileError, LedgerError, SettingError
from tacit.estimators.classifiers import LogisticRegression
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget

BUDGET = Budget(epsilon=3, delta=1e-6)
DESIGN = matrix_design(["x0"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
SCHEMA = tacit.Schema.parse('[columns.x]\ntype = "numeric"\nlower = 0\nupper = 1\n[columns.y]\ntype = "binary"\n')
SPOILT = np.array([[0.5], [np.nan], [0.25]])


def test_records_are_refused_outside_a_ledger_and_left_out_inside_one() -> None:
    assert Refusals.settle(None).invalid_rows == "error"
    assert Refusals.settle("zero").invalid_rows == "zero"
    for ledger in (Ledger(budget=BUDGET), Ledger(budget=BUDGET, refusals="curator")):
        with ledger:
            assert Refusals.settle(None).invalid_rows == "zero"
            assert Refusals.settle("zero").invalid_rows == "zero"


def test_errors_are_refused_inside_a_ledger_with_the_ways_out() -> None:
    with Ledger(budget=BUDGET), pytest.raises(SettingError) as caught:
        Refusals.settle("error")
    for way in ('invalid_rows="zero"', "outside the ledger", 'refusals="curator"'):
        assert way in str(caught.value)


def test_the_table_itself_keeps_to_it() -> None:
    with Ledger(budget=BUDGET), Table(SPOILT, [0, 1, 0]) as table:
        with pytest.raises(SettingError, match="inside a ledger"):
            table.admit(DESIGN, invalid_rows="error", exact=False)
        with pytest.raises(SettingError, match="classes"):
            table.classes("y")
        table.admit(DESIGN, invalid_rows=None, exact=False)
        assert table.records == 3


def test_what_is_not_declared_is_not_read_inside_a_ledger() -> None:
    require_declared("the classes", "classes=[…]")
    with Ledger(budget=BUDGET), pytest.raises(SettingError, match=r"classes=\[…\]"):
        require_declared("the classes", "classes=[…]")


def test_no_other_choice_exists() -> None:
    with pytest.raises(SettingError, match="invalid_rows must be one of 'error', 'zero'"):
        Refusals.settle("drop")


@pytest.mark.parametrize("error", [DataError, FileError])
def test_a_refusal_is_in_the_log_before_it_is_raised(error: type[Exception]) -> None:
    with Ledger(budget=BUDGET, refusals="curator") as ledger:
        said = Refusals.settle("error", label="logistic", formula="y ~ x", data="clinic.csv")
        with pytest.raises(error, match="a record"), said.logged():
            raise error("a record")
        assert ledger.verify().entries == 2
        with said.logged():
            pass
        assert ledger.verify().entries == 2
    assert (said.label, said.formula, said.file) == ("logistic", "y ~ x", "clinic.csv")


def test_a_refusal_that_cannot_be_logged_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise LedgerError("the disk is full")

    with Ledger(budget=BUDGET, refusals="curator"):
        said = Refusals.settle("error", label="logistic")
        monkeypatch.setattr(Ledger, "note_refusal", full)
        with pytest.raises(LedgerError, match="disk is full") as caught, said.logged():
            raise DataError("a record")
    assert caught.value.__suppress_context__


def test_nothing_is_logged_where_records_are_left_out() -> None:
    with Ledger(budget=BUDGET, refusals="curator") as ledger:
        with pytest.raises(DataError), Refusals.settle("zero").logged():
            raise DataError("the shapes differ")
        assert ledger.verify().entries == 1


def lazy_tables() -> tuple[Any, Any]:
    """A dataframe of which a partition fails by one cell, and one that does not."""
    frame = pd.DataFrame({"x": ["0.5", "0.25", "0.75", "0.5"] * 50, "y": [0, 1, 1, 0] * 50})
    spoilt = frame.copy()
    spoilt.loc[150, "x"] = "abc"
    meta = pd.DataFrame({"x": pd.Series(dtype=float), "y": pd.Series(dtype=int)})
    return tuple(
        dd.from_pandas(each, npartitions=2).map_partitions(lambda part: part.astype({"x": float}), meta=meta)
        for each in (spoilt, frame)
    )


def stream(cell: str) -> Any:
    """Records that Arrow parses as they are read."""
    lines = [f"{place % 2}.5,{place % 2}" for place in range(20_000)] + [f"{cell},1"]
    content = pa.BufferReader(("x,y\n" + "\n".join(lines) + "\n").encode())
    return csv.open_csv(content, read_options=csv.ReadOptions(block_size=1 << 14))


def test_a_stream_is_refused_by_its_type_inside_a_ledger_and_never_quotes_a_cell() -> None:
    """Regression: the error of a stream of Arrow's, which holds the cell, was passed on, inside a ledger too."""
    fit = partial(tacit.glm, "y ~ x", schema=SCHEMA, epsilon=1.0, delta=1e-7, inference=False)
    for cell in ("0.5", "HIV-positive"):
        with Ledger(budget=BUDGET) as ledger:
            with pytest.raises(SettingError, match="paths of its files"):
                fit(data=stream(cell))
            model = LogisticRegression(epsilon=1.0, delta=1e-7, bounds=(0, 1), classes=[0, 1])
            with pytest.raises(SettingError, match="paths of its files"):
                model.fit(stream(cell), [0] * 20_001)
            assert ledger.charges() == ()
    assert fit(data=stream("0.5")).certificate.private
    for refusals in (None, "curator"):
        block = nullcontext() if refusals is None else Ledger(budget=BUDGET, refusals=refusals)
        with block, pytest.raises(DataError, match="could not be read to its end") as caught:
            fit(data=stream("HIV-positive"))
        assert caught.value.__context__ is None


def test_dask_is_refused_by_its_type_inside_a_ledger_and_logged_for_a_curator() -> None:
    fit = partial(tacit.glm, "y ~ x", schema=SCHEMA, epsilon=1.0, delta=1e-7, inference=False)

    class Derived(da.Array):  # type: ignore[misc]
        """An array of Dask that a module of its own derives."""

    class Computed:
        """An object that computes its cells when it is read."""

        shape, __array__ = (200, 1), np.zeros

    for lazy in lazy_tables():
        array = lazy[["x"]].values
        derived = Derived(array.dask, array.name, array.chunks, dtype=float, shape=array.shape)
        with Ledger(budget=BUDGET) as ledger:
            with pytest.raises(SettingError, match="paths of its files"):
                fit(data=lazy)
            with pytest.raises(SettingError, match="paths of its files"), Table(lazy) as table:
                table.admit(DESIGN, invalid_rows=None, exact=False)
            for X, y in [
                (lazy, "y"),
                (lazy[["x"]], [0] * 200),
                (np.zeros((200, 1)), lazy["y"]),
                (lazy[["x"]].values, [0] * 200),
                (derived, [0] * 200),
                (Computed(), [0] * 200),
            ]:
                model = LogisticRegression(epsilon=1.0, delta=1e-7, bounds=(0, 1), classes=[0, 1])
                with pytest.raises(SettingError, match="paths of its files"):
                    model.fit(X, y)
            assert ledger.charges() == ()
    spoilt, fine = lazy_tables()
    with Ledger(budget=BUDGET, refusals="curator") as ledger:
        with pytest.raises(DataError, match="could not be computed"):
            fit(data=spoilt)
        assert ledger.verify().entries == 2
        fit(data=fine)
        assert len(ledger.charges()) == 1
    assert fit(data=fine).certificate.private
