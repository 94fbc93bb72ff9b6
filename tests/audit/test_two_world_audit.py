"""An audit from its name to its bounds: what is refused, what is reproducible, and what it shows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.accounting.composition import compose
from tacit.audit.attack import Attack, Subject, Worlds
from tacit.audit.registry import ATTACKS
from tacit.audit.two_world_audit import FEWEST_RUNS
from tacit.errors import LedgerError, SettingError
from tacit.privacy.event import Gaussian
from tacit.privacy.relation import Relation


def test_logistic_regression_at_mu_3_shows_at_least_eight_tenths() -> None:
    """1000 runs a world at 99.9%.

    The bound has mean 0.91 μ and deviation 0.026 μ: it is below 0.8 μ with probability about 2e-5, and above μ with
    probability at most 1e-3. Seeded, hence no false alarms.
    """
    found = tacit.audit.run("LogisticRegression", mu=3, runs=1000, seed=0)
    assert 0.8 * 3 <= found.mu_lower <= 3
    assert found.mu_claimed == 3
    assert (found.confidence, found.runs, found.relation) == (0.999, 1000, Relation.REPLACE_ONE)


def test_a_seed_makes_an_audit_reproducible() -> None:
    for name in ("GradientSum", "newton", "LogisticRegression"):
        first, second, third = (tacit.audit.run(name, mu=1, runs=100, seed=seed) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first.scores.first, second.scores.first)
        assert not np.isin(first.scores.first, third.scores.first).any()
        assert not np.isin(first.scores.first, first.scores.second).any()
        assert len(np.unique(first.scores.first)) == 100


def test_without_a_seed_the_noise_is_fresh() -> None:
    first, second = (tacit.audit.run("SecondMoments", mu=1, runs=100) for _ in range(2))
    assert not np.isin(first.scores.first, second.scores.first).any()


def test_pilot_runs_come_on_top() -> None:
    drawn = [0, 0]

    def draw(world: int, runs: int) -> Any:
        drawn[world] += runs
        return np.random.default_rng(drawn).normal(size=runs) + 100 * (drawn[world] > 100) * world

    own = Attack(
        "own", Subject.MECHANISM, lambda _mu, _seed: Worlds(compose([Gaussian(1, 1)]), Relation.ZERO_OUT, draw)
    )
    found = tacit.audit.run(own, mu=1, runs=1000)
    assert drawn == [1100, 1100]
    assert len(found.scores.first) == len(found.scores.second) == 1000


def test_an_attack_of_ones_own() -> None:
    """A Gaussian release with half its noise is refuted at level 1e-6."""

    def worlds(mu: float, seed: int | None) -> Worlds:
        rng = np.random.default_rng(seed)
        return Worlds(
            compose([Gaussian(1, 1)]), Relation.ZERO_OUT, lambda world, runs: rng.normal(world, 0.5 / mu, runs)
        )

    found = tacit.audit.run(Attack("half", Subject.MECHANISM, worlds), mu=1.0, runs=2000, confidence=1 - 1e-6, seed=1)
    assert found.refuted
    assert found.mu_lower > 1.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mu": 0}, "mu must be a positive finite number; got 0"),
        ({"mu": -1.0}, "mu must be a positive"),
        ({"mu": float("inf")}, "mu must be a positive"),
        ({"runs": FEWEST_RUNS - 1}, "runs must be a whole number of at least 100; got 99"),
        ({"runs": 1000.0}, "runs must be a whole number"),
        ({"confidence": 1.0}, "confidence must lie in"),
        ({"confidence": 0.5}, "confidence must lie in"),
        ({"delta": 0.0}, "delta must lie between"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_bad_settings_are_refused_before_anything_runs(given: dict[str, Any], message: str) -> None:
    def never(_mu: float, _seed: int | None) -> Worlds:
        raise AssertionError

    attack = replace(ATTACKS["newton"], worlds=never)
    with pytest.raises(SettingError, match=message):
        tacit.audit.run(attack, **{"mu": 1.0, **given})


@pytest.mark.parametrize("drawn", [np.zeros(3), np.full(2, np.nan)])
def test_scores_that_are_none_are_refused(drawn: Any) -> None:
    worlds = Worlds(compose([Gaussian(1, 1)]), Relation.ZERO_OUT, lambda _world, _runs: drawn)
    with pytest.raises(SettingError, match="one score"):
        tacit.audit.run(Attack("odd", Subject.MECHANISM, lambda _mu, _seed: worlds), mu=1)


def test_an_audit_is_refused_inside_a_ledger() -> None:
    with (
        tacit.Ledger(budget=tacit.Budget(epsilon=1, delta=1e-6)),
        pytest.raises(LedgerError, match="leave its block first"),
    ):
        tacit.audit.run("LogisticRegression", mu=1, runs=100)


def test_progress_is_told_up_to_the_end() -> None:
    told: list[Any] = []
    tacit.audit.run("ColumnCounts", mu=1, runs=200, progress=lambda *step: told.append(step))
    assert told[-1] == (500, 500, "ColumnCounts")
    assert [step[0] for step in told] == sorted(step[0] for step in told)


def test_an_audit_does_not_warn() -> None:
    """Of small tables, large budgets and repeated fits, all of which are meant; warnings are errors in tests."""
    assert not tacit.audit.run("GaussianMean", mu=5, runs=100).refuted


def test_names_are_all_names() -> None:
    assert tacit.audit.names() == tuple(ATTACKS)
