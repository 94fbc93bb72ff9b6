"""Admission by person: from any source the same rows, whatever the order of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from tacit.design.attached_columns import AttachedColumns, Unit, Weighting
from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary, Continuous
from tacit.errors import DataError, SchemaError
from tacit.rows.admission import admit_rows as admission
from tacit.rows.admission.admit_rows import admit
from tacit.rows.admission.clip_and_scale import rescale
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.person_store import PersonStore

NAMES = ("age", "dose")


def design_of(unit: Unit, *, bounds: Any = (0, 10), weighted: bool = False) -> Design:
    design = matrix_design(NAMES, Binary("y", (0, 1)), bounds=bounds, row_norm=None, intercept=True)
    return replace(design, attached=AttachedColumns(Weighting("w", 2.0) if weighted else None, None, unit))


def frame(n: int = 300, persons: int = 70, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "who": rng.integers(0, persons, n),
            "day": rng.integers(0, 5, n),
            "age": rng.uniform(0, 10, n),
            "dose": rng.uniform(-3, 13, n),
            "y": rng.integers(0, 2, n),
            "w": rng.uniform(0, 2, n),
        }
    )


def records(store: Any) -> set[tuple[bytes, ...]]:
    """The persons, each as the bits of their rows in order of their slots."""
    assert isinstance(store, PersonStore)
    found = []
    for index in range(store.block_count):
        block = store.block(index)
        for g in range(len(block.counts)):
            slots = block.tiles[block.starts[g] : block.starts[g + 1]]
            for lane in np.flatnonzero(block.counts[g]):
                rows = slots[: block.counts[g, lane], :, lane]
                found.append(tuple(row.tobytes() for row in rows))
    assert len(found) == store.length
    return set(found)


def by_csv(table: pd.DataFrame, folder: Path) -> Any:
    table.to_csv(folder / "t.csv", index=False)
    return open_source(folder / "t.csv")


def by_parquet(table: pd.DataFrame, folder: Path) -> Any:
    table.to_parquet(folder / "t.parquet", row_group_size=37)
    return open_source(folder / "t.parquet")


SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda table, _: open_source(table),
    "polars": lambda table, _: open_source(pl.from_pandas(table)),
    "csv": by_csv,
    "parquet": by_parquet,
    "text labels": lambda table, _: open_source(table.assign(who=table["who"].map("{}.0".format))),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("order", [None, "day"])
def test_t08_any_source_in_any_order_has_the_same_persons(
    source: str, order: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = design_of(Unit("who", 3, order), weighted=True)
    table = frame()
    expected = records(admit(open_source(table), design))
    assert max(map(len, expected)) == 3
    monkeypatch.setattr(admission, "default_block_rows", lambda *_: 64)
    shuffled = table.sample(frac=1, random_state=1).reset_index(drop=True)
    store = admit(SOURCES[source](shuffled, tmp_path), design)
    assert store.length == table["who"].nunique()
    assert records(store) == expected


def test_a_matrix_a_sparse_matrix_and_arrays_beside_them() -> None:
    table = frame()
    X, y = table[["age", "dose"]].to_numpy(), table["y"].to_numpy()
    attached = {"unit": table["who"].to_numpy(), "order": table["day"].to_numpy()}
    design = matrix_design(("x0", "x1"), Binary("y", (0, 1)), bounds=(0, 10), row_norm=None, intercept=True)
    design = replace(design, attached=AttachedColumns(unit=Unit("unit", 2, "order")))
    dense = admit(open_source(X, y, attached=attached), design)
    sparse = admit(open_source(scipy.sparse.csr_array(X), y, attached=attached), design)
    assert records(dense) == records(sparse)


def test_the_smallest_order_is_kept() -> None:
    table = pd.DataFrame({"who": ["a", "b", "a", "a"], "day": [3, 1, 1, 2], "age": [1, 2, 3, 4.0], "dose": 5.0}).assign(
        y=[0, 1, 0, 1]
    )
    store = admit(open_source(table), design_of(Unit("who", 2, "day")), dtype=np.float64)
    block: Any = store.block(0)
    np.testing.assert_allclose(block.tiles[:, 0, 0] * 5 + 5, [3, 4])
    assert block.counts[0, :3].tolist() == [2, 1, 0]


def test_the_same_records_are_kept_in_either_precision() -> None:
    table = frame(2000, 90)
    design = design_of(Unit("who", 2))
    single = admit(open_source(table), design)
    double = admit(open_source(table), design, dtype=np.float64)
    rounded = {tuple(np.frombuffer(row).astype(np.float32).tobytes() for row in person) for person in records(double)}
    assert records(single) == rounded


def test_t35_a_person_is_kept_at_their_most_records_whatever_they_bring() -> None:
    table = frame()
    heavy = pd.concat([table, frame(1000).assign(who=7)], ignore_index=True)
    design = design_of(Unit("who", 3))
    before, after = (records(admit(open_source(t), design)) for t in (table, heavy))
    assert len(before - after) == len(after - before) <= 1
    assert max(map(len, after)) == 3


def spoilt(**cells: Any) -> pd.DataFrame:
    table = frame().astype({"who": object})
    for name, value in cells.items():
        table[name] = table[name].astype(object if name == "who" else float)
        table.loc[0, name] = value
    return table


@pytest.mark.parametrize(
    "cells", [{"who": None}, {"who": ""}, {"day": np.nan}, {"day": np.inf}, {"age": np.nan}], ids=str
)
def test_t41_invalid_records_are_refused_without_a_word_about_them(cells: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="Every record must say whose it is") as caught:
        admit(open_source(spoilt(**cells)), design_of(Unit("who", 3, "day")))
    assert not any(character.isdigit() for character in str(caught.value))


@pytest.mark.parametrize("cells", [{"who": None}, {"day": np.nan}, {"age": np.nan}], ids=str)
def test_t40_invalid_records_are_left_out_where_they_may_be(cells: dict[str, Any]) -> None:
    design, table = design_of(Unit("who", 300, "day")), frame()
    zeroed = admit(open_source(spoilt(**cells)), design, invalid_rows="zero")
    without = admit(open_source(table.drop(0)), design)
    # The person has other records, so leaving this one out leaves the number of persons.
    assert (table["who"] == table["who"][0]).sum() > 1
    assert records(zeroed) == records(without)


def test_a_person_without_a_valid_record_remains_a_person() -> None:
    table = frame()
    table.loc[table["who"] == 5, "age"] = np.nan
    store = admit(open_source(table), design_of(Unit("who", 3)), invalid_rows="zero")
    assert store.length == table["who"].nunique()
    assert (bytes(4 * 4),) in records(store)
    assert sum(not any(map(any, person)) for person in records(store)) == 1


def test_two_persons_are_needed() -> None:
    table = frame().assign(who=1)
    with pytest.raises(DataError, match="fewer than 2 persons"):
        admit(open_source(table), design_of(Unit("who", 3)))
    with pytest.raises(DataError, match="fewer than 2 persons"):
        admit(open_source(table.assign(who=None)), design_of(Unit("who", 3)), invalid_rows="zero")


def test_columns_that_are_not_there_are_named() -> None:
    with pytest.raises(SchemaError, match="patient"):
        admit(open_source(frame()), design_of(Unit("patient", 3)))
    with pytest.raises(SchemaError, match="hour"):
        admit(open_source(frame()), design_of(Unit("who", 3, "hour")))


@pytest.mark.parametrize("source", ["pandas", "csv", "parquet"])
def test_a_feature_may_order_records_and_outside_of_csv_name_persons(source: str, tmp_path: Path) -> None:
    unit = Unit("who", 2, "age") if source == "csv" else Unit("age", 2, "age")
    store = admit(SOURCES[source](frame(), tmp_path), design_of(unit))
    assert store.length == frame()[unit.column].nunique()


def test_records_that_await_their_bounds_are_prepared_as_those_of_declared_ones() -> None:
    """With an order the same records are kept; without one those that were chosen as they came."""
    table = frame().assign(day=np.random.default_rng(0).permutation(300))
    table.loc[3, "dose"] = np.nan
    closed = design_of(Unit("who", 3, "day"))
    opened = design_of(Unit("who", 3, "day"), bounds="private")
    raw = admit(open_source(table), opened, invalid_rows="zero")
    assert raw.opened == opened
    prepared = rescale(raw, closed)
    assert isinstance(prepared, PersonStore)
    assert prepared.opened is None
    assert records(prepared) == records(admit(open_source(table), closed, invalid_rows="zero"))
    block = prepared.block(0)
    assert not block.tiles[-1][:, block.counts[-1] == 0].any()


def test_a_response_that_awaits_its_bounds() -> None:
    table = frame().assign(day=np.random.default_rng(0).permutation(300))
    response = Continuous.opened("w")
    design = matrix_design(NAMES, response, bounds=(0, 10), row_norm=None, intercept=True)
    opened = replace(design, attached=AttachedColumns(unit=Unit("who", 2, "day")))
    assert opened.open_places == (3,)
    closed = replace(opened, response=Continuous.of("w", 0.0, 2.0))
    found = rescale(admit(open_source(table), opened), closed)
    assert records(found) == records(admit(open_source(table), closed))
