"""Whole fits: no content of a record is noticed but through its own row.

A poisoned record that is invalid must give the same released bits, words and warnings as one whose
cells are missing; any other must give the same kind of outcome, in the same words.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import tacit
from tests.rows.poison import CELLS, LINES

N, PLACE = 120, 70
SCHEMA = """
{relation}
[columns.age]
type = "numeric"
lower = 1
upper = 100
[columns.x]
type = "numeric"
lower = -5
upper = 5
[columns.ward]
type = "factor"
levels = ["a", "b"]
[columns.y]
type = "binary"
[weight]
column = "w"
maximum = 2
"""
ADD_REMOVE = 'relation = "add-remove"\nn_at_least = 100'
SAMPLE = [
    *("none", "pandas NA", "masked", "nan with a payload", "inf", "huge integer", "huge fraction"),
    *("longdouble", "complex", "signalling nan", "timedelta", "timedelta64", "datetime64", "text"),
    *("text beyond float64", "NUL", "surrogate", "bytes of no text", "list", "empty list", "dict"),
    *("array", "array of one", "deep list", "object", "rogue", "disguised", "frame", "exception"),
]
"""Cells that are no numbers and no class of the response."""


@dataclass(frozen=True)
class Seen:
    """All that a fit lets out."""

    kind: str
    said: tuple[str, ...]
    released: bytes


def seen(fit: Callable[[], Any]) -> Seen:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind, said, released = "fitted", [], b""
        try:
            released = np.asarray(fit()).tobytes()
        except Exception as error:  # noqa: BLE001 - whatever it is, it would be seen
            kind, said = type(error).__name__, [str(error)]
    return Seen(kind, (*said, *(str(note.message) for note in caught)), released)


def cells() -> dict[str, list[Any]]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=N)
    return {
        "age": rng.uniform(1, 100, N).tolist(),
        "x": x.tolist(),
        "ward": rng.choice(["a", "b"], N).tolist(),
        "y": (x + rng.normal(size=N) > 0).astype(int).tolist(),
        "w": rng.uniform(0.5, 2, N).tolist(),
        "id": [*range(N)],
    }


def with_cell(column: str, cell: Any) -> dict[str, list[Any]]:
    table = cells()
    table[column][PLACE] = cell
    return table


def fit_matrix(table: dict[str, list[Any]], **settings: Any) -> Any:
    model = tacit.LogisticRegression(
        epsilon=1.0,
        bounds=([1, -5], [100, 5]),
        classes=[0, 1],
        max_weight=2.0,
        invalid_rows="zero",
        random_state=1,
        **settings,
    )
    X = [list(row) for row in zip(table["age"], table["x"], strict=True)]
    model.fit(X, table["y"], sample_weight=table["w"])
    return [*model.coef_.ravel(), *model.intercept_]


def fit_units(table: dict[str, list[Any]]) -> Any:
    model = tacit.LinearRegression(
        epsilon=1.0,
        bounds=([1, -5], [100, 5]),
        y_bounds=(0, 1),
        max_rows_per_unit=2,
        invalid_rows="zero",
        random_state=1,
    )
    X = np.column_stack([cells()["age"], cells()["x"]])
    return model.fit(X, table["y"], units=table["id"]).coef_


def fit_exposed(table: dict[str, list[Any]]) -> Any:
    model = tacit.PoissonRegressor(
        epsilon=1.0, bounds=([1, -5], [100, 5]), y_max=3, exposure_bounds=(0.5, 2), invalid_rows="zero", random_state=1
    )
    X = np.column_stack([cells()["age"], cells()["x"]])
    return model.fit(X, table["y"], exposure=table["w"]).coef_


def fit_table(data: Any, relation: str = "") -> Any:
    schema = tacit.Schema.parse(SCHEMA.format(relation=relation))
    fit = tacit.glm("y ~ age + x + ward", data, schema, epsilon=1.0, invalid_rows="zero", random_state=1)
    return fit.params.tolist()


def fit_frame(table: dict[str, list[Any]]) -> Any:
    # Of objects: where it looks for another type, pandas itself raises for some of the cells.
    objects = np.empty((N, len(table)), dtype=object)
    for place, column in enumerate(table.values()):
        for index, cell in enumerate(column):
            objects[index, place] = cell
    return fit_table(pd.DataFrame(objects, columns=[*table], dtype=object))


@pytest.mark.parametrize(
    ("fit", "column"),
    [
        *((fit_matrix, column) for column in ("x", "y", "w")),
        *((fit_frame, column) for column in ("age", "ward", "y", "w")),
        *((fit_exposed, column) for column in ("y", "w")),
        (fit_units, "y"),
    ],
)
def test_an_invalid_record_is_like_a_missing_one(fit: Callable[[Any], Any], column: str) -> None:
    reference = seen(lambda: fit(with_cell(column, None)))
    assert reference.kind == "fitted"
    for name in SAMPLE:
        assert seen(partial(fit, with_cell(column, CELLS[name]))) == reference, name


def test_a_record_whose_unit_has_no_name_is_left_out() -> None:
    reference = seen(lambda: fit_units(with_cell("id", None)))
    assert reference.kind == "fitted"
    for name in ("list", "dict", "rogue", "disguised", "object", "huge fraction", "array", "inf"):
        assert seen(partial(fit_units, with_cell("id", CELLS[name]))) == reference, name


def test_whatever_a_cell_is_the_outcome_is_of_one_kind() -> None:
    fits = (partial(fit_matrix, with_cell("x", cell)) for cell in CELLS.values())
    reference = seen(partial(fit_matrix, cells()))
    assert {(fit.kind, fit.said) for fit in map(seen, fits)} == {(reference.kind, reference.said)}


BROKEN = [
    *("no fields", "too few fields", "too many fields", "open quote", "open quote at the end"),
    *("one quote", "NUL", "lone CR", "UTF-16", "bytes of no UTF-8", "gzip", "long line"),
]


def write(path: Path, line: bytes | None) -> Path:
    lines = [",".join(map(str, row)).encode() for row in zip(*cells().values(), strict=True)]
    lines[PLACE : PLACE + 1] = [] if line is None else [line]
    path.write_bytes(b"\n".join([",".join(cells()).encode(), *lines]))
    return path


@pytest.mark.parametrize("relation", ["", ADD_REMOVE])
def test_a_broken_line_is_like_one_of_missing_cells(tmp_path: Path, relation: str) -> None:
    path = tmp_path / "a.csv"
    reference = seen(lambda: fit_table(write(path, b",,,,,"), relation))
    assert reference.kind == "fitted"
    for name in BROKEN:
        assert seen(partial(fit_table, write(path, LINES[name]), relation)) == reference
    without = seen(lambda: fit_table(write(path, None), relation))
    assert (without.kind, without.said) == (reference.kind, reference.said)


def test_p3_no_record_and_one_are_told_apart_by_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    header = ",".join(cells())
    contents = ["", "\n", "\n40,0.5,a,1,1,7", "\n40,0.5,a,1,1,7\n", '\n"', "\n\n"]
    found = set()
    for content in contents:
        path.write_text(header + content)
        fitted = seen(lambda: fit_table(path, ADD_REMOVE))
        found.add((fitted.kind, fitted.said))
    assert len(found) == 1
    assert next(iter(found))[0] == "fitted"


def coefficients(model: Any, X: Any, y: list[int]) -> Any:
    return model.fit(X, y).coef_


TABLES: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "numpy objects": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X, columns=["a", "b"]),
    "pandas without a type": lambda X: pd.DataFrame({"a": [*X[:, 0]], "b": [*X[:, 1]]}),
    "polars": lambda X: pl.DataFrame({"a": [*X[:, 0]], "b": [*X[:, 1]]}),
    "arrow": lambda X: pa.table({"a": [*X[:, 0]], "b": [*X[:, 1]]}),
    "csr": sp.csr_array,
    "lil": sp.lil_array,
}


@pytest.mark.parametrize("kind", TABLES)
def test_p3_no_record_and_one_are_told_apart_by_no_table(kind: str) -> None:
    found = set()
    for length in (0, 1, 2):
        X = TABLES[kind](np.full((length, 2), 0.5))
        model = tacit.LogisticRegression(
            epsilon=1.0,
            bounds=(0, 1),
            classes=[0, 1],
            relation="add-remove",
            n_at_least=100,
            invalid_rows="zero",
            random_state=1,
        )
        fitted = seen(partial(coefficients, model, X, [1] * length))
        found.add((fitted.kind, fitted.said))
    assert len(found) == 1
    assert next(iter(found))[0] == "fitted"
