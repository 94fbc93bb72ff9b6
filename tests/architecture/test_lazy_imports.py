"""What `import tacit` and `tacit --help` load, seen in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

SOURCE = Path(__file__).parents[2] / "src"
HEAVY_FOR_HELP = frozenset({"dask", "matplotlib", "pyarrow", "sklearn", "torch"})
HEAVY = HEAVY_FOR_HELP | {"numba", "pandas", "scipy"}
HELP = "import runpy, sys; sys.argv = ['tacit', '--help']; runpy.run_module('tacit', None, '__main__')"
REPORT = "import atexit, sys; atexit.register(lambda: print('LOADED', *sorted(sys.modules)))\n"


def loaded_by(statement: str, folder: Path, *, whole: bool = False) -> frozenset[str]:
    """Top-level modules, or all, in memory at the end of a fresh process that ran the statement."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT + statement],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    last = done.stdout.splitlines()[-1].split()
    assert last[0] == "LOADED"
    return frozenset(name for name in last[1:] if whole or "." not in name)


def test_import_loads_nothing_heavy() -> None:
    assert loaded_by("import tacit", SOURCE) & HEAVY == frozenset()


TABLE = """
import tempfile, pathlib, numpy, tacit
folder = pathlib.Path(tempfile.mkdtemp())
folder.joinpath("t.csv").write_text("x,w,y\\n" + "0.5,a,1\\n0.25,b,0\\n" * 500)
schema = tacit.Schema.parse(
    "[columns.x]\\ntype='numeric'\\nlower=0\\nupper=1\\n[columns.w]\\ntype='factor'\\nlevels=['a','b']\\n"
    "[columns.y]\\ntype='binary'\\n"
)
tacit.glm("y ~ x + C(w)", folder / "t.csv", schema, epsilon=1.0).summary()
"""


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("from tacit import glm", {"sklearn", "pandas", "pyarrow", "formulaic", "matplotlib", "torch", "sqlite3"}),
        ("from tacit import LogisticRegression", {"pyarrow.parquet", "formulaic", "matplotlib", "torch", "sqlite3"}),
        (TABLE, {"sklearn", "pandas", "pyarrow.parquet", "formulaic", "matplotlib", "torch", "scipy.optimize"}),
    ],
    ids=["glm", "LogisticRegression", "a fit of a file"],
)
def test_what_is_not_used_is_not_loaded(statement: str, absent: set[str]) -> None:
    assert loaded_by(statement, SOURCE, whole=True) & absent == frozenset()


OWN = """
tacit.accounting.accountants tacit.accounting.pld.composition tacit.audit.registry tacit.estimators.study
tacit.ledger.ledger tacit.mechanisms.block_depth tacit.mechanisms.block_results tacit.mechanisms.objective_perturbation
tacit.mechanisms.softmax_moments tacit.planning.study tacit.solvers.exponential tacit.solvers.frank_wolfe
tacit.solvers.newton tacit.solvers.one_step tacit.solvers.stochastic tacit.solvers.zeroth_order
"""


def test_an_estimator_loads_only_what_every_fit_needs() -> None:
    loaded = loaded_by("from tacit import LogisticRegression", SOURCE, whole=True)
    assert "tacit.engine.table" in loaded
    assert loaded & frozenset(OWN.split()) == frozenset()


def test_every_public_name_exists() -> None:
    # A lazy name that leads nowhere shows only when it is asked for.
    statement = "import tacit\nfor name in getattr(tacit, '__all__', ()): getattr(tacit, name)"
    assert "tacit" in loaded_by(statement, SOURCE)


def test_help_loads_nothing_heavy() -> None:
    if (SOURCE / "tacit" / "__main__.py").is_file():
        assert loaded_by(HELP, SOURCE) & HEAVY_FOR_HELP == frozenset()


@pytest.mark.parametrize("library", ["scipy", "numba", "sklearn"])
def test_a_seeded_heavy_import_is_seen(tmp_path: Path, library: str) -> None:
    package = tmp_path / "tacit"
    package.mkdir()
    (package / "__init__.py").write_text(f"import {library}\n", encoding="utf-8")
    assert library in loaded_by("import tacit", tmp_path) & HEAVY


def test_maps_and_regions_are_public_names() -> None:
    statement = "import tacit; tacit.Polynomial(2), tacit.RandomFourier(8), tacit.constraints.Box()"
    assert not loaded_by(statement, SOURCE) & HEAVY_FOR_HELP


def test_every_public_name_is_found_and_another_is_not() -> None:
    for name in dir(tacit):
        assert getattr(tacit, name) is not None
    assert tacit.ledger.uncharged is not None
    with pytest.raises(AttributeError, match="no attribute 'Regression'"):
        _ = tacit.Regression
