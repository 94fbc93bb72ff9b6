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


def loaded_by(statement: str, folder: Path) -> frozenset[str]:
    """Top-level modules in memory at the end of a fresh process that ran the statement."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT + statement],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    last = done.stdout.splitlines()[-1].split()
    assert last[0] == "LOADED"
    return frozenset(name for name in last[1:] if "." not in name)


def test_import_loads_nothing_heavy() -> None:
    assert loaded_by("import tacit", SOURCE) & HEAVY == frozenset()


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
