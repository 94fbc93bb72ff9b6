import gzip
from pathlib import Path

import pytest

from tacit.errors import FileError
from tacit.rows.sources.csv_file import read_header
from tacit.rows.sources.source import FileState, file_kind


@pytest.mark.parametrize(("name", "kind"), [("a.csv", ".csv"), ("A.CSV.GZ", ".csv.gz"), ("b.parquet", ".parquet")])
def test_kind_by_name(name: str, kind: str) -> None:
    assert file_kind(Path(name)) == kind


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"'a\.csv' does not exist"):
        FileState.of(tmp_path / "a.csv")
    with pytest.raises(FileError, match="is not a file"):
        FileState.of(tmp_path)


def test_a_change_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    state = FileState.of(path)
    state.require_unchanged()
    path.write_text("a\n1\n2\n")
    with pytest.raises(FileError, match="changed"):
        state.require_unchanged()


def test_header_alone_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfa,"b, c"\r\n\xff\xff')
    assert read_header(path) == ("a", "b, c")
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_header(packed) == ("a", "b")


@pytest.mark.parametrize(("name", "content"), [("a.csv", b""), ("a.csv.gz", b"no gzip"), ("b.csv", b"\xff\n")])
def test_unreadable_header(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileError, match=name):
        read_header(path)
