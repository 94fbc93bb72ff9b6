"""`tacit fit`: who is told of a refusal, what a ledger is told, and what is warned of."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget

Command = Callable[..., Any]
FIT = ("fit", "clinic.csv", "readmit ~ age", "--schema", "clinic.toml", "--delta", 1e-6)
ONE = (*FIT, "--epsilon", 1, "--quiet", "--json")
CHARGED = ("--ledger", "clinic.db", "--dataset", "clinic")
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def ledger(clinic: Path) -> Ledger:
    return Ledger("clinic.db", budget=Budget(epsilon=6, delta=1e-6), dataset="clinic")


def spoil() -> None:
    with Path("clinic.csv").open("a", encoding="utf-8") as stream:
        stream.write("30,120,25.0,no,1,general,neither\n")


def test_t37_inside_a_ledger_no_record_is_refused(ledger: Ledger, command: Command) -> None:
    spoil()
    outside = command(*FIT, "--epsilon", 1)
    assert outside.code == 3
    assert "--invalid-rows zero" in outside.err
    inside = command(*ONE, *CHARGED)
    assert inside.code == 0
    names = [fact["name"] for fact in inside.document["certificate"]["public"]]
    assert "every record is valid" not in names


def test_t37_refusals_are_refused_inside_a_ledger(ledger: Ledger, command: Command) -> None:
    Path("clinic.csv").unlink()
    done = command(*FIT, "--epsilon", 1, *CHARGED, "--invalid-rows", "error")
    assert done.code == 2
    assert "--invalid-rows zero" in done.err
    assert "invalid_rows" not in done.err


def test_a_curator_is_told_and_the_log_too(clinic: Path, command: Command) -> None:
    ledger = Ledger("clinic.db", budget=Budget(epsilon=6, delta=1e-6), dataset="clinic", refusals="curator")
    spoil()
    assert command(*FIT, "--epsilon", 1, *CHARGED, "--invalid-rows", "error").code == 3
    assert ledger.verify().entries == 2
    assert ledger.charges() == ()


def test_a_ledger_is_told_who_asks_and_for_what(ledger: Ledger, command: Command) -> None:
    said = ("--analyst", "mara", "--project", "readmission", "--label", "first model")
    ledger.grant("mara", Budget(epsilon=2, delta=1e-6))
    assert command(*ONE, *CHARGED, *said).code == 0
    (charge,) = ledger.charges()
    assert (charge.analyst, charge.project, charge.label) == ("mara", "readmission", "first model")
    assert charge.formula == "readmit ~ age"


def test_the_same_request_under_a_key_is_charged_once(ledger: Ledger, command: Command) -> None:
    first, second = (command(*ONE, *CHARGED, "--key", "model 1") for _ in range(2))
    assert (first.code, second.code) == (0, 0)
    assert first.document["terms"] == second.document["terms"]
    assert len(ledger.charges()) == 1
    other = command(*ONE, *CHARGED, "--key", "model 1", "--l2", 1)
    assert other.code != 0


@pytest.mark.parametrize("name", ["dataset", "analyst", "project", "label", "key"])
def test_what_a_ledger_is_told_needs_a_ledger(clinic: Path, command: Command, name: str) -> None:
    done = command(*FIT, "--epsilon", 1, f"--{name}", "text")
    assert done.code == 2
    assert f"--{name} is for a ledger: add --ledger FILE" in done.err


def test_a_second_fit_of_a_file_is_warned_of_in_another_process(clinic: Path, command: Command) -> None:
    assert command(*ONE).document["warnings"] == []
    done = subprocess.run(
        [sys.executable, "-m", "tacit", *map(str, FIT), "--epsilon", "1"],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.startswith("warning: 'clinic.csv' was fitted once before")
    assert "--ledger" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_is_charged_or_not_private_is_not_warned_of(ledger: Ledger, command: Command) -> None:
    for fit in ((*ONE, *CHARGED), (*ONE, "--random-state", 1), (*ONE, *CHARGED)):
        assert command(*fit).document["warnings"] == []
    # The charged ones are remembered; the one with a seed promised nothing.
    texts = command(*ONE).document["warnings"]
    assert any("was fitted 2 times before" in text for text in texts)


def test_a_refused_fit_is_not_counted(clinic: Path, command: Command) -> None:
    kept = Path("clinic.csv").read_text(encoding="utf-8")
    spoil()
    assert command(*ONE).code == 3
    Path("clinic.csv").write_text(kept, encoding="utf-8")
    assert command(*ONE).document["warnings"] == []


@pytest.mark.parametrize(
    ("budget", "texts"),
    [
        (("--epsilon", 10, "--delta", 1e-6), []),
        (("--epsilon", 1e9, "--delta", 0.5), ["δ = 0.5 is not below 1/n", "ε = 1e+09 is above 10"]),
        (("--mu", 6, "--delta", 1e-6), ["is above 10"]),
        (("--rho", 8, "--delta", 1e-6), ["is above 10"]),
        (("--epsilon", 2, "--delta", 0.00125), ["δ = 0.00125 is not below 1/n"]),
        (("--epsilon", "inf"), []),
    ],
)
def test_weak_budgets_are_warned_of_by_plan_and_fit(
    clinic: Path, command: Command, budget: tuple[object, ...], texts: list[str]
) -> None:
    rest = ("readmit ~ age", "--schema", "clinic.toml", *budget, "--json")
    for done in (command("plan", *rest, "--n", 800), command("fit", "clinic.csv", *rest)):
        warned = done.document["warnings"]
        assert len(warned) == len(texts)
        for text, part in zip(warned, texts, strict=True):
            assert part in text


def test_where_n_is_private_its_lower_bound_is_judged(clinic: Path, command: Command) -> None:
    schema = Path("clinic.toml").read_text(encoding="utf-8")
    private = schema.replace('"replace-one"', '"add-remove"\nn_at_least = 500')
    Path("clinic.toml").write_text(private, encoding="utf-8")
    rest = ("readmit ~ age", "--schema", "clinic.toml", "--epsilon", 2, "--json")
    for delta, count in ((0.0019, 0), (0.002, 1)):
        done = command("plan", *rest, "--delta", delta)
        found = [text for text in done.document["warnings"] if "1/n_at_least" in text]
        assert len(found) == count


def test_an_interrupted_request_is_paid_for_again_when_asked(ledger: Ledger, command: Command) -> None:
    kept = (*ONE, *CHARGED, "--key", "first")
    first = command(*kept).document
    assert command(*kept, "--again").document["terms"] == first["terms"]
    assert len(ledger.charges()) == 1
    assert command(*ONE, *CHARGED, "--again").code == 2
    assert command(*ONE, "--again").code == 2


def test_charges_that_are_paused_are_refused_before_a_plan_is_shown(ledger: Ledger, command: Command) -> None:
    ledger.pause("vacation", analyst="bob")
    refused = command(*FIT, "--epsilon", 1, *CHARGED, "--analyst", "bob")
    assert (refused.code, ledger.charges()) == (4, ())
    assert "paused: vacation" in refused.err
    assert "Plan" not in refused.out + refused.err
