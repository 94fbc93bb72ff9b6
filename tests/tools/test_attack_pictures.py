"""The pictures of linkage and membership: what is drawn is what was found."""

from pathlib import Path

import numpy as np
import pytest

from tacit.audit.membership import attack_means
from tools.attack_pictures import linkage_picture, main, membership_picture


def test_bars_are_shares_of_names_found() -> None:
    (axes,) = linkage_picture().axes
    shares = [bar.get_window_extent().width for bar in axes.patches]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] > 10 * shares[-2] > 0.0
    assert axes.get_yticklabels()[0].get_text() == "sex"


def test_the_guarantee_is_drawn_where_there_is_one(tmp_path: Path) -> None:
    found = attack_means(mu=1.0, members=20, sites=100, seed=1)
    scores, roc = membership_picture(found, tmp_path / "private.svg").axes
    labels = [line.get_label() for line in roc.get_lines()]
    assert "guarantee: μ = 1" in labels
    bound = roc.get_lines()[0].get_ydata()
    assert np.asarray(bound)[200] == pytest.approx(0.8416, abs=0.002)
    assert scores.get_xlabel() == "q-score"
    assert len(scores.patches) == 2 * 26
    exact = membership_picture(attack_means(members=20, sites=100, seed=1)).axes[1]
    assert [line.get_label() for line in exact.get_lines()] == ["attack, as observed", "guessing"]


def test_all_pictures_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = attack_means(members=20, sites=100, seed=1)
    monkeypatch.setattr("tools.attack_pictures.attack_means", lambda **_: small)
    assert main([str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "linkage.png",
        "membership_exact.png",
        "membership_private.png",
    ]
