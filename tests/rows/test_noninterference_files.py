"""No content of a record is noticed outside of its own row, in files too."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit.design.design import Design
from tacit.rows.sources.opening import open_source
from tests.rows.neighbours import DESIGNS, PLACE, Neighbours, Records, outcome, records, with_cell, without_record
from tests.rows.poison import CELLS, LINES, SCALARS

COLUMNS = [*records()]


def lines_of(table: Records) -> list[bytes]:
    """Lines as csv writes them; a cell with a line break is then no cell."""
    lines = []
    for cells in zip(*table.values(), strict=True):
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(["" if cell is None else cell for cell in cells])
        lines.append(text.getvalue().encode(errors="surrogatepass"))
    return lines


def with_line(line: bytes) -> list[bytes]:
    lines = lines_of(records())
    return [*lines[:PLACE], line, *lines[PLACE + 1 :]]


@pytest.fixture(params=["a.csv", "a.csv.gz"])
def open_lines(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[list[bytes]], Any]:
    path = tmp_path / request.param

    def opened(lines: list[bytes]) -> Any:
        content = b"\n".join([",".join(COLUMNS).encode(), *lines])
        path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
        return open_source(path, fewest=0)

    return opened


def whole_file(open_lines: Callable[[list[bytes]], Any], design: Design) -> Neighbours:
    tables = map(lines_of, (records(), without_record(), with_cell("y", None)))
    return Neighbours.of(open_lines, tables, design)


@pytest.mark.parametrize("design", DESIGNS)
def test_lines(open_lines: Callable[[list[bytes]], Any], design: str) -> None:
    whole = whole_file(open_lines, DESIGNS[design])
    seen = {name: whole.fault(with_line(line)) for name, line in LINES.items()}
    assert {name: fault for name, fault in seen.items() if fault} == {}


TEXTS = {
    name: cell
    for name, cell in CELLS.items()
    if type(cell) in {str, bytes, float, int, bool} and name != "integer of 5000 digits"
}


@pytest.mark.parametrize("column", COLUMNS)
def test_cells_of_text(open_lines: Callable[[list[bytes]], Any], column: str) -> None:
    """Written bare, as a careless writer would, and in quotes."""
    persons = column in {"id", "day"}
    whole = whole_file(open_lines, DESIGNS["persons" if persons else "records"])
    place = COLUMNS.index(column)
    faults = {}
    for name, cell in TEXTS.items():
        text = cell if isinstance(cell, bytes) else str(cell).encode(errors="surrogatepass")
        # A line break ends a record, whatever stands around it.
        text = text.replace(b"\n", b"")
        for quoted in (text, b'"' + text.replace(b'"', b'""') + b'"'):
            fields = lines_of(records())[PLACE].split(b",")
            fields[place] = quoted
            faults[name, quoted == text] = whole.fault(with_line(b",".join(fields)))
    assert {name: fault for name, fault in faults.items() if fault} == {}


def test_no_records_and_one_are_read_alike(open_lines: Callable[[list[bytes]], Any]) -> None:
    """P3: of a private number of records nothing is said."""
    for design in DESIGNS.values():
        for lines in ([], lines_of(records())[:1], [b""], [b"\xff"]):
            seen = outcome(partial(open_lines, lines), design, "zero", 0)
            assert (seen.kind, seen.said) == ("read", ())


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"

    def opened(table: Any) -> Any:
        parquet.write_table(table, path)
        return open_source(path, fewest=0)

    tried = 0
    for column in COLUMNS:
        persons = column in {"id", "day"}
        tables = map(pa.table, (records(), without_record(), with_cell("y", None)))
        whole = Neighbours.of(opened, tables, DESIGNS["persons" if persons else "records"])
        for name, cell in SCALARS.items():
            try:
                table = pa.table(with_cell(column, cell))
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                continue  # Arrow has one type for a column.
            assert whole.fault(table) == "", (column, name)
            tried += 1
        for cells in (text_of(records()[column], bad) for bad in (b"\xff", b"canary", b"")):
            table = pa.table({**records(), column: cells})
            assert whole.fault(table) == "", column
    assert tried > 80


def text_of(cells: list[Any], bad: bytes) -> Any:
    """A column of text with one that need not be UTF-8."""
    content = [str(cell).encode() for cell in cells]
    content[PLACE] = bad
    return pa.array(content, pa.binary()).view(pa.string())


@pytest.mark.parametrize("design", DESIGNS)
def test_no_records_of_parquet(tmp_path: Path, design: str) -> None:
    path = tmp_path / "a.parquet"
    for length in (0, 1):
        parquet.write_table(pa.table(records()).slice(0, length), path)
        seen = outcome(lambda: open_source(path, fewest=0), DESIGNS[design], "zero", 0)
        assert (seen.kind, seen.said, seen.length) == ("read", (), length)
