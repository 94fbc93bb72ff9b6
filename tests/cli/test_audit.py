"""`tacit audit`: bounds as text and as JSON, the picture, the names, and refusals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.audit.registry import ATTACKS

Command = Callable[..., Any]
QUICK = ("audit", "GradientSum", "--mu", 2, "--runs", 200, "--seed", 1)


def test_the_json_document_has_the_three_figures(command: Command) -> None:
    done = command(*QUICK, "--json")
    assert (done.code, done.err) == (0, "")
    found = done.document
    assert found["mu_claimed"] == 2
    assert 1.0 < found["mu_lower"] <= 2
    assert 0.0 < found["epsilon_lower"] < found["epsilon_claimed"]
    assert (found["name"], found["runs"], found["confidence"], found["refuted"]) == ("GradientSum", 200, 0.999, False)


def test_an_estimator_by_its_name(command: Command) -> None:
    """Seeded: 300 fits a world at μ = 3 show more than 0.7 of it."""
    found = command("audit", "LogisticRegression", "--mu", 3, "--runs", 300, "--seed", 1, "--json").document
    assert 0.7 * 3 <= found["mu_lower"] <= 3


def test_the_text_says_what_is_claimed_and_shown(command: Command) -> None:
    out = command(*QUICK).out
    assert "Audit of GradientSum (mechanism)" in out
    assert "200 runs in each of two worlds, replace-one" in out
    assert "μ = 2, which is ε = 9.997 at δ = 1e-05" in out
    assert "The claim μ = 2 stands" in out
    claimed = command("audit", "objective-perturbation", "--mu", 1, "--runs", 100).out
    assert "claimed   ε = 4.377 at δ = 1e-05" in claimed


def test_transcripts_are_replayed_where_that_is_asked(command: Command) -> None:
    asked = ("audit", "mean", "--mu", 1, "--runs", 100, "--replay", 4)
    assert "of 4 transcripts none cost more than was paid" in command(*asked).out
    replayed = command(*asked, "--json").document["replay"]
    assert (replayed["pairs"], replayed["exceeded"]) == (4, 0)
    assert replayed["largest_share"] <= 1


def test_a_picture_is_drawn_and_not_overwritten(command: Command, tmp_path: Path) -> None:
    assert command(*QUICK, "--plot", "roc.png", "--json").document["picture"] == "roc.png"
    assert (tmp_path / "roc.png").stat().st_size > 10_000
    again = command(*QUICK, "--plot", "roc.png")
    assert again.code == 2 or "exists" in again.err
    assert "--force" in again.err
    assert command(*QUICK, "--plot", "roc.png", "--force").code == 0


def test_without_a_name_the_names_are_listed(command: Command) -> None:
    names = command("audit", "--json").document["names"]
    assert [name for found in names.values() for name in found] == list(ATTACKS)
    out = command("audit").out
    assert "Estimators" in out
    assert "LogisticRegression" in out
    assert "tacit audit LogisticRegression --mu 3" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("LogistcRegression", "--mu", 1), "Did you mean 'LogisticRegression'?"),
        (("unknown", "--mu", 1), "There are: LogisticRegression, LinearSVC"),
        (("newton",), "--mu has no default"),
        (("newton", "--mu", 0), "mu must be a positive finite number; got 0"),
        (("newton", "--mu", -2), "mu must be a positive finite number; got -2"),
        (("newton", "--mu", 1, "--runs", 99), "runs must be a whole number of at least 100; got 99"),
        (("newton", "--mu", 1, "--confidence", 1), "confidence must lie in"),
        (("newton", "--mu", 1, "--replay", 0), "pairs must be a whole number of at least 1"),
        (("GradientSum", "--mu", 1, "--replay", 2), "nothing called 'GradientSum'"),
        (("newton", "--mu", 1, "--plot", "roc.gif"), ".png, .svg or .pdf"),
        (("newton", "--mu", "much"), "--mu"),
    ],
)
def test_refusals_name_what_was_wrong(command: Command, arguments: tuple[object, ...], words: str) -> None:
    done = command("audit", *arguments)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""
