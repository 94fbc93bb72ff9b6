"""No content of a record is noticed outside of its own row where files, codes and dates are declared (U8, P1, P2)."""

from __future__ import annotations

import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from tacit.design.reading import FileFormat
from tacit.formula.formula import design_from_formula
from tacit.rows.sources.opening import open_source
from tacit.schema.schema import Schema
from tests.rows import neighbours
from tests.rows.neighbours import PLACE, ROWS, Neighbours, Records, outcome
from tests.rows.poison import CELLS, LINES

SCHEMA = Schema.parse("""
missing_codes = [-99, "n.a.", "?"]
[columns.age]
type = "numeric"
lower = 1
upper = 100
missing = 40
[columns.x]
type = "numeric"
lower = -5
upper = 5
missing_codes = [9]
[columns.ward]
type = "factor"
levels = ["a", "b"]
missing = "a"
other = "b"
missing_codes = ["unknown"]
[columns.y]
type = "binary"
[columns.day]
type = "date"
lower = 2015-01-01
upper = 2024-12-31
missing = 2020-01-01
format = "%d.%m.%Y"
unit = "years"
missing_codes = ["01.01.1900"]
""")
DESIGN = design_from_formula("y ~ age + x + ward + day", SCHEMA)
COLUMNS = ("age", "x", "ward", "y", "day")
FORMATS = [FileFormat(";", ",", "cp1252"), FileFormat("\t", ",", "euc_jp"), FileFormat("|", ".", "utf-8")]


def records() -> Records:
    table = {name: cells for name, cells in neighbours.records().items() if name in COLUMNS}
    return {**table, "day": [dt.date(2015, 1, 1) + dt.timedelta(days=97 * i) for i in range(ROWS)]}


def with_cell(column: str, cell: Any) -> Records:
    table = records()
    table[column][PLACE] = cell
    return table


def without_record() -> Records:
    return {name: [*cells[:PLACE], *cells[PLACE + 1 :]] for name, cells in records().items()}


def line_of(cells: list[Any], written: FileFormat) -> bytes:
    def spelt(cell: Any) -> str:
        if isinstance(cell, dt.date):
            return cell.strftime("%d.%m.%Y")
        return str(cell).replace(".", written.decimal) if isinstance(cell, float) else "" if cell is None else str(cell)

    return (written.delimiter or ",").join(map(spelt, cells)).encode()


def lines_of(table: Records, written: FileFormat) -> list[bytes]:
    return [line_of(list(cells), written) for cells in zip(*table.values(), strict=True)]


@pytest.fixture(params=["a.csv", "a.txt.gz"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def opener(path: Path, written: FileFormat) -> Callable[[list[bytes]], Any]:
    reading = DESIGN.reading.__class__(
        written, *(getattr(DESIGN.reading, n) for n in ("missing_codes", "codes", "dates"))
    )

    def opened(lines: list[bytes]) -> Any:
        content = b"\n".join([(written.delimiter or ",").join(COLUMNS).encode(), *lines])
        path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
        return open_source(path, fewest=0, reading=reading)

    return opened


def whole_file(path: Path, written: FileFormat) -> Neighbours:
    tables = (records(), without_record(), with_cell("y", None))
    return Neighbours.of(opener(path, written), [lines_of(table, written) for table in tables], DESIGN)


def with_line(line: bytes, written: FileFormat) -> list[bytes]:
    lines = lines_of(records(), written)
    return [*lines[:PLACE], line.replace(b"\n", b""), *lines[PLACE + 1 :]]


@pytest.mark.parametrize("written", FORMATS, ids=lambda it: it.encoding)
def test_lines(place: Path, written: FileFormat) -> None:
    whole = whole_file(place, written)
    mark = (written.delimiter or ",").encode()
    lines = {**LINES, **{f"{name}, parted": line.replace(b",", mark) for name, line in LINES.items()}}
    lines["half a letter at the end"] = line_of([40, 0.5, "a", 1, "x"], written)[:-1] + b"\x8f"
    faults = {name: whole.fault(with_line(line, written)) for name, line in lines.items()}
    assert {name: fault for name, fault in faults.items() if fault} == {}


ODD = ["-99", "-99.0", "n.a.", "?", "unknown", "9", "01.01.1900", "31.02.2020", "00.00.0000", "1.1.20201", "32.1.2020"]


@pytest.mark.parametrize("column", COLUMNS)
def test_cells_of_text(place: Path, column: str) -> None:
    written = FORMATS[0]
    whole = whole_file(place, written)
    faults = {}
    texts = [*ODD, *(str(cell) for cell in CELLS.values() if type(cell) in {str, float, bool})]
    for text in texts:
        for quoted in (text, '"' + text.replace('"', '""') + '"'):
            cells: list[Any] = [cell[PLACE] for cell in records().values()]
            cells[COLUMNS.index(column)] = quoted
            line = line_of([cell if cell is not None else "" for cell in cells], written) if quoted.isascii() else b""
            faults[quoted] = whole.fault(with_line(line, written))
    assert {name: fault for name, fault in faults.items() if fault} == {}


@hypothesis.given(line=st.binary(max_size=60), written=st.sampled_from(FORMATS))
@hypothesis.settings(max_examples=60)
def test_any_bytes_are_one_record(line: bytes, written: FileFormat, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("bytes") / "a.csv"
    assert whole_file(path, written).fault(with_line(line, written)) == ""


def frames() -> dict[str, Callable[[Records], Any]]:
    return {
        "pandas": lambda table: pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in table.items()}),
        "polars": lambda table: pl.DataFrame([pl.Series(n, c, dtype=pl.Object) for n, c in table.items()]),
    }


@pytest.mark.parametrize("library", frames())
@pytest.mark.parametrize("column", COLUMNS)
def test_cells_of_objects(library: str, column: str) -> None:
    def opened(table: Records) -> Any:
        return open_source(frames()[library](table), fewest=0, reading=DESIGN.reading)

    whole = Neighbours.of(opened, (records(), without_record(), with_cell("y", None)), DESIGN)
    faults = {name: whole.fault(with_cell(column, cell)) for name, cell in CELLS.items()}
    assert {name: fault for name, fault in faults.items() if fault} == {}


def test_an_odd_record_is_as_if_it_were_blank(place: Path) -> None:
    """The outcome of a file with one odd record is that of the file with a record that is invalid."""
    written = FORMATS[0]
    opened = opener(place, written)
    blank = outcome(lambda: opened(with_line(b"", written)), DESIGN, "zero", 0)
    for odd in (
        b"40;1,5;a;1;1.1.2020;7",
        b"40;1.5;a;1;01.01.2020",
        b"40;1,5;a;1;30.02.2020",
        b'4"0;1,5;a;1;01.01.2020',
    ):
        seen = outcome(lambda odd=odd: opened(with_line(odd, written)), DESIGN, "zero", 0)  # type: ignore[misc]
        assert seen == blank


TYPED: dict[str, Callable[[list[Any]], Any]] = {
    "arrow date32": lambda days: pa.table({**records(), "day": pa.array(days, pa.date32())}),
    "arrow date64": lambda days: pa.table({**records(), "day": pa.array(days, pa.date64())}),
    "arrow timestamp": lambda days: pa.table(
        {**records(), "day": pa.array(days, pa.date32()).cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))}
    ),
    "arrow text": lambda days: pa.table(
        {**records(), "day": [None if d is None else d.strftime("%d.%m.%Y") for d in days]}
    ),
    "pandas datetime64": lambda days: pd.DataFrame({**records(), "day": pd.to_datetime(pd.Series(days))}),
    "pandas with a zone": lambda days: pd.DataFrame(
        {**records(), "day": pd.to_datetime(pd.Series(days)).dt.tz_localize("UTC")}
    ),
    "polars date": lambda days: pl.DataFrame({**records(), "day": pl.Series(days, dtype=pl.Date)}),
    "polars datetime": lambda days: pl.DataFrame({**records(), "day": pl.Series(days, dtype=pl.Datetime("ns"))}),
}


@pytest.mark.parametrize("kind", TYPED)
def test_dates_are_the_same_numbers_whatever_their_type(kind: str, tmp_path: Path) -> None:
    days = [*records()["day"][:-2], None, dt.date(1850, 5, 5)]
    lines = lines_of({**records(), "day": days}, FORMATS[0])
    reference = outcome(lambda: opener(tmp_path / "a.csv", FORMATS[0])(lines), DESIGN, "zero", 0)
    seen = outcome(lambda: open_source(TYPED[kind](days), fewest=0, reading=DESIGN.reading), DESIGN, "zero", 0)
    assert seen == reference
    assert np.isfinite(seen.length)
