"""Poisoning audits: the pair, the bound for a group, and a seeded fault."""

import math

import numpy as np
import pytest

from tacit.accounting.interpretation import group_approximate
from tacit.audit.bounds import epsilon_shown
from tacit.audit.poisoning import RECORDS, one_poison, poison, poisoned_pair, run_poisoning
from tacit.errors import SettingError
from tacit.mechanisms import gaussian_sum
from tacit.noise.gaussian import rounded_gaussian


def test_the_worlds_differ_in_the_poisoned_records_alone() -> None:
    pair = poisoned_pair(3)
    assert np.isnan(pair.first.X[:3]).all()
    assert np.array_equal(pair.first.X[3:], pair.second.X[3:])
    assert np.array_equal(pair.first.y, pair.second.y)
    assert len(pair.first.X) == RECORDS


def test_the_poison_is_where_the_rows_vary_the_least() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 0.01, 2.0]
    assert np.abs(poison(X)) == pytest.approx([0.0, 1.0, 0.0], abs=0.02)


def test_the_bound_of_a_group_inverts_group_privacy() -> None:
    epsilon, delta = 0.7, 1e-4
    total, leak = group_approximate(epsilon, delta, 4)
    rare = 0.01
    assert epsilon_shown(math.exp(total) * rare + leak, rare, delta, 4) == pytest.approx(epsilon, rel=1e-6)
    assert epsilon_shown(0.5, 0.01, 0.1) == pytest.approx(math.log(40))
    assert epsilon_shown(0.05, 0.01, 0.1, 4) == -math.inf
    assert epsilon_shown(0.2, 0.9, 0.1, 4) < 0.0


def test_a_sound_solver_is_not_refuted_and_poison_shows_something() -> None:
    """200 fits a world; a false alarm in 1e-3 of noise that is seeded."""
    found = run_poisoning(epsilon=8.0, poisons=2, runs=200, seed=1)
    assert not found.refuted
    assert 0.3 < found.epsilon_lower < found.document()["epsilon_claimed"]
    assert one_poison(1.0, 0).claim.epsilon(1e-5) <= 4.3772


def test_a_sixteenth_of_the_noise_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        gaussian_sum, "rounded_gaussian", lambda size, bits, entropy: rounded_gaussian(size, bits - 4, entropy)
    )
    assert run_poisoning(epsilon=0.5, poisons=1, runs=150, seed=2).refuted


@pytest.mark.parametrize("given", [{"poisons": 0}, {"poisons": RECORDS}, {"runs": 10}, {"delta": 0.0}])
def test_bad_settings_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        run_poisoning(epsilon=1.0, **given)  # type: ignore[arg-type]
