"""Several files are one table: which files, in which order, and what is refused before a record is read."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from tacit.errors import DataError, FileError
from tacit.rows.sources.file_set import FileSet, files_of
from tacit.rows.sources.opening import describe, open_source


def write(path: Path, **columns: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "t" / "b.parquet", x=[3.0], y=[1])
    write(tmp_path / "t" / "a.parquet", x=[1.0, 2.0], y=[0, 1])
    write(tmp_path / "t" / "inner" / "c.parquet", x=pa.array([], pa.float64()), y=pa.array([], pa.int64()))
    write(tmp_path / "t" / "_delta" / "d.parquet", x=[9.0], y=[9])
    write(tmp_path / "t" / ".hidden.parquet", x=[9.0], y=[9])
    (tmp_path / "t" / "README.txt").write_text("no table")
    return tmp_path / "t"


def column(source: object, rows: int = 2) -> list[float]:
    batches = source.batches(rows, numeric=["x"], labels=[])  # type: ignore[attr-defined]
    return [float(v) for batch in batches for v in batch.numeric(["x"])[:, 0]]


def test_a_folder_is_its_tables_in_the_order_of_their_names(folder: Path) -> None:
    assert [path.name for path in files_of(folder) or []] == ["a.parquet", "b.parquet", "c.parquet"]
    source = open_source(folder, "y")
    assert isinstance(source, FileSet)
    assert (source.names, source.length, source.resident) == (("x", "y"), 3, False)
    assert column(source) == column(source) == [1.0, 2.0, 3.0]
    assert describe(folder) == describe(folder / "a.parquet")
    assert "1.0" not in repr(source)


def test_patterns_lists_and_datasets_name_the_same_records(folder: Path) -> None:
    pair = [folder / "a.parquet", str(folder / "b.parquet")]
    assert column(open_source(str(folder / "[ab].parquet"), "y")) == [1.0, 2.0, 3.0]
    assert column(open_source(f"{folder}/**/[abc].parquet", "y")) == [1.0, 2.0, 3.0]
    assert column(open_source(pair, "y")) == [1.0, 2.0, 3.0]
    assert column(open_source(pair[::-1], "y")) == [3.0, 1.0, 2.0]
    assert column(open_source(dataset.dataset([str(path) for path in pair[::-1]]), "y")) == [1.0, 2.0, 3.0]
    assert len(column(open_source([folder / "a.parquet"], "y"))) == 2


def test_csv_files_have_an_unknown_length(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("x,y\n1,0\n")
    (tmp_path / "2.csv").write_text("y,x\n1,2\n")
    source = open_source(tmp_path, "y")
    assert source.length is None
    assert column(source) == [1.0, 2.0]


def test_an_array_or_a_list_of_records_is_no_list_of_files() -> None:
    assert files_of(np.zeros((2, 2))) is None
    assert files_of([[1.0, 2.0]]) is None
    assert files_of([]) is None


def test_files_that_do_not_go_together_are_refused_by_their_footers(folder: Path) -> None:
    first = folder / "a.parquet"
    other = write(folder.parent / "other.parquet", x=[1.0], z=[1])
    with pytest.raises(FileError, match=r"'other.parquet' and 'a.parquet' have different columns: 'y', 'z'"):
        open_source([first, other], "y")
    text = write(folder.parent / "text.parquet", x=["secret"], y=[1])
    with pytest.raises(FileError, match=r"Column 'x' is text in 'text\.parquet' and numeric in 'a\.parquet'") as raised:
        open_source([first, text], "y")
    assert "secret" not in str(raised.value)
    (folder.parent / "c.csv").write_text("x,y\n1,0\n")
    (folder.parent / "d.csv").write_text("secret,0\n")
    with pytest.raises(FileError, match="have different columns; every file") as raised:
        open_source([folder.parent / "c.csv", folder.parent / "d.csv"], "y")
    assert "secret" not in str(raised.value)
    with pytest.raises(FileError, match="of one kind"):
        open_source([first, folder.parent / "c.csv"], "y")


def test_what_names_no_files_is_refused(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "empty").mkdir()
    for data, words in [
        (tmp_path / "empty", "has no file"),
        (str(tmp_path / "*.csv"), "No file matches"),
        (tmp_path / "no.csv", "does not exist"),
        ([folder / "a.parquet", folder / "." / "a.parquet"], "named twice"),
    ]:
        with pytest.raises(FileError, match=words):
            open_source(data, "y")
    with pytest.raises(DataError, match="one of its columns"):
        open_source(folder, [0, 1, 1])
    with pytest.raises(DataError, match="on this machine"):
        open_source(dataset.dataset(pa.table({"x": [1.0]})), "x")
    partitioned = folder.parent / "p"
    write(partitioned / "year=2020" / "a.parquet", x=[1.0], y=[1])
    with pytest.raises(DataError, match="in no file"):
        open_source(dataset.dataset(partitioned, partitioning="hive"), "y")
    # The files of a filtered dataset hold the records that were left out, too.
    with pytest.raises(DataError, match="filter"):
        open_source(dataset.dataset(folder / "a.parquet").filter(dataset.field("x") > 1.0), "y")


@pytest.mark.parametrize("hard", [False, True])
def test_a_file_that_is_there_twice_by_a_link_is_refused(tmp_path: Path, *, hard: bool) -> None:
    folder = tmp_path / "linked"
    write(folder / "a.parquet", x=[1.0, 2.0], y=[0, 1])
    given: list[Any] = [folder, str(folder / "*.parquet"), dataset.dataset(folder)]
    for data in given:
        assert open_source(data, "y").length == 2
    if hard:
        (folder / "b.parquet").hardlink_to(folder / "a.parquet")
    else:
        (folder / "b.parquet").symlink_to(folder / "a.parquet")
    for data in [*given[:2], dataset.dataset(folder), sorted(folder.iterdir())]:
        with pytest.raises(FileError, match=r"named twice.*count twice"):
            open_source(data, "y")


def test_too_few_records_of_all_files_are_refused_where_their_number_is_public(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / f"{name}.parquet", x=pa.array([], pa.float64()), y=pa.array([], pa.int64())) for name in "ab"
    ]
    with pytest.raises(DataError, match="fewer than 2 records"):
        open_source(paths, "y")
    assert open_source(paths, "y", fewest=0).length == 0


def test_names_may_be_any_bytes_that_the_file_system_takes(tmp_path: Path) -> None:
    there = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        there.mkdir()
    except OSError:  # names are texts there
        return
    for number in range(2):
        write(tmp_path / "whole.parquet", x=[1.0, 2.0], y=[0, 1]).rename(there / f"{number}.parquet")
    assert column(open_source(there, "y")) == [1.0, 2.0, 1.0, 2.0]
