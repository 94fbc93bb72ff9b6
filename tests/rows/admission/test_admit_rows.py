import gzip
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pyarrow import parquet

from tacit.design.design import Column, Design, matrix_design
from tacit.design.factor import Indicator, Numeric
from tacit.design.response import Binary
from tacit.errors import DataError, FileError, SchemaError, SettingError
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import Batch, Source
from tacit.rows.storage import store as store_module
from tacit.rows.storage.record_store import MemoryStore, ScratchStore
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import to_rows

RNG = np.random.default_rng(17)
# Multiples of 1/8 of moderate size: the same in float32, float64 and in decimal text.
X = RNG.integers(-40, 40, size=(501, 4)) / 8
Y = RNG.integers(0, 2, size=501)
NAMES = ("x0", "x1", "x2", "x3")


def design_of(**facts: Any) -> Design:
    given: dict[str, Any] = {"bounds": (-4, 3), "row_norm": 1.5, "intercept": True} | facts
    return matrix_design(NAMES, Binary("y", (0, 1)), **given)


DESIGN = design_of()


def content(store: Store) -> NDArray[Any]:
    with store:
        blocks = [store.block(index) for index in range(store.block_count)]
        return to_rows(np.concatenate(blocks), store.length)


def admitted(data: Any, response: Any = None, **settings: Any) -> NDArray[Any]:
    return content(admit(open_source(data, response), DESIGN, **settings))


def frame() -> pd.DataFrame:
    return pd.DataFrame(X, columns=list(NAMES)).assign(y=Y)


def layouts(folder: Path) -> dict[str, tuple[Any, Any]]:
    table = frame()
    table.to_csv(folder / "a.csv", index=False)
    (folder / "b.csv.gz").write_bytes(gzip.compress((folder / "a.csv").read_bytes()))
    arrow = pa.table({name: table[name].to_numpy() for name in table.columns})
    parquet.write_table(arrow, folder / "c.parquet", row_group_size=100)
    wide = np.zeros((1002, 8))
    wide[::2, ::2] = X
    return {
        "c-order": (X, Y),
        "f-order": (np.asfortranarray(X), Y),
        "strided": (wide[::2, ::2], Y),
        "float32": (X.astype(np.float32), Y.astype(bool)),
        "lists": (X.tolist(), Y.tolist()),
        "objects": (X.astype(object), Y.astype(str)),
        "pandas": (table, None),
        "pandas-and-y": (table[list(NAMES)], table["y"]),
        "pandas-reordered": (table[["y", *reversed(NAMES)]], None),
        "polars": (pl.DataFrame(table.to_dict("list")), None),
        "arrow": (arrow, None),
        "csv": (folder / "a.csv", None),
        "gzip": (folder / "b.csv.gz", None),
        "parquet": (folder / "c.parquet", None),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_do_not_depend_on_the_layout(tmp_path: Path, dtype: Any) -> None:
    reference = admitted(X, Y, dtype=dtype)
    assert reference.dtype == dtype
    assert reference.shape == (501, 6)
    for kind, (data, response) in layouts(tmp_path).items():
        assert admitted(data, response, dtype=dtype).tobytes() == reference.tobytes(), kind


@pytest.mark.parametrize("block_bytes", [1, 1000, 10_000])
@pytest.mark.parametrize("kind", ["c-order", "polars", "csv", "parquet"])
def test_bits_do_not_depend_on_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int, kind: str
) -> None:
    reference = admitted(X, Y)
    data, response = layouts(tmp_path)[kind]
    monkeypatch.setattr(store_module, "BLOCK_BYTES", block_bytes)
    for limit in (0, 1 << 30):
        assert admitted(data, response, memory_limit=limit).tobytes() == reference.tobytes()


def test_t08_permuted_dropped_and_added_rows_leave_the_others_alone() -> None:
    reference = admitted(X, Y)
    order = RNG.permutation(len(X))
    assert admitted(X[order], Y[order]).tobytes() == reference[order].tobytes()
    for first in (1, 2, 250):
        assert admitted(X[first:], Y[first:]).tobytes() == reference[first:].tobytes()
    longer = admitted(np.vstack([X, 1e9 * X[:1]]), np.append(Y, 0))
    assert longer[:-1].tobytes() == reference.tobytes()


@pytest.mark.parametrize("intercept", [True, False])
def test_t02_a_row_outside_the_bounds_equals_the_clipped_row(intercept: bool) -> None:
    design = design_of(intercept=intercept)
    far, near = X.copy(), X.copy()
    far[7], near[7] = [1e6, -1e6, 1e308, 0.5], [3.0, -4.0, 3.0, 0.5]
    stores = [content(admit(open_source(data, Y), design)) for data in (far, near)]
    assert stores[0].tobytes() == stores[1].tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_t40_invalid_rows_become_zero_and_are_kept(value: float) -> None:
    data = X.copy()
    data[7, 2] = value
    expected = admitted(X, Y)
    expected[7] = 0.0
    assert admitted(data, Y, invalid_rows="zero").tobytes() == expected.tobytes()


def test_t41_invalid_rows_are_refused_without_a_trace() -> None:
    """And in the same words, whichever record and cell is to blame."""
    said = set()
    for row, column, value in ((7, 2, np.nan), (8, 0, np.inf), (0, 1, -np.inf)):
        data = X.copy()
        data[row, column] = value
        with pytest.raises(DataError, match='invalid_rows="zero"') as caught:
            admitted(data, Y)
        said.add(str(caught.value))
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
    assert len(said) == 1


def test_t37_labels_come_from_the_declaration() -> None:
    columns = (
        Column("age", (Numeric("age"),), 0.0, 8.0, 4.0, 4.0),
        Column("ward[b]", (Indicator("ward", "b"),), 0.0, 1.0, 0.0, 1.0),
    )
    design = Design(columns, Binary("out", ("n", "p")), 2.0, levels={"ward": ("a", "b")})
    data = {"age": [8.0, 4.0, 4.0, 4.0], "ward": ["b", "a", "z", "a"], "out": ["p", "n", "p", "q"]}
    expected = [[1, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    for table in (pd.DataFrame(data), pl.DataFrame(data), pa.table(data)):
        store = admit(open_source(table), design, invalid_rows="zero")
        assert content(store).tolist() == expected
        with pytest.raises(DataError):
            admit(open_source(table), design)


def test_unknown_columns_are_named_with_the_known_ones() -> None:
    with pytest.raises(SchemaError, match=r"'y'\. It has: 'x0', 'x1', 'x2', 'x3'"):
        admit(open_source(X), DESIGN)


@pytest.mark.parametrize("settings", [{"invalid_rows": "drop"}, {"dtype": np.float16}])
def test_settings_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        admitted(X, Y, **settings)


@pytest.mark.parametrize(("records", "text"), [("", "fewer than 2 records"), ("1,1,1,1,0\n", "fewer than 2")])
def test_t08_short_files(tmp_path: Path, records: str, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x0,x1,x2,x3,y\n" + records)
    with pytest.raises(DataError, match="fewer than 2 records"):
        admitted(path)


def nameless_files() -> int:
    """Open files that no folder lists: scratch files."""
    links = (str(entry.resolve()) for entry in Path("/proc/self/fd").iterdir())
    return sum(link.endswith("(deleted)") for link in links)


@dataclass(frozen=True)
class BrokenSource(Source):
    """A source on disk that hands out all its records and fails then."""

    table: Source

    def batches(self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]) -> Iterator[Batch]:
        yield from self.table.batches(rows, numeric=numeric, labels=labels)
        assert nameless_files() == self.before + 1
        raise FileError("broken")

    before: int = field(default_factory=nameless_files)


def test_the_scratch_file_is_closed_where_reading_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "BLOCK_BYTES", 1000)
    table = open_source(frame())
    source = BrokenSource(table, names=table.names, resident=False)
    with pytest.raises(FileError, match="broken") as caught:
        admit(source, DESIGN, memory_limit=0)
    # While the error lives, so do the frames that held the file: closing frees it, not collection.
    assert nameless_files() == source.before
    del caught


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    lines = "".join(f"{a},{b},1,1,0\n" for a, b in RNG.normal(size=(60_000, 2)))
    packed = gzip.compress(("x0,x1,x2,x3,y\n" + lines).encode(), compresslevel=1)
    path.write_bytes(packed[: len(packed) - 1000])
    with pytest.raises(FileError, match=r"a\.csv\.gz"):
        admit(open_source(path), DESIGN, memory_limit=0)


def test_files_spill_and_memory_stays_flat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "BLOCK_BYTES", 1 << 16)
    rows = 200_000
    table = {name: np.zeros(rows, dtype=np.float32) for name in NAMES} | {"y": np.zeros(rows, int)}
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table(table), path, row_group_size=10_000)
    source = open_source(path)
    admit(source, DESIGN, memory_limit=0).close()
    tracemalloc.start()
    store = admit(source, DESIGN, memory_limit=1 << 18)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with store:
        assert isinstance(store, ScratchStore)
        assert store.length == rows
    assert peak < 1_500_000 < rows * 6 * 4


def test_progress_tells_nothing_of_the_records() -> None:
    calls: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, label: str) -> None:
        calls.append((done, total, label))

    admitted(X, Y, progress=progress)
    assert calls == [(0, 1, "reading records"), (1, 1, "reading records")]


def test_the_subsample_stands_first_in_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row goes with its response and its byte; the bits of a record are those of before."""
    monkeypatch.setattr(store_module, "BLOCK_BYTES", 4096)
    X, y = np.random.default_rng(3).uniform(0, 1, (1000, 2)), np.arange(1000) % 2
    drawn = np.random.default_rng(4).integers(0, 256, 1000, dtype=np.uint8)
    source = open_source(X, response=y)
    design = matrix_design(source.names, Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    plain = admit(source, design)
    sampled = admit(source, design, draw=lambda count: drawn[:count])
    assert isinstance(sampled, MemoryStore)
    assert sampled.subsample is not None
    assert sampled.block_count > 3
    rows = sampled.layout.block_rows
    for index in range(sampled.block_count):
        part = slice(index * rows, min((index + 1) * rows, 1000))
        order = np.argsort(drawn[part] >= 64, kind="stable")
        length = part.stop - part.start
        before, after = (to_rows(store.block(index), length) for store in (plain, sampled))
        assert (after == before[order]).all()
        assert sampled.subsample[index] == (drawn[part] < 64).sum()
    assert isinstance(plain, MemoryStore)
    assert plain.subsample is None
