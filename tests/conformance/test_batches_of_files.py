"""A fit over batches has the same coefficients whatever holds the records, for one seed."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit
from tacit.privacy.relation import Relation
from tacit.rows.admission import admit_rows
from tacit.schema.schema import BinaryColumn, NumericColumn, Schema

RNG = np.random.default_rng(1)
N = 5000
FRAME = pd.DataFrame({"a": RNG.uniform(0, 1, N).round(6), "b": RNG.uniform(0, 5, N).round(6)})
FRAME["y"] = (RNG.random(N) < 1 / (1 + np.exp(-(2 * FRAME.a - FRAME.b / 2)))).astype(int)
SCHEMA = Schema(
    columns={"a": NumericColumn(0, 1), "b": NumericColumn(0, 5), "y": BinaryColumn((0, 1))},
    relation=Relation.REPLACE_ONE,
    unit="row",
)


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement", "with-replacement"])
def test_frames_and_files_in_blocks_have_the_same_batches(
    sampling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv, parquet = tmp_path / "t.csv", tmp_path / "t.parquet"
    FRAME.to_csv(csv, index=False)
    FRAME.to_parquet(parquet, row_group_size=700)

    def coefficients(data: Any) -> Any:
        settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "solver": "stochastic", "random_state": 4}
        release = tacit.glm("y ~ a + b", data, SCHEMA, sampling=sampling, **settings).release
        assert release is not None
        return release.coefficients()

    reference = coefficients(FRAME)
    for data in (pl.from_pandas(FRAME), csv, parquet):
        np.testing.assert_array_equal(coefficients(data), reference)
    # Records of a file that do not fit into memory are read from a scratch file, block by block.
    admit = admit_rows.admit
    monkeypatch.setattr("tacit.engine.table.admit", lambda *a, **k: admit(*a, **{**k, "memory_limit": 0}))
    np.testing.assert_array_equal(coefficients(csv), reference)
