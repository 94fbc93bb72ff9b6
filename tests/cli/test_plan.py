"""`tacit plan`: a price without a table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]
PLAN = ("plan", "readmit ~ age + C(ward)", "--schema", "clinic.toml")


def test_plan_is_shown(clinic: Path, command: Command) -> None:
    Path("clinic.csv").unlink()
    done = command(*PLAN, "--n", 20_000, "--epsilon", 1)
    assert (done.code, done.err) == (0, "")
    assert "20,000 records, 4 coefficients" in done.out
    assert "(ε = 1, δ = 1e-05), replace-one, per patient" in done.out


def test_json_agrees_with_the_fit(clinic: Path, command: Command) -> None:
    document = command(*PLAN, "--n", 800, "--epsilon", 1, "--json").document
    assert document["records"] == 800
    assert document["coefficients"][:2] == ["Intercept", "age"]
    assert document["private"] is True
    fitted = command("fit", "clinic.csv", PLAN[1], "--schema", "clinic.toml", "--epsilon", 1, "--json").document
    assert [document[name] for name in ("epsilon", "delta", "mu")] == [
        fitted[name] for name in ("epsilon", "delta", "mu")
    ]
    assert [step["times"] for step in document["steps"]] == [
        event["times"] for event in fitted["certificate"]["events"]
    ]


def test_infinite_budget(clinic: Path, command: Command) -> None:
    document = command(*PLAN, "--n", 800, "--epsilon", "inf", "--json").document
    assert (document["epsilon"], document["mu"], document["private"]) == ("inf", "inf", False)
    assert "not private" in command(*PLAN, "--n", 800, "--epsilon", "inf").out


def test_small_budgets_are_warned_about(clinic: Path, command: Command) -> None:
    assert "budget is small" in command(*PLAN, "--n", 100, "--epsilon", 0.01).out


def test_records_are_needed_where_they_are_public(clinic: Path, command: Command) -> None:
    assert command(*PLAN, "--epsilon", 1).code == 2
    text = Path("clinic.toml").read_text(encoding="utf-8")
    private = text.replace('"replace-one"', '"add-remove"\nn_at_least = 5000')
    Path("clinic.toml").write_text(private, encoding="utf-8")
    done = command(*PLAN, "--epsilon", 1)
    assert done.code == 0
    assert "at least 5,000 records" in done.out


def test_other_families_are_planned_as_they_are_fitted(clinic: Path, command: Command) -> None:
    settings = ("--schema", "clinic.toml", "--epsilon", 1, "--family", "gaussian", "--json")
    document = command("plan", "age ~ C(ward)", "--n", 800, *settings).document
    assert document["loss"] == "squared"
    fitted = command("fit", "clinic.csv", "age ~ C(ward)", *settings).document
    assert [step["label"] for step in document["steps"]] == [
        event["label"] for event in fitted["certificate"]["events"]
    ]
    assert command("plan", *PLAN[1:], "--n", 800, "--epsilon", 1, "--family", "normal").code == 2


def test_a_target_is_answered_before_anything_is_spent(clinic: Path, command: Command) -> None:
    settings = ("--n", 20_000, "--epsilon", 1, "--target", "half-width=0.1", "--term", "C(ward)[T.surgery]", "--json")
    target = command(*PLAN, *settings).document["target"]
    assert target["met"] is False
    assert target["least"]["n"] > 20_000
    assert command(*PLAN, "--n", 300, "--epsilon", 1, "--target", "half-width=0.01").code == 2


def test_the_least_budget_is_found_without_a_budget(clinic: Path, command: Command) -> None:
    settings = ("--target", "half-width=0.4", "--term", "C(ward)[T.surgery]")
    found = command(*PLAN, "--n", 20_000, *settings, "--json").document
    assert 0.01 < found["epsilon"] < 5
    assert found["target"]["met"] is True
    assert command(*PLAN, "--epsilon", 1, *settings, "--json").document["records"] > 100


def test_guesses_are_said_and_can_be_set(clinic: Path, command: Command) -> None:
    settings = ("--n", 20_000, "--epsilon", 1, "--target", "half-width=0.4", "--term", "C(ward)[T.surgery]")
    out = " ".join(command(*PLAN, *settings, "--assume", "share=0.1", "--assume", "age=60,15").out.split())
    assert "has a share of 0.1" in out
    assert "age a mean of 60" in out
    assert "under these guesses" in out
    assert "--assume" in out
    assert command(*PLAN, *settings, "--assume", "sex=0.5,0.5").code == 2
