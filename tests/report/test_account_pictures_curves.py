"""Points of the pictures against closed forms and against the accountants."""

import math

import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.training_run import Run
from tacit.privacy.relation import Relation
from tacit.report.account import Account, account_of
from tacit.report.account_pictures import BEST, epsilon_by_steps, loss_density, profile, trade_off_points


@pytest.fixture(scope="module")
def sampled() -> Account:
    run = Run(noise=0.8, steps=100, relation=Relation.ADD_REMOVE, sample_rate=0.02)
    return account_of(run, 1e-5)


def test_the_profile_is_never_below_the_certified_one(sampled: Account) -> None:
    curves = profile(sampled)
    epsilons, deltas = curves[BEST]
    for place in (10, 40, 80):
        exact = sampled.composition.delta(float(epsilons[place]))
        assert deltas[place] == pytest.approx(exact, rel=0.02)
        assert curves["rdp"][1][place] >= exact
    at = float(np.interp(sampled.smallest.epsilon, epsilons, deltas))
    assert at == pytest.approx(1e-5, rel=0.02)
    assert np.all(np.diff(deltas) <= 0.0)
    assert curves["gdp-clt"][1][60] < deltas[60]


def test_gaussian_runs_have_their_exact_curve_alone() -> None:
    found = account_of(Run(noise=2, steps=4, relation=Relation.ADD_REMOVE), 1e-6)
    curves = profile(found)
    assert list(curves) == [BEST]
    epsilons, deltas = curves[BEST]
    assert deltas[30] == gaussian.delta(float(epsilons[30]), 1.0)


@pytest.mark.parametrize("steps", [1, 20])
def test_a_loss_has_mass_one_in_both_worlds(steps: int) -> None:
    run = Run(noise=1.0, steps=steps, relation=Relation.ADD_REMOVE, sample_rate=0.1)
    law = loss_density(account_of(run, 1e-5))
    assert law is not None
    width = float(law.losses[1] - law.losses[0])
    assert float(law.within.sum()) * width == pytest.approx(1.0, abs=2e-3)
    assert float(law.without.sum()) * width == pytest.approx(1.0, abs=1e-2)


def test_a_gaussian_loss_is_normal() -> None:
    law = loss_density(account_of(Run(noise=2, steps=4, relation=Relation.ADD_REMOVE), 1e-6))
    assert law is not None
    # Mean mu^2/2 and variance mu^2, with mu = 1.
    middle = law.losses.size // 2
    assert law.losses[middle] == pytest.approx(0.5)
    assert law.within[middle] == pytest.approx(1.0 / math.sqrt(2.0 * math.pi))


def test_what_cannot_be_computed_is_none() -> None:
    run = Run(noise=0.01, steps=10**6, relation=Relation.ADD_REMOVE, sample_rate=1e-3)
    assert loss_density(account_of(run, 1e-5)) is None
    assert loss_density(account_of(Run(noise=1, steps=1, relation=Relation.ADD_REMOVE, sample_rate=0), 0)) is None


def test_epsilon_grows_with_the_steps_and_meets_the_price(sampled: Account) -> None:
    steps, found = epsilon_by_steps(sampled)
    best = found[BEST]
    assert best[list(steps).index(100.0)] == sampled.smallest.epsilon
    assert np.all(np.diff(best) > 0.0)
    assert np.all(found["rdp"] >= best)


def test_the_trade_off_is_below_guessing(sampled: Account) -> None:
    alarms, misses = trade_off_points(sampled)
    assert np.all(misses <= 1.0 - alarms + 1e-9)
    assert np.all(np.diff(alarms) > 0.0)
    assert np.all(np.diff(misses) <= 0.0)
