"""No content of a record is noticed outside of its own row: not by an error, a warning, a bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary
from tacit.rows.sources.opening import open_source
from tests.rows.neighbours import DESIGNS, EXPOSED, OWNED, Neighbours, Records, records, with_cell, without_record
from tests.rows.poison import CELLS, SCALARS


def held(build: Callable[[], Any]) -> Any:
    """What a library makes of the cells, or None where it does not take them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return build()
        except BaseException:  # noqa: BLE001 - polars panics by an error of its own
            return None


def of_objects(cells: list[Any]) -> Any:
    array = np.empty(len(cells), dtype=object)
    for index, cell in enumerate(cells):
        array[index] = cell
    return array


FRAMES: dict[str, Callable[[Records], Any]] = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda table: pd.DataFrame(
        {name: pd.Series(of_objects(cells), dtype=object) for name, cells in table.items()}
    ),
    "pandas categories": lambda table: pd.DataFrame(
        {name: pd.Series(cells, dtype="category") for name, cells in table.items()}
    ),
    "polars": lambda table: pl.DataFrame(table, strict=False),
    "polars objects": lambda table: pl.DataFrame(
        {name: pl.Series(cells, dtype=pl.Object) for name, cells in table.items()}
    ),
    "arrow": pa.table,
}
ROLES = [("records", name) for name in ("age", "x", "ward", "y", "w", "t")]
ROLES += [("persons", name) for name in ("id", "day", "x", "w")]


LEAST = {
    "pandas": len(CELLS) - 5,
    "pandas objects": len(CELLS),
    "pandas categories": 70,
    "polars": len(SCALARS) - 5,
    "polars objects": len(CELLS),
    "arrow": 12,
}
"""Cells that a library takes beside numbers and labels."""


def faults_of(
    kind: str,
    roles: Sequence[tuple[str, str]],
    builds: Callable[[str, str], tuple[Neighbours, Callable[[Any], Any]]],
    *,
    each: bool = False,
) -> tuple[dict[tuple[str, str], str], int]:
    """What is seen of poisoned cells in one role after the other, and how many were compared.

    A cell stands in one role, and where `each` is true in every one.
    """
    faults = {}
    cells = SCALARS if kind in {"polars", "arrow"} else CELLS
    for number, role in enumerate(roles):
        whole, build = builds(*role)
        for place, (name, cell) in enumerate(cells.items()):
            if not each and place % len(roles) != number:
                continue
            poisoned = held(partial(build, cell))
            if poisoned is not None:
                faults[name, " ".join(role)] = whole.fault(poisoned)
    return {place: fault for place, fault in faults.items() if fault}, len(faults)


def tables_of(kind: str, *, each: bool = False) -> tuple[dict[tuple[str, str], str], int]:
    build = FRAMES[kind]

    def builds(design: str, column: str) -> tuple[Neighbours, Callable[[Any], Any]]:
        tables = records(), without_record(), with_cell("y", None)
        whole = Neighbours.of(open_table, map(build, tables), DESIGNS[design])
        return whole, lambda cell: build(with_cell(column, cell))

    return faults_of(kind, ROLES, builds, each=each)


@pytest.mark.parametrize("kind", FRAMES)
def test_tables(kind: str) -> None:
    faults, tried = tables_of(kind)
    assert faults == {}
    assert tried >= LEAST[kind]


def open_table(table: Any) -> Any:
    return open_source(table, fewest=0)


def lists_of(rows: list[list[Any]]) -> Any:
    matrix = sp.lil_array((len(rows), len(rows[0])))
    for index, row in enumerate(rows):
        matrix.rows[index], matrix.data[index] = [*range(len(row))], [*row]
    return matrix


MATRICES: dict[str, Callable[[list[list[Any]]], Any]] = {
    "lists": list,
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "numpy": np.array,
    "numpy objects": lambda rows: np.stack([of_objects(row) for row in rows]),
    "masked": lambda rows: np.ma.array(np.array(rows)),
    "csr": lambda rows: sp.csr_array(np.array(rows)),
    "lil": lists_of,
}
BESIDE: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": of_objects,
    "masked": lambda cells: np.ma.array(np.array(cells)),
    "pandas": pd.Series,
    "polars": lambda cells: pl.Series(cells, strict=False),
    "arrow": pa.array,
}


@dataclass(frozen=True)
class Parts:
    """A matrix and what stands beside it."""

    X: Any
    attached: dict[str, Any]

    def open(self) -> Any:
        columns = dict(self.attached)
        return open_source(self.X, columns.pop("y"), attached=columns)


def parts(table: Records, matrix: Any, column: Any) -> Parts:
    rows = [list(row) for row in zip(table["age"], table["x"], strict=True)]
    columns = {name: column(table[name]) for name in ("y", "w", "t", "id", "day")}
    return Parts(matrix(rows), columns)


def design_beside(*, sparse: bool, persons: bool) -> Design:
    plain = matrix_design(
        ("x0", "x1"), Binary("y", (0, 1)), bounds=([0, -5], [100, 5]), row_norm=None, intercept=True, shifted=not sparse
    )
    return replace(plain, attached=OWNED if persons else EXPOSED)


def matrices_of(kind: str, *, each: bool = False) -> tuple[dict[tuple[str, str], str], int]:
    def builds(owned: str, column: str) -> tuple[Neighbours, Callable[[Any], Any]]:
        design = design_beside(sparse=kind in {"csr", "lil"}, persons=owned == "persons")
        tables = records(), without_record(), with_cell("y", None)
        made = [parts(table, MATRICES[kind], list) for table in tables]

        def build(cell: Any) -> Parts | None:
            poisoned = parts(with_cell(column, cell), MATRICES[kind], list)
            # numpy gives a cell that is an array dimensions of its own, which are public.
            return poisoned if getattr(poisoned.X, "ndim", 2) == 2 else None

        return Neighbours.of(Parts.open, made, design), build

    roles = [("records", "x"), ("persons", "x"), ("records", "age")]
    return faults_of(kind, roles, builds, each=each)


@pytest.mark.parametrize("kind", MATRICES)
def test_matrices(kind: str) -> None:
    faults, tried = matrices_of(kind)
    assert faults == {}
    most = {"lists", "tuples", "numpy objects", "lil"}
    assert tried >= (len(CELLS) if kind in most else 20)


def columns_of(kind: str, *, each: bool = False) -> tuple[dict[tuple[str, str], str], int]:
    def builds(owned: str, column: str) -> tuple[Neighbours, Callable[[Any], Any]]:
        tables = records(), without_record(), with_cell("y", None)
        made = [parts(table, np.array, BESIDE[kind]) for table in tables]

        def build(cell: Any) -> Parts | None:
            poisoned = parts(with_cell(column, cell), np.array, BESIDE[kind])
            return poisoned if getattr(poisoned.attached[column], "ndim", 1) == 1 else None

        design = design_beside(sparse=False, persons=owned == "persons")
        return Neighbours.of(Parts.open, made, design), build

    roles = [("records", "y"), ("records", "w"), ("records", "t"), ("persons", "id")]
    return faults_of(kind, [*roles, ("persons", "day")], builds, each=each)


@pytest.mark.parametrize("kind", BESIDE)
def test_columns_beside_a_matrix(kind: str) -> None:
    faults, tried = columns_of(kind)
    assert faults == {}
    most = {"list", "tuple", "numpy objects"}
    assert tried >= (len(CELLS) if kind in most else 12)
