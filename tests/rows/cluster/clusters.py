"""Clusters for tests: workers in this process, and tables in files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import tacit
from tacit.contract.cluster import Cluster

FORMULA = "y ~ x0 + x1 + x2"
COLUMNS = "".join(f'[columns.x{j}]\ntype = "numeric"\nlower = -3\nupper = 3\n' for j in range(3))
SCHEMA = (
    COLUMNS
    + '[columns.y]\ntype = "binary"\n[columns.k]\ntype = "numeric"\nlower = 0\nupper = 8\n'
    + '[columns.c]\ntype = "factor"\nlevels = ["0", "1", "2"]\n'
)
UNIT = '[unit]\nname = "patient"\ncolumn = "who"\nmax_rows = 3\n'


@contextmanager
def workers(count: int, **settings: Any) -> Iterator[Any]:
    """A Dask cluster whose workers are threads of this process."""
    made: dict[str, Any] = {"memory_limit": 0, "threads_per_worker": 1, "processes": False}
    made |= {"scheduler_kwargs": {"dashboard": False}}
    made |= dict.fromkeys(("dashboard_address", "worker_dashboard_address"), "127.0.0.1:0")
    with distributed.LocalCluster(n_workers=count, **{**made, **settings}) as cluster:
        yield cluster


def where(cluster: Any, **settings: Any) -> Cluster:
    return Cluster(cluster.scheduler_address, **settings)


def table(n: int = 2000, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ [1.0, -1.0, 0.5]))).astype(int)
    own = {"y": y, "who": rng.integers(0, n // 3, n), "k": rng.poisson(2, n), "c": rng.integers(0, 3, n)}
    return pa.table({**{f"x{j}": X[:, j] for j in range(3)}, **own})


def write(folder: Path, rows: pa.Table, cuts: list[int], kind: str) -> Path:
    """Write a table into files cut at some places, the same place twice for an empty file."""
    folder.mkdir()
    for part, (start, stop) in enumerate(zip([0, *cuts], [*cuts, rows.num_rows], strict=True)):
        own = rows.slice(start, stop - start)
        if kind == "csv":
            csv.write_csv(own, folder / f"part{part:03}.csv")
        else:
            parquet.write_table(own, folder / f"part{part:03}.parquet", row_group_size=300)
    return folder


def schema(*, unit: bool = False, relation: str | None = None, **facts: int) -> tacit.Schema:
    named = "" if relation is None else f'relation = "{relation}"\n'
    named += "".join(f"{name} = {value}\n" for name, value in facts.items())
    return tacit.Schema.parse(named + (UNIT if unit else "") + SCHEMA)


def coefficients(fit: Any) -> bytes:
    return bytes(np.asarray(fit.release.coefficients()).tobytes())
