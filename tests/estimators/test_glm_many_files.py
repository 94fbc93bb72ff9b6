"""A table in several files is fitted as the same table in one, to the bit."""

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import tacit
from tacit.schema.schema import Schema


def table(n: int = 3000) -> pa.Table:
    generator = np.random.default_rng(5)
    x = generator.random(n)
    return pa.table({"x": x, "y": (generator.random(n) < x).astype(int)})


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_any_split_of_the_files_has_the_same_bits(tmp_path: Path, kind: str) -> None:
    whole, write = table(), csv.write_csv if kind == "csv" else parquet.write_table
    schema = Schema.parse('[columns.x]\ntype = "numeric"\nlower = 0\nupper = 1\n[columns.y]\ntype = "binary"\n')
    for name, ends in {"one": [0, 3000], "three": [0, 17, 1500, 3000], "empty": [0, 0, 2999, 3000]}.items():
        (tmp_path / name).mkdir()
        for number, (first, last) in enumerate(itertools.pairwise(ends)):
            write(whole.slice(first, last - first), tmp_path / name / f"{number}.{kind}")
    fits = [
        tacit.glm("y ~ x", data, schema, epsilon=1.0, random_state=3)
        for data in (
            tmp_path / "one" / f"0.{kind}",
            tmp_path / "three",
            str(tmp_path / "three" / f"*.{kind}"),
            [tmp_path / "empty" / f"{number}.{kind}" for number in (2, 0, 1)],
        )
    ]
    released = [[*dict(fit.params).values()] for fit in fits]
    assert all(theta == released[0] for theta in released)
