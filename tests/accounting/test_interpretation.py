import math
from fractions import Fraction

import pytest
from scipy import stats

from tacit.accounting.composition import Composition, compose, guarantee_of
from tacit.accounting.interpretation import Reading, group_epsilon, reading, trade_off
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Guarantee
from tacit.privacy.event import Gaussian, Laplace, Pure, Repeated
from tacit.privacy.relation import Relation


def test_a_gaussian_release_reads_as_its_exact_test() -> None:
    power = 1 - stats.norm.cdf(stats.norm.ppf(0.95) - 0.5)
    found = reading(compose([Gaussian(1, 4)]))
    assert power <= found.detection <= power * (1 + 1e-9)
    assert str(found) == "at 5% false alarms an attacker detects a person at most 12.7% of the time"
    stated = guarantee_of([Gaussian(1, 4)], delta=1e-6, relation="zero-out", unit="row")
    assert reading(stated) == found


def test_pure_releases_read_as_their_profile_allows() -> None:
    # Randomised response: at 5% false alarms the best test against epsilon detects e^epsilon 5%.
    found = reading(compose([Pure(1)]))
    assert 0.05 * math.e <= found.detection <= 0.05 * math.e * 1.01 + 1e-5


def test_a_mixed_composition_is_no_worse_than_any_single_pair() -> None:
    composition = compose([Repeated(Laplace(1, 10), 5), Gaussian(1, 100)])
    known = trade_off(composition)
    for delta in (1e-6, 1e-2):
        pair = Guarantee(Relation.ADD_REMOVE, "row", composition.epsilon(delta), delta, None)
        assert known.misses_at(0.05) >= trade_off(pair).misses_at(0.05) * 0.97
    misses = [known.misses_at(rate / 10) for rate in range(11)]
    assert misses == sorted(misses, reverse=True)


def test_the_sentence_rounds_against_us() -> None:
    assert "at most 13.7%" in str(Reading(0.05, 0.13601))
    assert str(Reading(0.0512345, 1.0)).startswith("at 5.12% false alarms")
    assert "100%" in str(Reading(0.05, 1.0))
    assert reading(Guarantee(Relation.ZERO_OUT, "row", math.inf, 1.0, None)).detection == 1.0


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan])
def test_rates_outside_zero_to_one_are_refused(rate: float) -> None:
    with pytest.raises(BudgetError):
        reading(Composition(Fraction(1)), false_alarm=rate)


def test_t35_groups_of_gaussian_releases_cost_k_mu_exactly() -> None:
    one = compose([Gaussian(1, 900)])
    assert group_epsilon(one, 3, delta=1e-6) == compose([Gaussian(1, 100)]).epsilon(1e-6)
    assert group_epsilon(one, 1, delta=1e-6) == one.epsilon(1e-6)


def test_groups_of_pure_releases_cost_at_most_k_times_as_much() -> None:
    one = compose([Pure(Fraction(1, 10))])
    assert one.epsilon(1e-6) < group_epsilon(one, 4, delta=1e-6) <= 0.4 * (1 + 1e-9)
    mixed = compose([Laplace(1, 10), Gaussian(1, 100)])
    found = [group_epsilon(mixed, size, delta=1e-5) for size in (1, 2, 3)]
    assert found == sorted(found)
    assert found[1] > 1.5 * found[0]


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_what_is_no_group_is_refused(size: int) -> None:
    with pytest.raises(SettingError):
        group_epsilon(Composition(Fraction(1)), size, delta=1e-6)
