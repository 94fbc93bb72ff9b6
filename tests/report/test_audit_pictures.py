"""The picture of an audit: written whole, the same every time, with the claim, the attack and the bound."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import tacit
from tacit.audit import run
from tacit.audit.result import AuditResult
from tacit.errors import SettingError
from tacit.report.audit_pictures import audit_picture


@pytest.fixture(scope="module")
def stands() -> AuditResult:
    return run("GradientSum", mu=2.0, runs=500, seed=1)


def test_plot_draws_an_audit(stands: AuditResult, tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "a.svg", "b.svg"):
        tacit.plot(stands, tmp_path / name)
    for kind in ("png", "svg"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    pixels = imread(tmp_path / "a.png")
    assert pixels.shape[1] > 1000
    assert np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0).shape[0] > 50


def test_the_words_of_the_picture(stands: AuditResult, tmp_path: Path) -> None:
    tacit.plot(stands, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for words in (
        "Audit of GradientSum: the claim stands",
        "500 runs per world, replace-one, confidence 0.999",
        "claim: μ = 2",
        f"lower bound: μ = {stands.mu_lower:.3g}",
        "attack, as observed",
        "on normal deviates",
    ):
        assert f"<!-- {words} -->" in text


def test_the_attack_lies_near_the_claim_and_on_straight_lines(stands: AuditResult) -> None:
    """Seeded: on normal deviates a claim about μ is the line y = x + μ."""
    left, right = audit_picture(stands).axes
    curves = {line.get_label(): line.get_xydata() for line in right.lines}
    claim = np.asarray(curves["claim: μ = 2"])
    inside = (claim[:, 1] < 3.0) & (claim[:, 1] > -3.0)
    np.testing.assert_allclose(claim[inside, 1] - claim[inside, 0], 2.0, atol=1e-6)
    attack = np.asarray(curves["attack, as observed"])
    middle = np.abs(attack).max(axis=1) < 1.3
    assert np.abs(attack[middle, 1] - attack[middle, 0] - 2.0).max() < 0.5
    rates = np.asarray(left.lines[1].get_xydata())
    assert rates.min() == 0.0
    assert rates.max() == 1.0


def test_a_claim_without_mu_is_drawn_by_its_epsilon(tmp_path: Path) -> None:
    found = run("PerturbedMinimum", mu=1.0, runs=100, seed=1)
    tacit.plot(found, tmp_path / "a.svg", title="Mine")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<!-- claim: ε = 4.38 at δ = 1e-05 -->" in text
    assert "<!-- Mine -->" in text


def test_other_files_are_refused(stands: AuditResult, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="png"):
        tacit.plot(stands, tmp_path / "a.gif")
