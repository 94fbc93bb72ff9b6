"""Two stages of descent: their plan, and that they arrive where residuals are large or small."""

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.purpose import Purpose
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
