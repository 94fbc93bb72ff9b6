import gzip
from pathlib import Path

import numpy as np
import pytest

from tacit.rows.sources import csv_file as lines_module
from tacit.rows.sources.csv_file import LONGEST_LINE, line_chunks, regular

ALPHABET = [b",", b",", b'"', b'"', b"\n", b"\n", b"\r", b"\0", b"a", b"1", b"\xff", b"\xc3\xa9"]


@pytest.mark.parametrize("fields", [1, 2, 3])
def test_what_becomes_of_a_line_depends_on_that_line_alone(fields: int) -> None:
    rng = np.random.default_rng(fields)
    for _ in range(300):
        content = b"".join(rng.choice(ALPHABET, int(rng.integers(1, 60)))) + b"\n"
        together, count = regular(content, fields)
        alone = [regular(line + b"\n", fields)[0] for line in content[:-1].split(b"\n")]
        assert together == b"".join(alone)
        assert count == len(alone) == together.count(b"\n")


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (b"1,2", True),
        (b"1,2\r", True),
        (b'"a","b""c"', True),
        (b'"a,b",', True),
        (b'"",""', True),
        (b'"a"b,c', False),
        (b'a"b",c', False),
        (b'"a,b', False),
        (b'"""a,b', False),
        (b'" ,b" ,c', False),
        (b"a\rb,c", False),
        (b'"a\r",b', False),
        (b"a\0,b", False),
        (b"a", False),
        (b"a,b,c", False),
        (b"", False),
        (b"\r", False),
    ],
)
def test_records_of_two_fields(line: bytes, record: bool) -> None:
    assert regular(line + b"\n", 2) == ((line if record else b",") + b"\n", 1)


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    found, _ = regular(b"\xff,\xc3\n\xc3\xa9,\xed\xa0\x80\n", 2)
    assert found.decode() == "\ufffd,\ufffd\né,\ufffd\ufffd\ufffd\n"


@pytest.mark.parametrize("chunk", [1, 2, 7, 1000])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_chunks_are_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, name: str) -> None:
    monkeypatch.setattr(lines_module, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(lines_module, "LONGEST_LINE", 9)
    path = tmp_path / name
    lines = [b"a,b", b"", b"123456789", b"1234567890", b"x" * 50, b"", b"y\r", b"z" * 30]
    for last in (b"\n", b""):
        content = b"\n".join(lines) + last
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        found = [part for part in line_chunks(path) if part is not None]
        assert all(part.endswith(b"\n") for part in found)
        kept = b"".join(found)[:-1].split(b"\n")
        # A longer line may pass here where it lies in one chunk; the scan then empties it.
        assert [line if len(line) <= 9 else b"" for line in kept] == [line if len(line) <= 9 else b"" for line in lines]


def test_a_line_is_too_long_wherever_it_lies(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for before in (0, 1, 3 << 20):
        for length, record in ((LONGEST_LINE, True), (LONGEST_LINE + 1, False)):
            head, line = b"1," + b"b" * before + b"\n", b"1," + b"a" * (length - 2)
            path.write_bytes(head + line + b"\n2,c\n")
            found = b"".join(regular(part, 2)[0] for part in line_chunks(path) if part)
            assert found == head + (line if record else b",") + b"\n2,c\n"


def test_a_damaged_archive_ends_with_none(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    packed = gzip.compress(b"a,b\n" * 1000)
    for damaged in (packed[:-4], packed[:-8] + b"\0" * 8, b"a,b\n"):
        path.write_bytes(damaged)
        assert list(line_chunks(path))[-1] is None
