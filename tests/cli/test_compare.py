"""`tacit compare`: a table and a picture of public rows, and a refusal of others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]
COMPARE = ("compare", "clinic.csv", "readmit ~ age", "--schema", "clinic.toml", "--epsilon", 1, "--repeats", 1)


def test_solvers_are_shown_side_by_side(clinic: Path, command: Command) -> None:
    done = command(*COMPARE, "--public", "--solvers", "auto, newton, moments", "--plot", "found.png")
    assert (done.code, done.err) == (0, "")
    assert "excess log loss" in done.out
    assert "moments: " in done.out
    assert Path("found.png").stat().st_size > 1000


def test_json_has_the_same(clinic: Path, command: Command) -> None:
    document = command(*COMPARE, "--public", "--solvers", "auto", "--json").document
    assert document["results"][0]["solver"] == "auto"
    assert document["records"] == 800
    assert document["picture"] is None


def test_rows_that_are_not_declared_public_are_refused(clinic: Path, command: Command) -> None:
    Path("clinic.csv").unlink()
    done = command(*COMPARE)
    assert done.code == 2
    assert "add --public" in done.err
    assert "Nothing was spent" in done.err
