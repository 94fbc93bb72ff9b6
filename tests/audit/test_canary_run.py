"""One run of the stochastic solver on canaries. Oracle: the trade-off curve of the plan, and seeded faults."""

import numpy as np
import pytest

from tacit.accounting.classical import Profile
from tacit.accounting.composition import compose
from tacit.audit.canary_run import Lines, claimed, run_canaries
from tacit.errors import SettingError
from tacit.mechanisms import gaussian_sum
from tacit.noise.gaussian import rounded_gaussian
from tacit.privacy.event import Gaussian


def test_a_sound_solver_is_not_refuted_and_half_of_its_epsilon_is_shown() -> None:
    """Seeded; ten runs without a seed are in the benchmarks."""
    found = run_canaries(epsilon=8.0, canaries=2000, seed=1)
    assert not found.refuted
    assert 0.5 * 8.0 < found.epsilon_lower < found.epsilon_claimed <= 8.0
    assert 0.0 < found.epsilon_lower_any < found.epsilon_lower
    assert found.document()["guesses"] == found.guesses == 2000 // 12


def test_half_the_noise_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        gaussian_sum, "rounded_gaussian", lambda size, bits, entropy: rounded_gaussian(size, bits - 2, entropy)
    )
    found = run_canaries(epsilon=4.0, canaries=1500, steps=20, seed=2)
    assert found.refuted
    assert found.epsilon_lower >= found.epsilon_claimed


def test_coins_that_are_not_in_the_table_are_not_seen() -> None:
    found = run_canaries(epsilon=0.1, canaries=400, steps=5, seed=3)
    assert found.epsilon_lower == 0.0
    assert abs(found.right - found.guesses / 2) < 4 * np.sqrt(found.guesses / 4) + 1


def test_lines_are_the_profile_of_a_composition() -> None:
    claim = compose([Gaussian(1, 1)])
    lines = Lines.of(claim)
    profile = Profile(tuple(zip(lines.epsilons.tolist(), lines.deltas.tolist(), strict=True)))
    for alarm in (1e-6, 0.01, 0.3, 0.9, 1.0):
        assert lines.misses_at(alarm) == pytest.approx(profile.misses_at(alarm), abs=1e-9)
        assert lines.misses_at(alarm) <= profile.misses_at(alarm) + 1e-15


def test_more_noise_costs_less() -> None:
    from tacit.estimators.classifiers import LogisticRegression

    model = LogisticRegression(
        epsilon=2.0, delta=1e-5, bounds=(-1, 1), classes=(0, 1), solver="stochastic", clip=1.0, sample_rate=0.5
    )
    plan = model.plan(500, 3)
    assert claimed(plan, 1.0).epsilon(1e-5) == pytest.approx(compose(plan.events(), plan.relation).epsilon(1e-5))
    assert claimed(plan, 2.0).epsilon(1e-5) < claimed(plan, 1.5).epsilon(1e-5) < 2.0


@pytest.mark.parametrize("given", [{"canaries": 5}, {"epsilon": 0.0}, {"delta": 0.0}, {"confidence": 0.1}])
def test_bad_settings_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        run_canaries(**given)  # type: ignore[arg-type]
