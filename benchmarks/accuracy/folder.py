"""The folder of real tables, which is not part of the project, and its codebook."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.accuracy.table import Kind, Table

VARIABLE = "TACIT_DATA"
BESIDE = Path(__file__).parents[3] / "shared" / "data"


def folder() -> Path:
    """Where the tables lie: the environment variable, or beside the project."""
    return Path(os.environ.get(VARIABLE, BESIDE))


def is_there() -> bool:
    """Whether the tables can be read."""
    return (folder() / "codebook.py").is_file()


def read(name: str) -> Any:
    """One table as a frame."""
    return pd.read_csv(folder() / f"{name}.csv.gz", low_memory=False)


def load(name: str, kind: Kind) -> Table:
    """One table in the encoding and the split of the codebook."""
    spec = importlib.util.spec_from_file_location("codebook", folder() / "codebook.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"no codebook.py in the folder that {VARIABLE} names")
    codebook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(codebook)
    found = codebook.load(name)
    lower, upper = (float(bound) for bound in found["yb"])
    return Table(
        name,
        kind,
        "codebook",
        found["Xtr"],
        found["ytr"],
        found["Xte"],
        found["yte"],
        float(found["R"]),
        (lower, upper),
    )
