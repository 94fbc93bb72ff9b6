"""Steps that go by the noise, and by what the records came to."""

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.contract.plan import Plan
from tacit.solvers.noisy_steps import Descent
from tacit.solvers.rules import LABELS
from tacit.solvers.step_correction import counted, lengthened, tail_variance
from tacit.solvers.whitened_gradient import WhitenedGradient

STAGE = Descent(12, 3.0, 0.8, 1.6, "tail")


def plan_of(total: float | None) -> Plan:
    model = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1))
    return replace(model.plan(1600, 3), total=total)


def solver_of(plan: Plan) -> WhitenedGradient:
    assert isinstance(plan.solver, WhitenedGradient)
    return plan.solver


def test_clip_and_steps_go_by_the_fourth_root_of_the_share() -> None:
    found = counted(plan_of(100.0), STAGE)
    assert found.clip_factor == pytest.approx(0.8)
    assert found.step_size == pytest.approx(1.5)
    assert found.momentum == 0.5
    assert counted(plan_of(900.0), STAGE).momentum == 0.8


@pytest.mark.parametrize("total", [None, 1600.0, 1e9])
def test_nothing_changes_where_the_records_come_to_what_was_planned(total: float | None) -> None:
    assert counted(plan_of(total), STAGE) == STAGE


@pytest.mark.parametrize(("odds", "factor"), [(0.0, 1.0), (-1.0, 1.1276), (9.0, LABELS.longest)])
def test_uneven_labels_make_for_longer_steps(odds: float, factor: float) -> None:
    solver = solver_of(tacit.LogisticRegression(epsilon=8.0, bounds=(-1, 1)).plan(16_000, 3))
    assert (solver.label_start, solver.uneven) == (True, True)
    found = lengthened(STAGE, np.array([0.0, 0.0, 0.0, odds]))
    assert found.step_size == pytest.approx(3.0 * factor, rel=1e-3)


def test_steps_are_as_declared_where_labels_were_not_counted() -> None:
    assert not solver_of(plan_of(None)).uneven
    few = solver_of(tacit.LogisticRegression(epsilon=0.1, bounds=(-1, 1), solver="whitened-gradient").plan(200, 3))
    assert (few.label_start, few.uneven) == (True, False)
    declared = tacit.LogisticRegression(epsilon=8.0, bounds=(-1, 1), step_size=3.0)
    assert not solver_of(declared.plan(16_000, 3)).label_start


def test_a_declared_step_is_kept() -> None:
    solvers = [
        solver_of(
            tacit.LogisticRegression(
                epsilon=1.0, bounds=(-1, 1), relation="add-remove", n_at_least=500, step_size=step
            ).plan(500, 3)
        )
        for step in (None, 0.5)
    ]
    assert [solver.follows_count for solver in solvers] == [True, False]


def test_a_loose_largest_weight_costs_no_more_than_the_records_it_hides() -> None:
    """Planned for 40 times the records there are, errors were 4; a tenth of that is usual now."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40_000, 4))
    slopes = np.array([2.0, -1.0, 0.5, 0.0])
    scores = np.outer(X @ slopes, [1.0, -1.0, 0.0]) + rng.gumbel(size=(40_000, 3))
    model = tacit.LogisticRegression(epsilon=5.0, bounds=(-1, 1), classes=(0, 1, 2), max_weight=40.0, random_state=1)
    with pytest.warns(UserWarning, match="capped"):
        model.fit(X, scores.argmax(axis=1), np.ones(40_000))
    assert np.abs(model.coef_[0] - model.coef_[2] - slopes).max() < 1.5


def test_the_longest_steps_leave_noise_without_end_and_no_warning() -> None:
    wild = Descent(200, 1e30, 0.9, 1.0, "tail")
    assert (tail_variance(np.array([0.5, 1.0]), wild) == np.inf).all()
