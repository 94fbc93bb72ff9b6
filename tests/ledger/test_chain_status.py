"""What is left, in mu, in epsilon and in further fits: never more than there is."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import BudgetError, SettingError
from tacit.ledger.law import LedgerLaw, root_down
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian

capacity_of = LedgerLaw().capacity
SETTINGS: dict[str, Any] = {"relation": "replace-one", "unit": "row"}


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 40.0])
def test_the_epsilon_that_is_left_can_be_spent(epsilon: float) -> None:
    ledger = Ledger(budget=Budget(epsilon=epsilon, delta=1e-7))
    ledger.reserve([Gaussian(1, 10**6)], **SETTINGS)
    status = ledger.status()
    assert status.left is not None
    assert status.left.delta == 1e-7
    room = capacity_of(Budget(epsilon=epsilon, delta=1e-7)) - Fraction(1, 10**6)
    worth = capacity_of(status.left)
    assert worth <= room <= worth * (1 + Fraction(1, 10**8))


def test_as_many_more_fits_as_it_says_and_not_one_more() -> None:
    ledger = Ledger(budget=Budget(mu=1.0))
    assert ledger.status().more_like_last is None
    ledger.reserve([Gaussian(1, 7)], **SETTINGS)
    assert ledger.status().more_like_last == 6
    assert "6 more fits like the last" in str(ledger.status())
    for _ in range(6):
        ledger.reserve([Gaussian(1, 7)], **SETTINGS)
    assert str(ledger.status()) == "nothing is left"
    with pytest.raises(BudgetError):
        ledger.reserve([Gaussian(1, 7)], **SETTINGS)


def test_an_analyst_is_told_of_the_own_grant() -> None:
    ledger = Ledger(budget=Budget(mu=1.0), analyst="ana")
    ledger.grant("ana", Budget(mu=0.5))
    assert ledger.remaining() == Budget(mu=0.5, delta=1e-6)
    assert ledger.status().granted == {"ana": (0.25, 0.25)}


@pytest.mark.parametrize("square", [Fraction(2), Fraction(1, 3), Fraction(1, 10**300), Fraction(0)])
def test_a_root_is_rounded_down(square: Fraction) -> None:
    root = root_down(square)
    assert Fraction(root) ** 2 <= square < (Fraction(root) + Fraction(root) / 2**50) ** 2 or (square == root == 0)


def test_the_last_fit_is_the_analysts_own_and_is_named(tmp_path: Path) -> None:
    file = tmp_path / "team.ledger"
    ledger = Ledger(file, budget=Budget(mu=1.0))
    ledger.grant("ana", share=0.5)
    ledger.grant("ben", share=Fraction(1, 4))
    Ledger(file, analyst="ana").reserve([Gaussian(1, 16)], formula="y ~ x", **SETTINGS)
    Ledger(file, analyst="ben").reserve([Gaussian(1, 10)], label="a mean", **SETTINGS)
    assert ledger.status(analyst="ana").more_like_last == 6
    assert str(ledger.status(analyst="ana")).endswith("6 more fits like the last (y ~ x)")
    assert str(ledger.status(analyst="ben")).endswith("1 more fit like the last (a mean)")
    assert str(ledger.status()).endswith("like the last (a mean, by ben)")


def test_shares_add_up_to_the_whole_and_no_more() -> None:
    for budget in (Budget(mu=1.0), Budget(epsilon=3, delta=1e-6), Budget(epsilon=1, delta=0.0)):
        ledger = Ledger(budget=budget)
        for name in "abcdefghij":
            ledger.grant(name, share=0.1)
        assert all(whole == pytest.approx(0.1, rel=1e-6) for whole, _ in ledger.status().granted.values())
        assert str(ledger.status()) == "nothing is left"
        with pytest.raises(BudgetError):
            ledger.grant("k", share=0.01)


def test_a_tiny_share_is_not_rounded_up() -> None:
    """6e-10 is nearer to 1e-9 than to 0 among parts of a thousand million."""
    ledger = Ledger(budget=Budget(mu=1.0))
    ledger.grant("ana", share=6e-10)
    assert ledger.status().granted["ana"][0] <= 6e-10


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan"), "half"])
def test_what_is_no_share_is_refused(share: Any) -> None:
    with pytest.raises(SettingError, match="share"):
        Ledger(budget=Budget(mu=1.0)).grant("ana", share=share)
    with pytest.raises(SettingError, match="budget or a share"):
        Ledger(budget=Budget(mu=1.0)).grant("ana", Budget(mu=0.1), share=0.5)
