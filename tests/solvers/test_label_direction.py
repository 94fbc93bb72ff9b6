"""Two labels of few records are fitted along one direction, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score

import tacit
from tacit.contract.plan import Plan
from tacit.planning.simulated_gate import SimulatedGate
from tacit.privacy.budget import Budget
from tacit.solvers import label_direction

MU = 0.2


def planned(n: int = 300, d: int = 20, **settings: Any) -> Plan:
    given = {"budget": Budget(mu=MU), "bounds": (-1, 1), "classes": (0, 1), **settings}
    return tacit.LogisticRegression(**given).plan(n, d)


def test_the_steps_are_share_direction_moments_and_descent_within_the_budget() -> None:
    plan = planned()
    assert plan.solver.name == "label-direction"
    assert [step.label for step in plan.steps] == ["share of labels", "direction", "second moments", "gradient descent"]
    assert plan.guarantee().mu == pytest.approx(MU, rel=1e-6)


def test_it_is_for_signals_up_to_four() -> None:
    assert planned(n=100).solver.name == "label-direction"
    assert planned(n=110).solver.name == "label-direction"
    assert planned(n=415).solver.name == "label-direction"
    assert planned(n=425).solver.name == "whitened-gradient"


@pytest.mark.parametrize(
    "settings",
    [
        {"l2": 0.1},
        {"fit_intercept": False},
        {"iterations": 3},
        {"classes": (0, 1, 2)},
        {"max_rows_per_unit": 3},
        {"solver": "whitened-gradient"},
    ],
)
def test_a_wish_a_penalty_or_another_model_keeps_the_descent(settings: dict[str, Any]) -> None:
    assert planned(**settings).solver.name == "whitened-gradient"


def test_a_wide_table_keeps_the_descent() -> None:
    assert planned(n=3000, d=190).solver.name == "label-direction"
    assert planned(n=3000, d=192).solver.name == "whitened-gradient"


def rows(n: int, d: int, level: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prepared rows, labels, and the margins that made them, of deviation 3."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-1, 1, (n, d)), np.ones(n)])
    slopes = rng.standard_normal(d)
    margins = level + 3 * np.sqrt(3) * X[:, :-1] @ slopes / np.linalg.norm(slopes)
    return X, (rng.logistic(size=n) < margins).astype(float), margins


def solved(plan: Plan, X: np.ndarray, y: np.ndarray, seed: int | None) -> np.ndarray:
    generator = None if seed is None else np.random.default_rng(seed)
    return plan.solver.run(SimulatedGate(plan, X, y, generator), plan).theta


@pytest.mark.parametrize("level", [0.0, -2.0])
def test_without_noise_the_direction_is_that_of_the_margins_that_made_the_labels(level: float) -> None:
    """20,000 records, answered with a billionth of the plan's noise; the steps stay as short as that noise asks for."""
    X, y, margins = rows(20_000, 8, level, 1)
    found = X @ solved(planned(n=20_000, d=8, budget=Budget(mu=0.001)), X, y, None)
    assert np.corrcoef(found, margins)[0, 1] > 0.99


def test_few_records_are_fitted_better_than_in_coordinates_of_second_moments() -> None:
    """Seeded, 60 fits of each on 300 records of 20 columns, log-loss on 4000 others: .02 less in the mean."""
    X, y, _ = rows(4300, 20, 0.0, 3)
    plans = planned(), planned(solver="whitened-gradient")

    def loss(plan: Plan, seed: int) -> float:
        margins = X[300:] @ solved(plan, X[:300], y[:300], seed)
        return float(np.mean(np.logaddexp(0.0, margins) - y[300:] * margins))

    new, old = (np.mean([loss(plan, seed) for seed in range(60)]) for plan in plans)
    assert new < old - 0.01


def test_the_sign_along_the_direction_is_kept_whatever_the_noise() -> None:
    X, y, _ = rows(200, 8, 0.0, 4)
    plan = planned(n=200, d=8, budget=Budget(mu=0.05))
    directions = []

    class Watched(SimulatedGate):
        def ask(self, query: Any) -> Any:
            answer = super().ask(query)
            if len(self.asked) == 2:
                directions.append(-answer.value[:-1])
            return answer

    for seed in range(20):
        theta = plan.solver.run(Watched(plan, X, y, np.random.default_rng(seed)), plan).theta
        assert theta[:-1] @ directions[-1] > 0


def test_below_a_signal_of_one_the_direction_has_nearly_all_of_the_budget() -> None:
    """No steps follow; the labels' share is asked for where its noise leaves something of it."""
    plan = planned(n=100)
    assert [step.label for step in plan.steps] == ["direction", "second moments"]
    assert not plan.level_only
    assert plan.guarantee().mu == pytest.approx(MU, rel=1e-6)
    wider = planned(n=200, d=60)
    assert [step.label for step in wider.steps] == ["share of labels", "direction", "second moments"]
    assert wider.guarantee().mu == pytest.approx(MU, rel=1e-6)
    assert planned(n=104).steps[-1].label == "second moments"
    assert planned(n=106).steps[-1].label == "gradient descent"


def test_the_faintest_fits_rank_better_than_a_level_and_cost_no_log_loss() -> None:
    """Seeded, 100 fits on 150 records of 8 columns at n·μ/d of .7, with margins of deviation 3; AUC on 4000 others."""
    X, y, _ = rows(4150, 8, 0.0, 6)
    plan = planned(n=150, d=8, budget=Budget(mu=0.042))
    assert isinstance(plan.solver, label_direction.LabelDirection)
    assert (plan.solver.descent, plan.solver.shared) == (None, False)
    areas, losses = [], []
    for seed in range(100):
        margins = X[150:] @ solved(plan, X[:150], y[:150], seed)
        areas.append(roc_auc_score(y[150:], margins))
        losses.append(np.mean(np.logaddexp(0.0, margins) - y[150:] * margins))
    assert np.mean(areas) > 0.6
    assert np.mean(losses) < np.log(2)


def test_a_faint_level_is_that_of_the_labels_share() -> None:
    """20,000 records without noise, a fifth of them positive; the slopes stay as short as the plan says."""
    X, y, _ = rows(20_000, 60, -1.6, 7)
    plan = planned(n=20_000, d=60, budget=Budget(mu=0.0025))
    assert isinstance(plan.solver, label_direction.LabelDirection)
    assert (plan.solver.descent, plan.solver.shared) == (None, True)
    margins = X @ solved(plan, X, y, None)
    assert np.mean(margins) == pytest.approx(np.log(y.mean() / (1 - y.mean())), abs=0.1)
    assert np.std(margins) == pytest.approx(plan.solver.length, rel=0.2)


@pytest.mark.filterwarnings("ignore:The budget is small")
def test_a_deviance_is_measured_where_one_direction_alone_was_kept() -> None:
    X, y, _ = rows(120, 8, 0.0, 5)
    columns = {f"x{j}": X[:, j] for j in range(8)}
    declared = {name: {"type": "numeric", "lower": -1, "upper": 1} for name in columns}
    schema = tacit.Schema.from_mapping({"columns": {**declared, "y": {"type": "binary"}}})
    table = pa.table({**columns, "y": y.astype(int)})
    fit = tacit.glm(f"y ~ {' + '.join(columns)}", table, schema, epsilon=0.8, inference=False, statistics=["deviance"])
    assert fit.release is not None
    assert fit.release.plan.solver.name == "label-direction"
    assert np.isfinite(fit.release.statistics[0].value)
