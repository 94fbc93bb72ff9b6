"""Pictures of an account: written whole, the same every time, honest about the forecast."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tacit.accounting.composition import compose
from tacit.accounting.training_run import Run
from tacit.errors import FileError, SettingError
from tacit.privacy.event import Approximate, Event, Gaussian, Laplace, Pure
from tacit.privacy.relation import Relation
from tacit.report.account import Account, account_of
from tacit.report.account_pictures import account_picture, composition_picture
from tacit.report.coefficients import plot

LEAK = Approximate(1, Fraction(1, 10))


@pytest.fixture(scope="module")
def whole() -> Account:
    return account_of(Run(noise=20, steps=100, relation=Relation.REPLACE_ONE), 1e-5)


@pytest.fixture(scope="module")
def sampled() -> Account:
    return account_of(Run(noise=0.8, steps=1, relation=Relation.ADD_REMOVE, sample_rate=0.02), 1e-5)


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_the_same_account_is_the_same_file(tmp_path: Path, whole: Account, name: str) -> None:
    account_picture(whole, tmp_path / name, "tradeoff")
    account_picture(whole, tmp_path / f"again-{name}", "tradeoff")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_words_of_all_panels(tmp_path: Path, sampled: Account) -> None:
    account_picture(sampled, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for words in (
        "Privacy profile: δ at each ε",
        "What an attacker can do",
        "Privacy-loss distribution",
        "steps",
        "forecast, no guarantee",
        "the person is in the table",
    ):
        assert f"<!-- {words} -->" in text


@pytest.mark.parametrize(
    ("picture", "words"),
    [
        ("curve", "Privacy profile"),
        ("tradeoff", "What an attacker can do"),
        ("steps", "ε against steps"),
        ("loss", "Privacy-loss distribution"),
    ],
)
def test_one_panel_is_that_panel(tmp_path: Path, whole: Account, picture: str, words: str) -> None:
    account_picture(whole, tmp_path / "a.svg", picture)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert f"<!-- {words}" in text
    assert text.count("axes_") < 3


def test_nothing_is_cut_off_at_the_edges(tmp_path: Path, whole: Account) -> None:
    account_picture(whole, tmp_path / "a.png")
    pixels = imread(tmp_path / "a.png")[:, :, :3]
    frame = np.concatenate([pixels[:4].ravel(), pixels[-4:].ravel(), pixels[:, :4].ravel()])
    assert frame.min() == 1.0
    assert pixels.min() < 0.3


@pytest.mark.parametrize(
    ("noise", "rate", "delta", "picture"),
    [(0.01, 1e-3, 1e-5, "loss"), (1.0, 0.0, 1e-5, "steps"), (1.0, None, 0.0, "curve")],
)
def test_extremes_are_drawn(tmp_path: Path, noise: float, rate: float | None, delta: float, picture: str) -> None:
    run = Run(noise=noise, steps=10, relation=Relation.ADD_REMOVE, sample_rate=rate)
    account_picture(account_of(run, delta), tmp_path / "a.png", picture)
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_other_kinds_are_refused(tmp_path: Path, whole: Account) -> None:
    with pytest.raises(SettingError, match=r"\.png, \.svg or \.pdf"):
        account_picture(whole, tmp_path / "a.gif")
    with pytest.raises(SettingError, match="unknown picture"):
        account_picture(whole, tmp_path / "a.png", "pie")
    with pytest.raises(FileError, match="cannot be written"):
        account_picture(whole, tmp_path / "nowhere" / "a.png", "loss")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("events", [[], [Laplace(1, 10), Gaussian(1, 9)], [Gaussian(1, 4)], [Pure(1)], [LEAK]])
def test_a_composition_is_drawn(tmp_path: Path, events: list[Event]) -> None:
    plot(compose(events), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for words in ("Privacy profile", "What an attacker can do", "Privacy-loss distribution", "Rényi divergence"):
        assert f"<!-- {words}" in text
    assert "steps" not in text


def test_one_panel_of_a_composition(tmp_path: Path) -> None:
    found = composition_picture(compose([Laplace(1, 10)], "zero-out"), tmp_path / "a.svg", "renyi", delta=1e-9)
    assert len(found.axes) == 1
    assert "1e-09, zero-out" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    with pytest.raises(SettingError, match="picture must be one of"):
        composition_picture(compose([]), picture="steps")
