"""Partitions: row groups and files, in order, and refused where a worker's file is not the coordinator's."""

from pathlib import Path

import numpy as np
import pytest

from tacit.design.reading import FileFormat
from tacit.errors import DataError
from tacit.rows.cluster.codes import Code, Refused
from tacit.rows.cluster.partitions import Partition, open_partitions, require_files, split
from tacit.rows.sources.opening import describe, open_source
from tests.rows.cluster.clusters import table, write


def test_a_parquet_file_is_split_by_row_groups_and_a_csv_file_is_whole(tmp_path: Path) -> None:
    rows = table(1000)
    parquet = split(open_source(write(tmp_path / "a", rows, [700, 700], "parquet")))
    assert [(Path(part.path).name, part.groups, part.length) for part in parquet] == [
        ("part000.parquet", (0, 1), 300),
        ("part000.parquet", (1, 2), 300),
        ("part000.parquet", (2, 3), 100),
        ("part001.parquet", (0, 1), 0),
        ("part002.parquet", (0, 1), 300),
    ]
    csv = split(open_source(write(tmp_path / "b", rows, [700], "csv")))
    assert [(part.groups, part.length) for part in csv] == [(None, None), (None, None)]


def test_partitions_hold_every_record_once_in_order(tmp_path: Path) -> None:
    rows = table(1000)
    folder = write(tmp_path / "a", rows, [700, 700], "parquet")
    parts = split(open_source(folder))
    expected = describe(folder)
    for chosen in (parts, parts[1:3], parts[::2]):
        source = open_partitions(chosen, expected, FileFormat())
        read = [batch.numeric(("x0",))[:, 0] for batch in source.batches(128, numeric=("x0",), labels=())]
        assert sum(source.counts) == source.length == sum(part.length or 0 for part in chosen)
        assert np.isin(np.concatenate(read), rows["x0"].to_numpy()).all()
    whole = open_partitions(parts, expected, FileFormat()).batches(128, numeric=("x0",), labels=())
    assert np.array_equal(np.concatenate([batch.numeric(("x0",))[:, 0] for batch in whole]), rows["x0"].to_numpy())


def refusal(parts: tuple[Partition, ...], folder: Path) -> Code:
    with pytest.raises(Refused) as refused:
        open_partitions(parts, describe(folder), FileFormat())
    return refused.value.code


def test_files_that_are_not_the_coordinators_are_refused_by_a_code(tmp_path: Path) -> None:
    rows = table(600)
    folder = write(tmp_path / "a", rows, [300], "csv")
    parts = split(open_source(folder))
    last = Path(parts[1].path)
    text = last.read_text(encoding="utf-8")
    last.write_text(text[:-2], encoding="utf-8")
    assert refusal(parts, folder) is Code.OTHER_FILE
    last.write_text(text.replace('"x0"', '"z0"', 1), encoding="utf-8")
    assert refusal(parts, folder) is Code.OTHER_COLUMNS
    last.unlink()
    assert refusal(parts, folder) is Code.NO_FILE


def test_a_table_in_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is in memory"):
        require_files(open_source(np.zeros((4, 2)), [0, 1, 0, 1]))
    with pytest.raises(DataError, match="CSV and Parquet"):
        split(open_source(np.zeros((4, 2))))
    require_files(open_source(write(tmp_path / "a", table(20), [], "csv")))
