"""The import contracts of pyproject.toml break when they should."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
CONTRACTS = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
NAMES = {contract["id"]: contract["name"] for contract in CONTRACTS}
PACKAGES = [name.strip() for layer in CONTRACTS[0]["layers"] for name in layer.split("|")]


def broken_contracts(folder: Path, *imports: tuple[str, str]) -> set[str]:
    """Ids of the contracts that break in a tree of empty packages with these imports."""
    root = folder / "tacit"
    for package in PACKAGES:
        (root / package).mkdir(parents=True)
        (root / package / "__init__.py").touch()
    (root / "__init__.py").touch()
    for importer, imported in imports:
        file = root / importer / "__init__.py"
        file.parent.mkdir(exist_ok=True)
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"import tacit.{imported}\n" if imported else "")
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--config", str(PROJECT), "--no-cache"],
        cwd=folder,
        # The empty packages must be found before the real ones.
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    broken = {key for key, name in NAMES.items() if f"{name} BROKEN" in lines}
    kept = {key for key, name in NAMES.items() if f"{name} KEPT" in lines}
    assert broken | kept == set(NAMES), done.stdout + done.stderr
    assert (done.returncode != 0) == bool(broken)
    return broken


def test_downward_imports_keep_every_contract(tmp_path: Path) -> None:
    assert (
        broken_contracts(
            tmp_path,
            ("cli", "audit"),
            ("report", "audit"),
            ("audit", "estimators"),
            ("audit", "mechanisms"),
            ("audit", "rows"),
            ("cli", "estimators"),
            ("estimators", "engine"),
            ("engine", "mechanisms"),
            ("engine", "rows"),
            ("mechanisms", "noise"),
            ("mechanisms", "rows"),
            ("solvers", "contract"),
        )
        == set()
    )


@pytest.mark.parametrize(
    ("importer", "imported", "expected"),
    [
        ("privacy", "accounting", {"layers"}),
        ("losses", "constraints", {"layers"}),
        ("cellar", "", {"layers"}),
        ("solvers", "rows", {"wall-rows"}),
        ("estimators", "rows", {"wall-rows"}),
        ("engine", "noise", {"wall-noise"}),
        ("audit", "noise", {"wall-noise"}),
        ("estimators", "audit", {"layers"}),
        ("estimators", "mechanisms", {"wall-mechanisms"}),
        ("solvers", "mechanisms", {"layers", "wall-mechanisms"}),
    ],
)
def test_a_seeded_import_breaks_its_contract(tmp_path: Path, importer: str, imported: str, expected: set[str]) -> None:
    assert broken_contracts(tmp_path, (importer, imported)) == expected
