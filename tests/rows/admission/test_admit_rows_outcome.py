"""The door, for what stands behind the features: responses of every kind, weights, offsets."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pyarrow import parquet
from scipy.sparse import csr_array

from tacit.design.attached_columns import AttachedColumns, Offset, Weighting
from tacit.design.design import Column, Design
from tacit.design.factor import Numeric
from tacit.design.response import Absent, Binary, Classes, Continuous, Count, Response
from tacit.errors import DataError, SchemaError, SettingError
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage import store as store_module
from tacit.rows.storage.record_store import MemoryStore, ScratchStore, SparseStore
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import to_rows

RNG = np.random.default_rng(23)
ROWS = 501
# Multiples of 1/8: the same in float32, float64 and in decimal text.
X = RNG.integers(-40, 40, (ROWS, 2)) / 8
Y = RNG.integers(0, 5, ROWS)
WEIGHT = RNG.integers(0, 40, ROWS) / 8
TIME = RNG.integers(1, 400, ROWS) / 8
COLUMNS = tuple(Column(name, (Numeric(name),), -4.0, 3.0, -0.5, 3.5) for name in ("x0", "x1"))

RESPONSES: dict[str, Response] = {
    "binary": Binary("y", (0, 3)),
    "classes": Classes("y", (3, 0, 1, 2, 4)),
    "continuous": Continuous.of("y", 0.3, 3.1),
    "count": Count("y", 3.0),
    "absent": Absent(),
}
FULL = AttachedColumns(Weighting("w", 4.0), Offset("t", -1.0, 3.0, exposure=True))


def design_of(response: Response, attached: AttachedColumns = FULL) -> Design:
    return Design(COLUMNS, response, 1.2, attached=attached)


def content(store: Store) -> NDArray[Any]:
    with store:
        blocks = [store.block(index) for index in range(store.block_count)]
        return to_rows(np.concatenate(blocks), store.length)


def frame(**changed: Any) -> pd.DataFrame:
    cells = {"x0": X[:, 0], "x1": X[:, 1], "y": Y, "w": WEIGHT, "t": TIME} | changed
    return pd.DataFrame(cells)


def zeroed(data: Any, design: Design) -> NDArray[Any]:
    return content(admit(open_source(data), design, invalid_rows="zero", dtype=np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", list(RESPONSES))
def test_bits_do_not_depend_on_layout_or_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, dtype: Any
) -> None:
    design, table = design_of(RESPONSES[kind]), frame()
    table.to_csv(tmp_path / "a.csv", index=False)
    arrow = pa.table({name: table[name].to_numpy() for name in table.columns})
    parquet.write_table(arrow, tmp_path / "a.parquet", row_group_size=100)
    attached = {"w": WEIGHT.tolist(), "t": pl.Series(TIME)}
    sources = {
        "pandas": open_source(table),
        "polars": open_source(pl.DataFrame(table.to_dict("list"))),
        "matrix": open_source(X, Y, attached=attached),
        "fortran": open_source(np.asfortranarray(X), Y.astype(float), attached=attached),
        "lists": open_source(X.tolist(), Y.tolist(), attached=attached),
        "frame-and-columns": open_source(table[["x0", "x1"]], table["y"], attached=attached),
        "csv": open_source(tmp_path / "a.csv"),
        "parquet": open_source(tmp_path / "a.parquet"),
    }
    reference = content(admit(sources["pandas"], design, invalid_rows="zero", dtype=dtype, memory_limit=0))
    assert reference.shape == (ROWS, 6)
    for block_bytes in (4000, 1 << 22):
        monkeypatch.setattr(store_module, "BLOCK_BYTES", block_bytes)
        for name, source in sources.items():
            for limit in (0, 1 << 30):
                store = admit(source, design, invalid_rows="zero", dtype=dtype, memory_limit=limit)
                spilt = name in {"csv", "parquet"} and limit == 0
                assert isinstance(store, ScratchStore if spilt else MemoryStore)
                assert (store.width, store.layout.weighted, store.layout.shifted) == (3, True, True)
                assert content(store).tobytes() == reference.tobytes(), (name, limit)


@pytest.mark.parametrize(
    ("attached", "expected"),
    [
        (AttachedColumns(), [2.0]),
        (AttachedColumns(Weighting("w", 4.0)), [2.0, 0.25]),
        (AttachedColumns(offset=Offset("t", -3.0, 1.5)), [2.0, 1.5]),
        (AttachedColumns(Weighting("w", 4.0), Offset("t", -3.0, 9.0)), [2.0, 0.25, 7.0]),
    ],
)
def test_what_is_declared_stands_behind_the_response(attached: AttachedColumns, expected: list[float]) -> None:
    table = frame(y=[2] * ROWS, w=[1.0] * ROWS, t=[7.0] * ROWS)
    rows = zeroed(table, design_of(Count("y", 9.0), attached))
    assert rows.shape == (ROWS, 3 + len(expected))
    assert (rows[:, 3:] == expected).all()
    plain = zeroed(table, design_of(Count("y", 9.0), AttachedColumns()))
    assert np.ascontiguousarray(rows[:, :3]).tobytes() == plain[:, :3].tobytes()


@pytest.mark.parametrize(
    ("column", "far", "near"),
    [("x0", 1e6, 3.0), ("y", 1e6, 3.0), ("w", 1e6, 4.0), ("w", 1e308, 4.0), ("t", 1e300, 1e6)],
)
@pytest.mark.parametrize("intercept", [True, False])
def test_t02_a_cell_far_outside_equals_the_clipped_one(column: str, far: float, near: float, intercept: bool) -> None:
    design = Design(COLUMNS, Count("y", 3.0), 1.2, intercept, attached=FULL)
    tables = [frame(), frame()]
    for table, cell in zip(tables, (far, near), strict=True):
        table[column] = table[column].astype(float)
        table.loc[7, column] = cell
    stores = [zeroed(table, design) for table in tables]
    assert stores[0].tobytes() == stores[1].tobytes()
    assert stores[0][7].any()


def test_t11_prepared_weights_lie_in_the_unit_interval() -> None:
    attached = AttachedColumns(Weighting("w", 4.0, by_class=(1.0, 50.0, 2.0, 3.0, 4.0)))
    for dtype in (np.float32, np.float64):
        source = open_source(frame(w=RNG.lognormal(0, 20, ROWS)))
        rows = content(admit(source, design_of(RESPONSES["classes"], attached), dtype=dtype))
        assert ((rows[:, 4] >= 0) & (rows[:, 4] <= 1)).all()
        assert rows[:, 4].max() == 1


INVALID = [
    ("count", "y", -1.0),
    ("count", "y", np.nan),
    ("continuous", "y", np.inf),
    ("classes", "y", 31337.0),
    ("absent", "w", -31337.0),
    ("absent", "w", np.nan),
    ("absent", "t", 0.0),
    ("absent", "t", -31337.0),
    ("absent", "t", np.inf),
]


@pytest.mark.parametrize(("kind", "column", "cell"), INVALID)
def test_t40_an_invalid_record_is_zero_with_its_weight(kind: str, column: str, cell: float) -> None:
    design = design_of(RESPONSES[kind])
    table = frame()
    table[column] = table[column].astype(float)
    table.loc[7, column] = cell
    expected = zeroed(frame(), design)
    expected[7] = 0.0
    assert zeroed(table, design).tobytes() == expected.tobytes()
    assert expected[8].any()


@pytest.mark.parametrize(("kind", "column", "cell"), INVALID)
def test_t41_an_invalid_record_is_refused_by_public_facts(kind: str, column: str, cell: float) -> None:
    texts = []
    for changed, value in ((column, cell), ("x0", np.nan)):
        table = frame()
        table[changed] = table[changed].astype(float)
        table.loc[7, changed] = value
        with pytest.raises(DataError, match="Weights must be numbers >= 0") as caught:
            admit(open_source(table), design_of(RESPONSES[kind]))
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        texts.append(str(caught.value))
    # The same words whichever cell it was, so they tell nothing of the records.
    assert texts[0] == texts[1]
    assert ("Counts must be numbers >= 0" in texts[0]) == (kind == "count")
    assert "7" not in texts[0]


@pytest.mark.parametrize("kind", list(RESPONSES))
def test_t08_no_record_changes_another(kind: str) -> None:
    design = design_of(RESPONSES[kind])
    reference = zeroed(frame(), design)
    order = RNG.permutation(ROWS)
    assert zeroed(frame().iloc[order], design).tobytes() == reference[order].tobytes()
    for first in (1, 2, 250):
        assert zeroed(frame().iloc[first:], design).tobytes() == reference[first:].tobytes()


def test_sparse_tables_take_the_same_columns_beside_them() -> None:
    columns = tuple(Column(name, (Numeric(name),), -4.0, 4.0, 0.0, 4.0) for name in ("x0", "x1"))
    design = Design(columns, Count("y", 3.0), 1.2, attached=FULL)
    attached = {"w": WEIGHT, "t": TIME}
    dense = content(admit(open_source(X, Y, attached=attached), design))
    with admit(open_source(csr_array(X), Y, attached=attached), design) as store:
        assert isinstance(store, SparseStore)
        assert (store.layout.weighted, store.layout.shifted) == (True, True)
        tiles = np.concatenate([store.block(index).dense(store.width) for index in range(store.block_count)])
        assert (to_rows(tiles, store.length) == dense).all()
    holed = np.where(np.arange(ROWS) == 7, np.nan, WEIGHT)
    with pytest.raises(DataError, match="Weights must be numbers >= 0"):
        admit(open_source(csr_array(X), Y, attached=attached | {"w": holed}), design)


def test_mean_estimation_needs_no_response() -> None:
    store = admit(open_source(X), design_of(Absent(), AttachedColumns()))
    assert (content(store)[:, 3] == 0).all()


@pytest.mark.parametrize("missing", ["y", "w", "t"])
def test_unknown_columns_are_named_with_the_known_ones(missing: str) -> None:
    with pytest.raises(SchemaError, match=f"no column '{missing}'.*'x0', 'x1'"):
        admit(open_source(frame().drop(columns=missing)), design_of(RESPONSES["count"]))


def test_t11_class_weights_of_another_response_are_refused_before_reading() -> None:
    attached = AttachedColumns(Weighting(by_class=(1.0, 2.0)))
    with pytest.raises(SettingError, match="one weight for each"):
        admit(open_source(frame()), design_of(RESPONSES["count"], attached))
