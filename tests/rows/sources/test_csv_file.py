import csv
import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import DataError, FileError, SchemaError, TacitError
from tacit.rows.encoding.cells import text_number
from tacit.rows.sources.csv_file import CsvSource
from tacit.rows.sources.opening import open_source

CANARY = "31337"


def read(path: Path, rows: int = 1000) -> tuple[NDArray[np.float64], list[object]]:
    batches = list(open_source(path).batches(rows, numeric=("a",), labels=("y",)))
    numbers = np.concatenate([batch.numeric(("a",))[:, 0] for batch in batches])
    return numbers, [label for batch in batches for label in batch.labels("y")]


def test_spellings_of_numbers_and_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b,y\n1e3,x,0\n,,NA\nNA,"q, r",1.0\n-0.5,z,\n')
    numbers, labels = read(path)
    np.testing.assert_array_equal(numbers, [1000.0, np.nan, np.nan, -0.5])
    assert labels == ["0", "NA", "1.0", ""]


def test_types_are_not_inferred_from_values(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,y\n1,007\n2,2020-01-01\n")
    assert read(path)[1] == ["007", "2020-01-01"]


def test_batches_are_short_and_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"".join(b"%d,1\n" % i for i in range(10))))
    source = open_source(path)
    for _ in range(2):
        batches = list(source.batches(4, numeric=("a",), labels=("y",)))
        assert [batch.length for batch in batches] == [4, 4, 2]
    assert read(path)[0].tolist() == list(range(10))


def assert_silent(error: TacitError) -> None:
    assert CANARY not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None


def test_truncated_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    rng = np.random.default_rng(1)
    packed = gzip.compress(b"a,y\n" + b"".join(b"%d,1\n" % i for i in rng.integers(1 << 40, size=9999)))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FileError, match=r"a\.csv\.gz") as caught:
        read(path)
    assert_silent(caught.value)


def test_change_between_passes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,y\n1,0\n2,1\n")
    source = open_source(path)
    list(source.batches(10, numeric=("a",), labels=("y",)))
    path.write_text("a,y\n1,0\n2,1\n3,1\n")
    with pytest.raises(FileError, match="changed"):
        list(source.batches(10, numeric=("a",), labels=("y",)))


def test_one_column_has_one_use(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,y\n1,0\n")
    with pytest.raises(SchemaError, match="'a'"):
        list(CsvSource.open(path, None).batches(10, numeric=("a",), labels=("a",)))


def test_repeated_names_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,a\n1,0\n")
    with pytest.raises(DataError, match="'a'"):
        open_source(path)


SPELLINGS = [
    *("1", "+1", "-2.5", "1.", ".5", "1e5", "1E-5", "00012", " 3 ", "\t4", "5e-324", "1e999"),
    *("1e99999999999", "9" * 400, "", "NA", '"NA"', '"1.5"', "nan", "inf", "-Infinity", "NAN"),
    *("0.1", "123456789.123456789", "True", "FALSE", "x", "1e", "0x10", '"1,5"', "１", "--1", "."),
    *(" NA", "nan(7)", "\ufeff1", "1 2", "1\u00a0", "+", "1e400", "-0", "1e-400", '""""', "Infinity"),
]


def numbers_of(path: Path) -> NDArray[np.float64]:
    batches = open_source(path).batches(1 << 20, numeric=("a",), labels=("y",))
    return np.concatenate([batch.numeric(("a",))[:, 0] for batch in batches])


def test_a_cell_is_read_alike_alone_and_among_others(tmp_path: Path) -> None:
    """Alone pyarrow reads a number, or the cell is read as text; beside others all are text."""
    path = tmp_path / "a.csv"
    alone = []
    for cell in SPELLINGS:
        path.write_text(f"a,y\n{cell},1\n", encoding="utf-8")
        alone.append(numbers_of(path))
    path.write_text("a,y\n" + "".join(f"{cell},1\n" for cell in SPELLINGS), encoding="utf-8")
    assert numbers_of(path).tobytes() == np.concatenate(alone).tobytes()
    texts = [next(csv.reader([cell]))[0] if cell else "" for cell in SPELLINGS]
    expected = np.array([text_number(text) for text in texts])
    assert np.concatenate(alone).tobytes() == expected.tobytes()


def test_spellings_of_many_numbers_are_read_alike_both_ways(tmp_path: Path) -> None:
    """One cell that is no number sends a whole chunk the other way."""
    rng = np.random.default_rng(5)
    words = rng.integers(0, 2**63, 4000).view(np.float64)
    values = np.concatenate([rng.normal(size=4000), words[np.isfinite(words)]])
    forms: list[Callable[[float], str]] = [repr, "{:.3f}".format, "{:.17e}".format, "{:g}".format]
    lines = [f"{form(value)},0\n" for value in values.tolist() for form in forms]
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "".join(lines))
    clean = numbers_of(path)
    path.write_text("a,y\n" + "".join([*lines, "x,0\n"]))
    assert numbers_of(path)[:-1].tobytes() == clean.tobytes()
    assert clean.tobytes() == np.array([float(line.split(",")[0]) for line in lines]).tobytes()


BROKEN = [
    *(b"1", b"1,2,3", b"", b'"1,2', b'1,"2', b'1,"2"x', b'1,a"b', b"1\r,2", b"\r", b"1,\x00", b"\0"),
    *(b"1," + b"x" * (4 << 20), b",,,,", b'"', b'"\r', b'1,"\r', b'"""","""'),
]
"""Lines that are no records of two fields."""
ODD = [b"1,\xff", b"\xff\xfe,1", b"\xef\xbb\xbf1,2", b"1,\xed\xa0\x80", b"\xc3,1", b"1,2\r"]
"""Lines that are such records, with bytes that are not UTF-8 or a mark of byte order."""


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("pack", [False, True])
def test_t40_no_line_raises_or_changes_others(tmp_path: Path, place: int, end: bytes, pack: bool) -> None:
    """P2: such a line is one invalid record. Its own end may be missing where it is the last."""
    records = [b"0.5,a", b'1e3,"b, ""c"""', b"NA,"]
    path = tmp_path / ("a.csv.gz" if pack else "a.csv")
    for line in [*BROKEN, *ODD]:
        if pack and len(line) > 100:
            continue
        lines = [*records[:place], line, *records[place:]]
        last = end if line or end else b"\n"
        content = b"a,y\n" + (end or b"\n").join(lines) + last
        path.write_bytes(gzip.compress(content, 1) if pack else content)
        numbers, labels = read(path)
        assert len(numbers) == len(labels) == 4, line
        if line in BROKEN:
            assert np.isnan(numbers[place]), line
            assert labels[place] == "", line
        np.testing.assert_array_equal(np.delete(numbers, place), [0.5, 1000.0, np.nan])
        assert [*labels[:place], *labels[place + 1 :]] == ["a", 'b, "c"', ""]


def test_single_columns_have_empty_lines_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'y\n\n1\n\r\n""\n2')
    batches = open_source(path).batches(10, numeric=("y",), labels=())
    numbers = np.concatenate([batch.numeric(("y",))[:, 0] for batch in batches])
    np.testing.assert_array_equal(numbers, [np.nan, 1.0, np.nan, np.nan, 2.0])


@pytest.mark.parametrize("content", [b"a,y", b"a,y\n", b"a,y\r\n", b"\xef\xbb\xbfa,y"])
def test_p3_a_header_alone_is_a_table_without_records(tmp_path: Path, content: bytes) -> None:
    for name, pack in (("a.csv", bytes), ("a.csv.gz", gzip.compress)):
        path = tmp_path / name
        path.write_bytes(pack(content))
        assert list(open_source(path, fewest=0).batches(10, numeric=("a",), labels=("y",))) == []


@pytest.mark.parametrize("length", [1 << 20, 2 << 20, 3 << 20, (4 << 20) - 8])
@pytest.mark.parametrize("line", [b"%s,1", b"1,%s", b'1,"%s"'])
def test_t40_a_long_line_is_a_record_like_others(tmp_path: Path, length: int, line: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,y\n1,0\n" + line % (b"7" * length) + b"\n2,1\n")
    numbers, labels = read(path)
    assert (len(numbers), len(labels)) == (3, 3)
    assert (numbers[0], numbers[2], labels[0], labels[2]) == (1.0, 2.0, "0", "1")
