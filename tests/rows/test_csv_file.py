import gzip
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import DataError, FileError, SchemaError, TacitError
from tacit.rows.csv_file import CsvSource
from tacit.rows.opening import open_source

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


def test_t41_text_in_a_numeric_column_names_the_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"b,a,y\n1,2,0\n3,x{CANARY},1\n")
    source = open_source(path)
    with pytest.raises(DataError, match="'a'") as caught:
        list(source.batches(10, numeric=("b", "a"), labels=("y",)))
    assert_silent(caught.value)


@pytest.mark.parametrize("content", [f"a,y\n1,0\n{CANARY}\n", f"a,y\n1,0\n{CANARY},1,2\n"])
def test_t41_broken_lines_show_no_content(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(FileError, match=r"a\.csv") as caught:
        read(path)
    assert_silent(caught.value)


def test_truncated_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    rng = np.random.default_rng(1)
    packed = gzip.compress(
        b"a,y\n" + b"".join(b"%d,1\n" % i for i in rng.integers(1 << 40, size=9999))
    )
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
    *("1e99999999999", "9" * 400, "", "NA", "nan", "inf", "0.1", "123456789.123456789"),
]
"""Cells that a strict reading takes."""


def test_a_forgiving_reading_takes_what_a_strict_one_does(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "".join(f"{cell},1\n" for cell in SPELLINGS))
    strict, _ = read(path)
    source = CsvSource.open(path, None).forgiving()
    (batch,) = source.batches(1000, numeric=("a",), labels=("y",))
    forgiven = batch.numeric(("a",))[:, 0]
    # Either is invalid, so that an infinite number may also be a missing one.
    finite = np.isfinite(strict)
    assert np.array_equal(np.isfinite(forgiven), finite)
    assert forgiven[finite].tobytes() == strict[finite].tobytes()
    assert list(batch.labels("y")) == ["1"] * len(SPELLINGS)


@pytest.mark.parametrize("cell", [CANARY + "x", "1e", "0x10", '"1,5"', "１", "--1", "."])
def test_t40_a_cell_that_spells_no_number_can_be_forgiven(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"a,y\n1,0\n{cell},1\n2,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="'a'"):
        read(path)
    source = open_source(path).forgiving()
    batches = list(source.batches(2, numeric=("a",), labels=("y",)))
    numbers = np.concatenate([batch.numeric(("a",))[:, 0] for batch in batches])
    np.testing.assert_array_equal(numbers, [1.0, np.nan, 2.0])
