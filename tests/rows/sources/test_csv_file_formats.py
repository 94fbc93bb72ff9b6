"""Text files as they come: delimiter, decimal mark, encoding, and what the first line says of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tacit.design.reading import FileFormat, Reading
from tacit.errors import FileError, SchemaError
from tacit.rows.sources.csv_file import in_utf8, proposed_format, read_header, regular
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import require_columns

MARKS = [";", "\t", "|", " ", ":", ","]


@pytest.mark.parametrize("mark", MARKS)
def test_a_line_depends_on_itself_alone_for_every_delimiter(mark: str) -> None:
    rng = np.random.default_rng(ord(mark))
    alphabet = [mark.encode()] * 2 + [b'"', b"\n", b"\n", b"\r", b"\0", b"a", b"1", b",", b";", b"\xff", b"z"]
    for written in (FileFormat(mark), FileFormat(mark, encoding="cp1252"), FileFormat(mark, encoding="euc_jp")):
        for _ in range(100):
            content = b"".join(rng.choice(np.array(alphabet, dtype=object), int(rng.integers(1, 60)))) + b"\n"
            together, count = regular(content, 2, written)
            alone = [regular(line + b"\n", 2, written)[0] for line in content[:-1].split(b"\n")]
            assert together == b"".join(alone)
            assert count == len(alone)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.txt"])
@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "latin-1"])
def test_a_semicolon_file_with_decimal_commas(tmp_path: Path, name: str, encoding: str) -> None:
    path, text = tmp_path / name, 'größe;ort\r\n1,75;"Köln; Süd"\r\n-,5;é\r\n1.75;x\r\n2;y\r\n'
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    source = open_source(path, reading=Reading(FileFormat(";", ",", encoding)))
    (batch,) = source.batches(10, numeric=("größe",), labels=("ort",))
    np.testing.assert_array_equal(batch.numeric(("größe",))[:, 0], [1.75, -0.5, np.inf, 2])
    assert [*batch.labels("ort")] == ["Köln; Süd", "é", "x", "y"]


def test_numbers_are_the_same_whether_or_not_another_line_is_odd(tmp_path: Path) -> None:
    """pyarrow reads numbers at once, and texts are read where one is odd: with the same bits."""
    rng, path = np.random.default_rng(0), tmp_path / "a.csv"
    numbers = [*rng.normal(size=200), 1e-320, 1e300, 0.1, 123456789.123456789]
    lines = [repr(float(number)).replace(".", ",") for number in numbers]
    found = []
    for odd in ("1,5", "no number"):
        path.write_text("\n".join(["a;b", *(f"{line};1" for line in lines), f"{odd};1", ""]))
        (batch,) = open_source(path, reading=Reading(FileFormat(";", ","))).batches(999, numeric=("a",), labels=())
        found.append(batch.numeric(("a",))[:-1, 0])
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[0], numbers)


def test_tabs_part_a_tsv(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\n1\t2\n")
    assert open_source(path, fewest=0).names == ("a", "b")


def test_a_mark_of_byte_order_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfa;b\n1;2\n")
    assert read_header(path, FileFormat(";")) == ("a", "b")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("a,b", FileFormat(",")),
        ("a;b", FileFormat(";")),
        ("a\tb", FileFormat("\t")),
        ("a|b|c", FileFormat("|")),
        ("a,b;c", FileFormat(",")),
        ("alone", FileFormat(",")),
        ("größe;b", FileFormat(";", encoding="cp1252")),
    ],
)
def test_what_a_first_line_lets_one_suppose(tmp_path: Path, header: str, found: FileFormat) -> None:
    """U8: whatever the records hold, they have no say in it."""
    path = tmp_path / "a.csv"
    for records in ("", "1;2\n", "\xff,,,,|||;;;;\n" * 50):
        path.write_bytes(f"{header}\n{records}".encode("latin-1"))
        assert proposed_format(path) == found


def test_messages_say_what_to_declare_by_the_first_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("größe;alter\n".encode("latin-1"))
    with pytest.raises(FileError, match='is not in utf-8; declare encoding = "cp1252"'):
        open_source(path, fewest=0)
    source = open_source(path, fewest=0, reading=Reading(FileFormat(encoding="latin-1")))
    with pytest.raises(SchemaError, match='declare delimiter = ";" under') as told:
        require_columns(source.names, ["größe", "alter"])
    assert "größe;alter" not in str(told.value)
    path.write_bytes("a,b\n".encode("utf-8-sig"))
    with pytest.raises(FileError, match='mark of UTF-8; declare encoding = "utf-8"'):
        open_source(path, reading=Reading(FileFormat(encoding="cp1252")))
    path.write_bytes("a,b\n".encode("utf-16"))
    with pytest.raises(FileError, match="UTF-16; save it as UTF-8"):
        open_source(path)
    with pytest.raises(FileError, match="Save a spreadsheet as CSV"):
        open_source(tmp_path / "a.xlsx")


def test_letters_of_several_bytes_stay_in_their_lines() -> None:
    written = FileFormat(encoding="euc_jp")
    assert in_utf8(b"a\x8f\nb\x8f\xa2\n\n", written).count(b"\n") == 3
    assert in_utf8("日本\n語\n".encode("euc_jp"), written).decode() == "日本\n語\n"


SPELLINGS = (
    "1, 1,5 ,5 1,5e3 1,e3 +1,5 -,5 --1 1e 1E+5 inf NaN -inf Infinity 0x10 1_0 true FALSE 1.5 1. 1,5.2 1.234,5 1,5f"
)
SPELLINGS += f" 1e400 1e-400 {'9' * 400},5 , e5 + - N/A ."


def test_a_number_is_the_same_beside_an_odd_one_however_it_is_spelt(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for spelt in (*SPELLINGS.split(), " 1,5 ", "1 5", ""):
        found = []
        for other in ("2", "zzz"):
            path.write_text(f"a;b\n{spelt};1\n{other};1\n")
            (batch,) = open_source(path, reading=Reading(FileFormat(";", ","))).batches(9, numeric=("a",), labels=())
            found.append(batch.numeric(("a",))[0])
        np.testing.assert_array_equal(found[0], found[1], err_msg=spelt)
