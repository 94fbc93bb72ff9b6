from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit.errors import DataError, FileError
from tacit.rows.sources.opening import open_source


def write(path: Path, rows: int = 10) -> Path:
    table = pa.table({"a": np.arange(rows) / 4, "skip": ["z"] * rows, "y": ["n", "p"] * (rows // 2)})
    parquet.write_table(table, path, row_group_size=3)
    return path


def test_columns_are_projected_and_read_again(tmp_path: Path) -> None:
    source = open_source(write(tmp_path / "a.parquet"))
    assert (source.names, source.length, source.resident) == (("a", "skip", "y"), 10, False)
    for _ in range(2):
        batches = list(source.batches(4, numeric=("a",), labels=("y",)))
        assert all(1 <= batch.length <= 4 for batch in batches)
        numbers = np.concatenate([batch.numeric(("a",))[:, 0] for batch in batches])
        assert numbers.tolist() == [i / 4 for i in range(10)]
        assert [x for batch in batches for x in batch.labels("y")] == ["n", "p"] * 5


@pytest.mark.parametrize("rows", [0])
def test_t08_empty_file(tmp_path: Path, rows: int) -> None:
    with pytest.raises(DataError, match="fewer than 2 records"):
        open_source(write(tmp_path / "a.parquet", rows))


def test_what_is_no_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"canary" * 10)
    with pytest.raises(FileError, match=r"a\.parquet") as caught:
        open_source(path)
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None


def test_damage_inside_is_found_when_reading(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    content = bytearray(path.read_bytes())
    content[4:120] = b"\xff" * 116
    path.write_bytes(content)
    source = open_source(path)
    with pytest.raises(FileError, match=r"a\.parquet") as caught:
        list(source.batches(4, numeric=("a",), labels=("y",)))
    assert caught.value.__context__ is None


def test_change_between_passes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    source = open_source(path)
    write(path, 12)
    with pytest.raises(FileError, match="changed"):
        list(source.batches(4, numeric=("a",), labels=("y",)))
