"""`tacit ledger grant`, `lower`, `pause`, `resume`, `certificate`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit import Budget, Ledger
from tacit.privacy import Gaussian

LEDGER = "clinic.ledger"


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.chdir(tmp_path)
    return Ledger(LEDGER, budget=Budget(mu=1.0), dataset="clinic")


def charge(ledger: Ledger, variance: int = 10) -> None:
    kept = ledger.reserve([Gaussian(1, variance)], relation="replace-one", unit="patient", formula="y ~ x")
    ledger.commit(kept, "sha256:" + "a" * 64)


def test_a_curator_grants_and_takes_back(command: Callable[..., Any], ledger: Ledger) -> None:
    assert command("ledger", "grant", LEDGER, "--to", "ana", "--mu", 0.5).code == 0
    moved = command("ledger", "grant", LEDGER, "--from", "ana", "--to", "ben", "--json")
    assert moved.document["analysts"]["ben"] == {"granted": 0.25, "left": 0.25}
    assert moved.document["analysts"]["ana"]["left"] == 0
    charge(Ledger(LEDGER, dataset="clinic", analyst="ben"))
    shown = command("ledger", "show", LEDGER)
    assert "ben" in shown.out
    assert "y ~ x" in shown.out
    assert "more fit" in shown.out
    assert "Budget(" not in shown.out
    only = command("ledger", "show", LEDGER, "--analyst", "ben", "--json").document
    assert only["more_like_last"] == 1
    assert [item["analyst"] for item in only["charges"]] == ["ben"]


def test_a_curator_lowers_pauses_and_resumes(command: Callable[..., Any], ledger: Ledger) -> None:
    lowered = command("ledger", "lower", LEDGER, "--mu", 0.5, "--reason", "board", "--json")
    assert lowered.document["budget_in_force"]["mu"] == 0.5
    assert command("ledger", "lower", LEDGER, "--mu", 0.7, "--reason", "board").code == 2
    assert command("ledger", "lower", LEDGER, "--mu", 0.4).code == 2
    assert command("ledger", "pause", LEDGER, "--reason", "audit").code == 0
    assert "audit" in command("ledger", "show", LEDGER).out
    assert command("ledger", "resume", LEDGER, "--reason", "done").code == 0
    assert command("ledger", "resume", LEDGER, "--reason", "done").code == 4
    assert command("ledger", "verify", LEDGER).code == 0


def test_a_ledger_is_certified_and_signed(command: Callable[..., Any], ledger: Ledger) -> None:
    assert command("ledger", "certificate", LEDGER).code == 4
    charge(ledger)
    assert command("key", "mine").code == 0
    issued = command("ledger", "certificate", LEDGER, "-o", "joint.json", "--sign", "mine")
    assert issued.code == 0
    assert "Signed by key" in issued.out
    assert command("verify", "joint.json", "--key", "mine.pub").code == 0
    assert command("ledger", "certificate", LEDGER, "-o", "joint.json").code == 3


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("grant", "none.ledger", "--to", "ana", "--mu", 0.1), 3),
        (("grant", LEDGER, "--to", "ana"), 2),
        (("grant", LEDGER, "--to", "ana", "--mu", 2), 2),
        (("grant", LEDGER, "--to", "ana", "--from", "ben"), 4),
        (("pause", LEDGER), 2),
        (("create", "other.ledger", "--mu", 1, "--refusals", "all"), 2),
        (("create", "other.ledger", "--mu", 1, "--relation", "friends"), 2),
    ],
)
def test_bad_input_changes_nothing(
    command: Callable[..., Any], ledger: Ledger, arguments: tuple[object, ...], code: int
) -> None:
    outcome = command("ledger", *arguments)
    assert outcome.code == code
    assert outcome.err.startswith("error: ")
    assert ledger.verify().entries == 1
    assert not Path("other.ledger").exists()


def test_a_curator_grants_shares(command: Callable[..., Any], ledger: Ledger) -> None:
    assert command("ledger", "grant", LEDGER, "--to", "ana", "--share", 0.5).code == 0
    moved = command("ledger", "grant", LEDGER, "--to", "ben", "--share", 0.5, "--json").document
    assert [round(one["granted"], 6) for one in moved["analysts"].values()] == [0.5, 0.5]
    assert "nothing is left of what is granted to nobody" in command("ledger", "show", LEDGER).out
    assert command("ledger", "grant", LEDGER, "--to", "eva", "--share", 0.1).code == 2
    assert command("ledger", "grant", LEDGER, "--to", "eva", "--share", 0.1, "--mu", 0.1).code == 2
    assert command("ledger", "grant", LEDGER, "--to", "eva").code == 2


def test_who_is_paused_is_said(command: Callable[..., Any], ledger: Ledger) -> None:
    assert (
        "Charges of bob are paused: vacation"
        in command("ledger", "pause", LEDGER, "--analyst", "bob", "--reason", "vacation").out
    )
    assert "All charges are paused: audit" in command("ledger", "pause", LEDGER, "--reason", "audit").out
    resumed = command("ledger", "resume", LEDGER, "--analyst", "bob", "--reason", "back").out
    assert "Charges of bob are paused no more: back; All charges stay paused: audit" in " ".join(resumed.split())
    assert "All charges are paused no more: done" in command("ledger", "resume", LEDGER, "--reason", "done").out
