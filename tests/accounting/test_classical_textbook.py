import itertools
import math
from fractions import Fraction

import pytest

from tacit.accounting import gaussian
from tacit.accounting.classical import classical_gaussian_sigma, even_split
from tacit.errors import BudgetError, SettingError


@pytest.mark.parametrize("epsilon", [1.0, 1.5, 10.0, math.inf, 0.0, -1.0, math.nan])
def test_t19_the_textbook_scale_is_refused_outside_its_theorem(epsilon: float) -> None:
    with pytest.raises(BudgetError, match="exact curve"):
        classical_gaussian_sigma(epsilon, 1e-6)


def test_t19_the_textbook_scale_is_valid_and_wasteful_inside() -> None:
    for epsilon, delta in itertools.product([0.01, 0.1, 0.5, 0.999], [1e-20, 1e-6, 0.1]):
        sigma = classical_gaussian_sigma(epsilon, delta)
        assert sigma >= math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
        assert gaussian.delta(epsilon, 1.0 / sigma) <= delta
        assert sigma > 1.0 / gaussian.mu(epsilon, delta)


def test_the_scale_follows_the_sensitivity() -> None:
    assert classical_gaussian_sigma(0.5, 1e-6, 4.0) == pytest.approx(4.0 * classical_gaussian_sigma(0.5, 1e-6))
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(BudgetError, match=r"expected|must"):
            classical_gaussian_sigma(0.5, wrong)


def test_t34_shares_neither_exceed_nor_strand_the_budget() -> None:
    for epsilon, delta, parts in itertools.product([0.1, 1.0, 8.0], [1e-6, 1e-3], [1, 3, 10, 777]):
        share = even_split(epsilon, delta, parts)
        for whole, part in zip((epsilon, delta), share, strict=True):
            assert whole * (1 - 1e-9) <= Fraction(part) * parts <= whole
    with pytest.raises(SettingError, match=r"expected|must"):
        even_split(1.0, 1e-6, 0)
