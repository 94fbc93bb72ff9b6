"""What every solver promises, over every route and output: the plan, the penalty, the ball."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import LogisticRegression
from tacit.constraints import L1Ball
from tacit.contract.query import KIND_OF, Answer, Query
from tacit.contract.sensitivity import AnyPrice
from tacit.mechanisms.query_responder import Responder
from tacit.solvers.choice import SOLVERS
from tacit.solvers.solver import OUTPUTS

NEWTON_FORMS = ("newton", "majorised-newton")

RIGID: dict[str, list[dict[str, Any]]] = {
    "moments": [],
    "adassp": [],
    "objective-perturbation": [{"max_passes": None}],
    "objective-perturbation-kst": [{"max_passes": None}],
    "double-noise-newton": [{}],
    "output-perturbation": [{"max_passes": None}],
    "aggregate": [{}],
    "exponential": [{"max_passes": None}],
    "frank-wolfe": [{"constraint": L1Ball(1.2)}],
    "zeroth-order": [{"max_passes": 300, "output": "tail"}],
}
"""Solvers that take not every penalty or output, with what they need; moments and adassp are not for labels."""
FREE: list[dict[str, Any]] = [
    {"solver": solver, "output": None} for solver in SOLVERS if solver not in {*RIGID, *NEWTON_FORMS}
]
FREE += [{"solver": solver, "output": output} for solver in ("gradient", "whitened-gradient") for output in OUTPUTS]
"""Routes on which a penalty or a ball may be declared."""
ROUTES = [*FREE, {"inference": True}]
ROUTES += [{"solver": solver} for solver in NEWTON_FORMS]
ROUTES += [{"solver": solver, **more} for solver, needed in RIGID.items() for more in needed]

COEF = np.array([0.6, -0.4, 0.2])


@pytest.fixture(scope="module")
def table() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (3000, 3))
    y = rng.random(3000) < 1 / (1 + np.exp(-(X - 5) @ COEF))
    return X, y.astype(np.int64)


def fit(table: Any, route: dict[str, Any], **settings: Any) -> LogisticRegression:
    chosen: dict[str, Any] = {"epsilon": 2.0, "bounds": (0, 10), "random_state": 1, "max_passes": 60}
    return LogisticRegression(**{**chosen, **route, **settings}).fit(*table)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_reserved_plan_is_asked_in_full_and_in_order(
    monkeypatch: pytest.MonkeyPatch, table: Any, route: dict[str, Any]
) -> None:
    asked: list[tuple[Any, AnyPrice]] = []
    answer = Responder.answer

    def spy(self: Responder, query: Query, price: AnyPrice) -> Answer:
        asked.append((KIND_OF[type(query)], price))
        return answer(self, query, price)

    monkeypatch.setattr(Responder, "answer", spy)
    plan = fit(table, route).plan_
    assert asked == [(step.kind, step.price) for step in plan.steps for _ in range(step.times)]


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_truth_is_approached(table: Any, route: dict[str, Any]) -> None:
    """One seeded fit, hence no false alarms: far nearer to the truth than 0 is."""
    model = fit(table, route, epsilon=5.0)
    # The average of all iterates starts at 0 and arrives late.
    descent = getattr(model.plan_.solver, "descent", None)
    bound = 0.35 if descent is not None and descent.output == "average" else 0.15
    assert np.abs(model.coef_[0] - COEF).max() < bound


@pytest.mark.parametrize("route", FREE, ids=str)
def test_the_slopes_stay_in_the_ball(table: Any, route: dict[str, Any]) -> None:
    radius = 0.3
    model = fit(table, route, radius=radius)
    assert np.linalg.norm(model.coef_) <= radius * (1 + 1e-9)
    assert np.linalg.norm(model.coef_) > radius / 10


@pytest.mark.parametrize("route", FREE, ids=str)
def test_a_wide_ball_changes_nothing(table: Any, route: dict[str, Any]) -> None:
    if route["solver"] == "gradient":
        # The plain planner takes the declared radius for what it plans with.
        route = {**route, "iterations": 20, "step_size": 1.0}
    free, held = fit(table, route), fit(table, route, radius=1e6)
    np.testing.assert_array_equal(held.coef_, free.coef_)


@pytest.mark.parametrize("route", FREE, ids=str)
def test_a_large_l2_pulls_to_the_prior_mean(table: Any, route: dict[str, Any]) -> None:
    prior = np.array([0.1, 0.2, -0.3])
    for mean, expected in ((None, np.zeros(3)), (prior, prior)):
        model = fit(table, route, l2=1e7, prior_mean=mean)
        np.testing.assert_allclose(model.coef_[0], expected, atol=1e-5)


@pytest.mark.parametrize("route", FREE, ids=str)
def test_shrinkage_grows_with_l2(table: Any, route: dict[str, Any]) -> None:
    norms = [np.linalg.norm(fit(table, route, l2=l2).coef_) for l2 in (0.0, 1.0, 100.0)]
    assert norms == sorted(norms, reverse=True)


@pytest.mark.parametrize("route", FREE, ids=str)
def test_outputs_are_marked_in_the_plan(table: Any, route: dict[str, Any]) -> None:
    solver: Any = fit(table, route).plan_.solver
    default = "average" if route["solver"] == "gradient" else "tail"
    assert solver.descent.output == (route["output"] or default)


def test_the_three_outputs_average_the_same_iterates(table: Any) -> None:
    """With one seed the iterates are the same: two iterations tell the outputs apart.

    Iterates a, b: the average is (a + b) / 2, the tail half and the last are b.
    """
    settings: dict[str, Any] = {"solver": "gradient", "step_size": 1.0}
    first = fit(table, {**settings, "output": "last", "iterations": 2}).coef_
    tail = fit(table, {**settings, "output": "tail", "iterations": 2}).coef_
    average = fit(table, {**settings, "output": "average", "iterations": 2}).coef_
    np.testing.assert_array_equal(first, tail)
    assert np.linalg.norm(average) < np.linalg.norm(first)
