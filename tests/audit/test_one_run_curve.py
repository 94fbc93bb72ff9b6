"""One-run tests of a trade-off curve. Oracles: independent Gaussian answers, and the bound for a pure ε."""

import math

import numpy as np
import pytest
from scipy import stats

from tacit.accounting.classical import Approximate, Gaussian
from tacit.audit.one_run import one_run_epsilon
from tacit.audit.one_run_curve import one_run_mu, one_run_refutes
from tacit.errors import SettingError

AUDITS, CANARIES, GUESSES, CONFIDENCE = 10_000, 400, 50, 0.95


def above(true: float, claimed: float) -> int:
    """Of 10,000 ideal audits of answers at μ = `true`, how many show more than `claimed`."""
    rng = np.random.default_rng(0)
    shown: dict[int, float] = {}
    count = 0
    for _ in range(AUDITS):
        coins = rng.random(CANARIES) < 0.5
        scores = coins * true + rng.normal(size=CANARIES) - true / 2
        surest = np.argsort(-np.abs(scores))[:GUESSES]
        right = int(np.sum((scores[surest] > 0) == coins[surest]))
        if right not in shown:
            shown[right] = one_run_mu(CANARIES, GUESSES, right, confidence=CONFIDENCE)
        count += shown[right] > claimed
    return count


def test_ideal_audits_exceed_the_truth_at_most_at_the_stated_rate() -> None:
    """10,000 audits at 95%: a false alarm in 1e-7."""
    assert above(1.0, 1.0) <= stats.binom.isf(1e-7, AUDITS, 1 - CONFIDENCE)


def test_what_costs_more_than_it_claims_is_seen() -> None:
    assert above(3.0, 1.0) > AUDITS / 2


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 3.0])
def test_a_pure_claim_is_refuted_about_where_the_binomial_bound_refutes_it(epsilon: float) -> None:
    """For f of a pure ε the recursion is a little weaker than the exact tail of the binomial."""
    chance = 1 / (1 + math.exp(-epsilon))
    exact = int(stats.binom.isf(0.05, 1000, chance)) + 1
    curve = Approximate(epsilon, 0.0)
    refuted = [v for v in range(500, 1001) if one_run_refutes(curve, 1000, 1000, v, confidence=0.95)]
    assert exact <= refuted[0] <= exact + 25
    assert refuted == [*range(refuted[0], 1001)]
    assert one_run_epsilon(1000, 1000, refuted[0], confidence=0.95) >= epsilon


def test_fewer_right_guesses_or_more_confidence_show_less() -> None:
    shown = [one_run_mu(1000, 200, right) for right in (120, 160, 190, 200)]
    assert shown == sorted(shown)
    assert one_run_mu(1000, 200, 190, confidence=0.999) < one_run_mu(1000, 200, 190, confidence=0.9)
    assert one_run_mu(1000, 200, 100) == 0.0


def test_the_bound_is_between_what_is_refuted_and_what_is_not() -> None:
    mu = one_run_mu(1000, 200, 190)
    assert one_run_refutes(Gaussian(mu * 0.999), 1000, 200, 190)
    assert not one_run_refutes(Gaussian(mu * 1.001), 1000, 200, 190)


@pytest.mark.parametrize("given", [(0, 0, 0), (10, 11, 0), (10, 5, 6)])
def test_bad_counts_are_refused(given: tuple[int, int, int]) -> None:
    with pytest.raises(SettingError):
        one_run_refutes(Gaussian(1.0), *given)
