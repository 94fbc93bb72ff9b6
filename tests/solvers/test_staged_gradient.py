"""Two stages of descent: their plan, and that they arrive where residuals are large or small."""

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.purpose import Purpose
from tacit.solvers.far_out_rules import FAR_OUT
from tacit.solvers.rules import CORRECTIONS, STAGED
from tacit.solvers.staged_gradient import Staged

MODELS: dict[str, Any] = {
    "linear": lambda **s: tacit.LinearRegression(y_bounds=(-1, 1), **s),
    "quantile": lambda **s: tacit.QuantileRegressor(y_bounds=(-1, 1), **s),
    "poisson": lambda **s: tacit.PoissonRegressor(y_max=20, **s),
}


def planned(model: str, n: int = 20_000, d: int = 5, **settings: Any) -> Any:
    return MODELS[model](**{"epsilon": 1.0, "bounds": (-1, 1), **settings}).plan(n, d)


@pytest.mark.parametrize("model", MODELS)
def test_both_stages_are_paid_for_in_order(model: str) -> None:
    plan = planned(model)
    assert isinstance(plan.solver, Staged)
    descents = [step.times for step in plan.steps if step.purpose is Purpose.DESCENT]
    assert descents == [stage.descent.iterations for stage in plan.solver.stages]
    for stage in plan.solver.stages:
        assert stage.shift_rounds in {0, STAGED.shift_rounds}
    assert plan.solver.locating_response.mean == (model == "poisson")
    assert bool(plan.solver.stages[-1].shift_rounds) == (model == "quantile")


def test_a_declared_number_of_steps_is_split_over_the_stages() -> None:
    stages = planned("linear", iterations=10).solver.stages
    assert [stage.descent.iterations for stage in stages] == [3, 7]


def test_shrinkage_falls_with_the_signal() -> None:
    shrinkage = [planned("linear", epsilon=epsilon).solver.shrinkage for epsilon in (0.02, 0.5, 4)]
    assert shrinkage == sorted(shrinkage, reverse=True)
    assert shrinkage[0] <= 1.0
    plan = planned("linear", epsilon=4.0)
    assert shrinkage[-1] == pytest.approx(CORRECTIONS.full_shrinkage / plan.signal, rel=1e-3)
    assert planned("linear", radius=1.0).solver.shrinkage == 0.0


def test_plain_least_squares_clips_farther_out_where_the_signal_is_clear_and_pilots_do_not() -> None:
    for epsilon, wider in ((0.05, False), (0.3, True)):
        plan, pilot = planned("linear", epsilon=epsilon), planned("linear", epsilon=epsilon, inference=True)
        usual = STAGED.size_clip.at(plan.signal)
        clips = [stage.descent.clip_factor for stage in plan.solver.stages]
        assert clips == pytest.approx([max(usual, FAR_OUT.clip.at(plan.signal))] * 2, rel=1e-6)
        assert (clips[0] > 1.001 * usual) == wider
        assert plan.solver.seeks_tail
        if pilot.solver.intervals:
            assert not pilot.solver.pilot.seeks_tail
            assert pilot.solver.pilot.stages[-1].descent.clip_factor <= STAGED.size_clip.at(pilot.signal)
    assert not planned("poisson").solver.seeks_tail


@pytest.mark.parametrize(("solver", "least"), [("auto", 0.3), ("moments", 0.25)])
def test_a_response_that_is_mostly_zero_keeps_its_slopes(solver: str, least: float) -> None:
    """Seeded; seven in eight are 0, and what most records share told nothing of the rest: R² was .08 at ε = 8."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (7000, 8))
    index = X @ rng.standard_normal(8)
    y = np.where(index + rng.logistic(size=7000) / 2 > 2.2, 2 * np.exp(0.3 * index), 0.0)
    model = tacit.LinearRegression(epsilon=8.0, bounds=(-1, 1), y_bounds=(0, 20), solver=solver, random_state=1)
    model.fit(X[:3000], y[:3000])
    assert np.mean(y == 0) > 0.85
    assert model.score(X[3000:], y[3000:]) > least


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_one_rule_serves_all_units(scale: float) -> None:
    """The same table in other units of the response gives the same fit, up to rounding."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (20_000, 3))
    y = np.clip(X @ [1.0, -0.5, 0.2] + rng.normal(0, 0.3, 20_000), -5, 5)
    model = tacit.LinearRegression(epsilon=2.0, bounds=(-1, 1), y_bounds=(-5 * scale, 5 * scale), random_state=1).fit(
        X, y * scale
    )
    np.testing.assert_allclose(model.coef_ / scale, [1.0, -0.5, 0.2], atol=0.1)


@pytest.mark.parametrize(("rate", "within"), [(0.01, 0.12), (0.03, 0.06), (0.1, 0.05)])
def test_events_that_are_rare_are_fitted_as_without_noise(rate: float, within: float) -> None:
    """The mean size of residuals is about twice the rate; clips of a few sizes would halve every event."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40_000, 3)).clip(-4, 4)
    y = rng.poisson(rate * np.exp(X @ [0.5, -0.3, 0.0] - 0.17)).clip(0, 6)
    given: dict[str, Any] = {"bounds": (-4, 4), "y_max": 6}
    exact = tacit.PoissonRegressor(epsilon=float("inf"), **given).fit(X, y)
    private = tacit.PoissonRegressor(epsilon=10.0, delta=1e-6, random_state=1, **given).fit(X, y)
    np.testing.assert_allclose(private.coef_, exact.coef_, atol=within)
    assert private.intercept_ == pytest.approx(exact.intercept_, abs=within)


def test_few_events_leave_slopes_small() -> None:
    """120 events at ε = 0.3 tell hardly anything of three slopes: the fit stays near the level."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(12_000, 3)).clip(-4, 4)
    y = rng.poisson(0.01, 12_000).clip(0, 6)
    given: dict[str, Any] = {"epsilon": 0.3, "delta": 1e-6, "bounds": (-4, 4), "y_max": 6}
    sizes = [np.abs(tacit.PoissonRegressor(random_state=i, **given).fit(X, y).coef_).max() for i in range(8)]
    assert np.mean(sizes) < 0.5
