"""Random tables in files, and random settings of fits of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import tacit

FAMILIES: dict[str, str] = {
    "binomial": "y ~ x0 + x1 + x2",
    "poisson": "k ~ x0 + x1",
    "gaussian": "k ~ x0 + C(c)",
    "multinomial": "c ~ x0 + x1",
    "huber": "k ~ x0 + x1 + x2",
}
SOLVERS = (
    "auto", "auto", "gradient", "whitened-gradient", "newton", "majorised-newton", "stochastic",
    "objective-perturbation", "output-perturbation", "double-noise-newton", "moments", "adassp", "frank-wolfe",
)  # fmt: skip
RELATIONS = ("replace-one", "zero-out", "add-remove")


@dataclass(frozen=True)
class Setting:
    """One fit: solver, family, relation, unit, files and workers."""

    family: str
    solver: str
    relation: str
    unit: bool
    kind: str
    files: int
    workers: int
    bounds: str
    scratch: bool
    seed: int

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Setting:
        """Draw a setting; not every one can be planned."""
        pick = rng.choice
        return cls(
            str(pick(list(FAMILIES))),
            str(pick(SOLVERS)),
            str(pick(RELATIONS)),
            bool(pick([False, True])),
            str(pick(["csv", "parquet"])),
            int(rng.integers(1, 9)),
            int(rng.integers(1, 5)),
            str(pick(["declared", "declared", "private"])),
            bool(pick([False, False, True])),
            int(rng.integers(1 << 31)),
        )

    def schema(self) -> tacit.Schema:
        """Public facts about the table."""
        ends = "" if self.bounds == "private" else "lower = -3\nupper = 3\n"
        columns = "".join(f'[columns.x{j}]\ntype = "numeric"\n{ends}' for j in range(3))
        private = "n_at_least = 300\n" if self.relation == "add-remove" else ""
        unit = '[unit]\nname = "patient"\ncolumn = "who"\nmax_rows = 3\n' if self.unit else ""
        rest = '[columns.y]\ntype = "binary"\n[columns.k]\ntype = "numeric"\nlower = 0\nupper = 8\n'
        rest += '[columns.c]\ntype = "factor"\nlevels = ["0", "1", "2"]\n'
        return tacit.Schema.parse(f'relation = "{self.relation}"\n{private}{unit}{columns}{rest}')

    def given(self) -> dict[str, Any]:
        """Arguments of `glm`, but the table."""
        solver = {} if self.solver == "auto" else {"solver": self.solver}
        return {
            "formula": FAMILIES[self.family], "family": self.family, "schema": self.schema(),
            "epsilon": 2.0, "random_state": self.seed, **solver,
        }  # fmt: skip

    def write(self, folder: Path) -> Path:
        """Write a random table, cut at random places; some files may be empty."""
        rng = np.random.default_rng(self.seed)
        rows = random_table(int(rng.integers(900, 3000)), rng)
        folder.mkdir()
        cuts = np.sort(rng.integers(0, rows.num_rows, self.files - 1)).tolist()
        for part, (start, stop) in enumerate(zip([0, *cuts], [*cuts, rows.num_rows], strict=True)):
            own = rows.slice(start, stop - start)
            if self.kind == "csv":
                csv.write_csv(own, folder / f"part{part:03}.csv")
            else:
                parquet.write_table(own, folder / f"part{part:03}.parquet", row_group_size=int(rng.integers(50, 1000)))
        return folder


def random_table(n: int, rng: np.random.Generator) -> pa.Table:
    """Records of some persons, with outcomes of every kind."""
    X = rng.normal(size=(n, 3))
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ [1.0, -1.0, 0.5]))).astype(int)
    own = {"y": y, "who": rng.integers(0, n // 3, n), "k": rng.poisson(2, n), "c": rng.integers(0, 3, n)}
    return pa.table({**{f"x{j}": X[:, j] for j in range(3)}, **own})


def coefficients(fit: Any) -> bytes:
    """Bits of the coefficients of a fit."""
    return np.asarray(fit.release.coefficients()).tobytes()
