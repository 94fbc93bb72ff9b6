"""A Dask dataframe is read partition by partition, as the same table in memory or in files."""

from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import DataError
from tacit.rows.sources.dask_frame import DaskSource, is_dask_frame
from tacit.rows.sources.opening import describe, open_source
from tests.rows.cluster.clusters import FORMULA, coefficients, schema, table, write


def frames(n: int = 900) -> tuple[pd.DataFrame, Any]:
    eager = table(n).to_pandas()
    return eager, dd.from_pandas(eager, npartitions=4)


def test_records_are_those_of_the_table_in_its_order() -> None:
    eager, lazy = frames()
    assert is_dask_frame(lazy)
    assert not is_dask_frame(eager)
    source = open_source(lazy, "y")
    assert isinstance(source, DaskSource)
    assert (source.names, source.length, source.resident) == (tuple(eager.columns), None, False)
    read = [batch.numeric(("x1", "k")) for batch in source.batches(100, numeric=("x1", "k"), labels=("c",))]
    assert np.array_equal(np.concatenate(read), eager[["x1", "k"]].to_numpy())
    assert describe(lazy) == describe(eager)


@pytest.mark.parametrize("unit", [False, True])
def test_a_fit_has_the_bits_of_the_same_files(tmp_path: Path, *, unit: bool) -> None:
    _, lazy = frames()
    files = write(tmp_path / "parts", table(900), [100], "parquet")
    given: dict[str, Any] = {"epsilon": 4.0, "random_state": 3}
    own = tacit.glm(FORMULA, lazy, schema(unit=unit), **given)
    assert coefficients(own) == coefficients(tacit.glm(FORMULA, files, schema(unit=unit), **given))


def test_an_empty_partition_is_like_any_other() -> None:
    eager, lazy = frames(300)
    emptied = lazy[lazy["x0"] > eager["x0"].iloc[:80].max() - 1e-9]
    source = open_source(emptied)
    count = sum(batch.length for batch in source.batches(100, numeric=("x0",), labels=()))
    assert 0 < count == len(emptied)


def test_only_wanted_columns_are_computed_and_errors_quote_nothing() -> None:
    eager, _ = frames(300)

    def spoilt(part: pd.DataFrame) -> pd.DataFrame:
        if len(part):
            raise ValueError(f"the secret of {part['x0'].iloc[0]}")
        return part

    broken = dd.from_pandas(eager, npartitions=2).map_partitions(spoilt, meta=eager.iloc[:0])
    with pytest.raises(DataError, match="could not be computed") as refusal:
        list(open_source(broken).batches(100, numeric=("x0",), labels=()))
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None


def test_a_cluster_reads_files_and_no_dataframe() -> None:
    _, lazy = frames(300)
    with pytest.raises(DataError, match="CSV and Parquet"):
        tacit.glm(FORMULA, lazy, schema(), epsilon=1.0, cluster=2)


def test_columns_of_a_type_that_is_no_number_are_refused_before_anything_is_computed() -> None:
    eager, _ = frames(300)
    eager["x0"] = pd.Timestamp("2020-01-01")
    with pytest.raises(DataError, match="dates"):
        list(open_source(dd.from_pandas(eager, npartitions=2)).batches(9, numeric=("x0",), labels=()))
