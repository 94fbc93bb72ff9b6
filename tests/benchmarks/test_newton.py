"""What the safeguards of noisy Newton do, and how soon it is there: small runs, seeds fixed."""

import numpy as np
import pytest

from benchmarks.newton import FAR, count_far, error, plan_for, simulate, unguarded
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.solvers.newton import Newton
from tacit.solvers.solver import SolverOptions

LOSSES = (classification.LOGISTIC, regression.SQUARED)


def test_the_talk_s_undamped_form_runs_away() -> None:
    """It did in 99% of 500 runs; of 100, fewer than 85 would have a chance below 1e-9."""
    generator = np.random.default_rng(1)
    far = [unguarded(generator, 1.0) > FAR for _ in range(100)]
    assert sum(far) >= 85
    damped = [unguarded(generator, 0.1) > FAR for _ in range(50)]
    assert sum(damped) <= 25


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_no_guarded_run_runs_away(loss: Loss) -> None:
    """None did in 10,000 runs (benchmarks/results/newton.json), the farthest far below the line."""
    far, farthest = count_far(plan_for(loss, 1000, 4, 2.0), 150, seed=2)
    assert far == 0
    assert farthest < FAR / 2


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize(("n", "d", "mu"), [(1000, 4, 0.16), (1000, 4, 0.5), (1000, 10, 0.8)])
def test_newton_is_as_good_as_majorised_newton(loss: Loss, n: int, d: int, mu: float) -> None:
    """Root mean squared errors over 40 tables each, where n·μ is at least 20·d^1.5.

    Their ratio has a standard error of about a tenth; a quarter is allowed.
    """
    errors = {}
    for solver in ("newton", "majorised-newton"):
        plan = plan_for(loss, n, d, mu, SolverOptions(solver=solver))
        assert not isinstance(plan.solver, Newton) or len(plan.solver.step_sizes) <= 20
        generator = np.random.default_rng(3)
        off = [error(plan, simulate(plan, generator)) for _ in range(40)]
        errors[solver] = float(np.sqrt(np.mean(np.square(off))))
    assert errors["newton"] <= 1.25 * errors["majorised-newton"]
