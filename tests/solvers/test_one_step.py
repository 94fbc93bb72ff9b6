"""A fit with intervals: what is planned, asked, hidden, and where it goes without noise."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import special

import tacit
from tacit.accounting.composition import mu_squared_of
from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import (
    Answer,
    CurvatureAndScore,
    GradientNorm,
    GradientSum,
    Query,
    ResidualSize,
    SecondMoments,
)
from tacit.contract.release import Release, Sandwich
from tacit.contract.sensitivity import event_of
from tacit.inference.reliability import StepJudgement, judge
from tacit.planning.simulated_gate import SimulatedGate
from tacit.solvers.interval_rules import ONE_STEP, TAIL
from tacit.solvers.one_step import OneStep

FAMILIES = ("binomial", "gaussian", "poisson", "huber")
SLOPES = np.array([0.5, -0.4, 0.2])


def planned(family: str, n: int = 20_000, d: int = 3, epsilon: float = 3.0, **more: Any) -> Plan:
    settings: dict[str, Any] = {"delta": 1e-6, "bounds": (-8, 8), "inference": True, **more}
    models: dict[str, Any] = {
        "binomial": tacit.LogisticRegression,
        "gaussian": tacit.LinearRegression,
        "poisson": tacit.PoissonRegressor,
        "huber": tacit.HuberRegressor,
    }
    plan: Plan = models[family](epsilon=epsilon, **settings, **_range(family)).plan(n, d)
    return plan


def _range(family: str) -> dict[str, Any]:
    if family == "poisson":
        return {"y_max": 60}
    return {} if family == "binomial" else {"y_bounds": (-20, 20)}


def table(family: str, n: int, seed: int = 0, columns: Any = None) -> tuple[Any, Any]:
    """Prepared rows of three columns and an intercept, and prepared responses."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) if columns is None else columns
    linear = 0.3 + X @ SLOPES
    rows = np.column_stack([np.clip(X / 8, -1, 1), np.ones(n)])
    if family == "binomial":
        return rows, (rng.random(n) < special.expit(linear)).astype(float)
    if family == "poisson":
        return rows, np.minimum(rng.poisson(np.exp(linear)), 60).astype(float)
    return rows, np.clip((linear + rng.standard_normal(n)) / 20, -1, 1)


def run(plan: Plan, rows: Any, response: Any, seed: int | None) -> tuple[Solution, list[Query]]:
    generator = None if seed is None else np.random.default_rng(seed)
    gate = SimulatedGate(plan, rows, response, generator)
    return plan.solver.run(gate, plan), gate.asked


def sandwich_of(found: Solution) -> Sandwich:
    assert found.sandwich is not None
    return found.sandwich


def plain_fit(family: str, rows: Any, y: Any) -> tuple[Any, Any]:
    """Coefficients of the plain model by Newton's method, and their robust standard errors."""
    theta = np.zeros(rows.shape[1])
    theta[-1] = np.log(y.mean()) if family == "poisson" else 0.0
    for _ in range(40):
        margin = rows @ theta
        mean, bend = {
            "binomial": lambda m: (special.expit(m), special.expit(m) * special.expit(-m)),
            "poisson": lambda m: (np.exp(m), np.exp(m)),
            "gaussian": lambda m: (m, np.ones_like(m)),
        }[family](margin)
        hessian = (rows.T * bend) @ rows
        theta = theta - np.linalg.solve(hessian, rows.T @ (mean - y))
    inverse = np.linalg.inv(hessian)
    covariance = inverse @ ((rows.T * (mean - y) ** 2) @ rows) @ inverse
    return theta, np.sqrt(np.diagonal(covariance))


def cost_of(plan: Plan) -> Fraction:
    return sum(
        (
            step.times * event_of(step.kind, step.price, plan.relation, step.size).mu_squared
            for step in plan.steps
            if step.price
        ),
        Fraction(0),
    )


GRID = tuple(itertools.product(FAMILIES, (2, 63, 300, 4000, 20_000), (1, 6, 30), (0.5, 3.0)))


@pytest.mark.parametrize(("family", "n", "d", "epsilon"), GRID)
def test_a_plan_spends_all_of_its_budget_and_no_more(family: str, n: int, d: int, epsilon: float) -> None:
    """The pilot's own second moments and label share are asked for elsewhere, and not paid twice.

    Regression: what they would cost was given to the descent as if all shares were in proportion.
    """
    for relation in ("replace-one", "add-remove"):
        known = {} if relation == "replace-one" else {"n_at_least": n}
        plan = planned(family, n, d, epsilon, relation=relation, **known)
        allowed = mu_squared_of(plan.budget)
        spent = cost_of(plan)
        if plan.counting:
            assert spent < allowed
        else:
            assert 1 - 1e-6 < spent / allowed <= 1


@pytest.mark.parametrize("family", FAMILIES)
def test_the_plan_is_what_is_asked_in_its_order(family: str) -> None:
    plan = planned(family)
    assert isinstance(plan.solver, OneStep)
    assert plan.solver.start is not None
    purposes = [step.purpose for step in plan.steps]
    rows = [Purpose.ROW_NORMS, Purpose.ROW_TAIL]
    tail = [*rows, Purpose.GRADIENT_NORMS, Purpose.GRADIENT_TAIL]
    between = {"gaussian": tail, "poisson": tail, "huber": [Purpose.RESIDUALS], "binomial": rows}
    assert purposes[0] is Purpose.STANDARDISING
    after = [Purpose.NOT_FITTED] if between[family] is tail else []
    near = [Purpose.NEAR_STEP] * (2 if plan.signal >= ONE_STEP.near_signal and family in {"binomial", "poisson"} else 0)
    last = [*between[family], *near, Purpose.LAST_STEP, Purpose.CURVATURE_AND_SCORE, *after]
    assert purposes[-len(last) :] == last
    level = Purpose.LABEL_SHARE if family == "binomial" else Purpose.RESPONSE_LOCATION
    assert purposes.index(level) < purposes.index(Purpose.SECOND_MOMENTS)
    assert purposes.index(Purpose.SECOND_MOMENTS) < purposes.index(Purpose.DESCENT)
    # The gate refuses what was not reserved.
    _, asked = run(plan, *table(family, plan.records), seed=1)
    assert len(asked) == plan.queries
    assert isinstance(asked[-1 - len(after)], CurvatureAndScore)
    step = asked[-2 - len(after)]
    assert isinstance(step, GradientSum)
    assert step.downweighted
    norms = [query for query in asked if isinstance(query, GradientNorm)]
    of_rows = ONE_STEP.row_rounds + 1 if family != "huber" else 0
    assert len(norms) == of_rows + (TAIL.rounds + 2 if tail == between[family] else 0)
    kinds = [type(query) for query in asked]
    assert kinds.count(SecondMoments) == 2
    assert kinds.index(SecondMoments) < kinds.index(GradientSum)


def test_without_standardised_columns_the_pilot_s_own_whitening_is_asked_for() -> None:
    """Counts that are noise tell no scale; nor do the zeros and ones of indicators have any."""
    few, many = planned("binomial", 300), planned("binomial", 20_000)
    assert isinstance(few.solver, OneStep)
    assert few.solver.start is None
    assert Purpose.STANDARDISING not in [step.purpose for step in few.steps]
    assert few.step(Purpose.SECOND_MOMENTS).times == few.solver.pilot.whitening.queries
    assert many.step(Purpose.SECOND_MOMENTS).times == 2
    _, asked = run(few, *table("binomial", 300), seed=1)
    assert len(asked) == few.queries


@pytest.mark.parametrize("family", ["binomial", "gaussian", "poisson"])
def test_with_a_large_budget_it_goes_to_the_plain_estimate(family: str) -> None:
    """Row weights and clips fade: without noise a fiftieth of a standard error is left, at most.

    With the noise of ε = 50 it is a few tenths; seeded, so there are no false alarms.
    """
    plan = planned(family, 20_000, epsilon=50.0)
    rows, response = table(family, 20_000)
    target, errors = plain_fit(family, rows, response)
    for seed, largest in ((None, 0.02), (1, 0.4)):
        found, _ = run(plan, rows, response, seed)
        assert np.abs((found.theta - target) / errors).max() < largest


def test_the_plain_estimate_of_skewed_errors_is_not_trimmed() -> None:
    """Exponential errors: Huber's location lies 0.2 deviations below the mean."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20_000, 3))
    rows = np.column_stack([np.clip(X / 8, -1, 1), np.ones(len(X))])
    response = np.clip((X @ SLOPES + rng.exponential(size=len(X)) - 1) / 20, -1, 1)
    target, errors = plain_fit("gaussian", rows, response)
    left = {}
    for family in ("gaussian", "huber"):
        found, _ = run(planned(family, epsilon=50.0), rows, response, None)
        left[family] = abs(found.theta[-1] - target[-1]) / errors[-1]
    assert left["gaussian"] < 0.05
    assert left["huber"] > 5.0


@pytest.mark.parametrize("family", FAMILIES)
def test_errors_of_many_fits_are_what_their_standard_errors_say(family: str) -> None:
    """20 fits of 4 coefficients at ε = 3; seeded, so there are no false alarms."""
    plan, scores = planned(family, 20_000), []
    truth = None
    for seed in range(20):
        rows, response = table(family, 20_000, seed)
        found, _ = run(plan, rows, response, seed)
        judgement = judge(Release(plan, found.theta, sandwich=found.sandwich), sandwich_of(found))
        assert isinstance(judgement, StepJudgement)
        scatter = judgement.covariance.scatter(np.eye(4))
        to_user = plan.design.to_user()
        truth = np.append(0.3, SLOPES) if truth is None else truth
        scores.append((to_user @ found.theta - truth) / np.sqrt(scatter.sampling + scatter.privacy))
    assert 0.7 < np.sqrt(np.mean(np.square(scores))) < 1.25
    assert np.abs(np.mean(scores)) < 0.4


def collinear(n: int) -> Any:
    X = np.random.default_rng(5).standard_normal((n, 3))
    X[:, 1] = X[:, 0]
    return X


@pytest.mark.parametrize("family", FAMILIES)
def test_a_direction_that_noise_hides_is_left_and_withheld(family: str) -> None:
    """Two equal columns: their sum is estimated, and no interval is given for either of them."""
    plan = planned(family)
    rows, response = table(family, 20_000, columns=collinear(20_000))
    found, _ = run(plan, rows, response, 3)
    sandwich = sandwich_of(found)
    assert sandwich.lifted
    values, vectors = np.linalg.eigh(sandwich.curvature)
    assert values[0] < sandwich.visible < values[1]
    # The step has nothing in the hidden direction, which the difference of coefficients shows.
    assert sandwich.step is not None
    assert abs(vectors[:, 0] @ sandwich.step) < 1e-9
    judgement = judge(Release(plan, found.theta, sandwich=sandwich), sandwich)
    ways = np.array([[0.0, 1.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    assert set(judgement.of(plan.design.terms, ways)) == {"withheld"}
    coefficients = plan.design.to_user() @ found.theta
    assert coefficients[1] + coefficients[2] == pytest.approx(0.1, abs=0.15)


class Shouting(SimulatedGate):
    """Its last gradient is a million times too large."""

    def ask(self, query: Query) -> Answer:
        answer = super().ask(query)
        last = self._schedule[len(self.asked) - 1].purpose is Purpose.LAST_STEP
        return replace(answer, value=answer.value * 1e6) if last else answer


@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_that_is_too_long_is_cut_and_told(family: str) -> None:
    plan = planned(family)
    gate = Shouting(plan, *table(family, plan.records), np.random.default_rng(0))
    sandwich = sandwich_of(plan.solver.run(gate, plan))
    assert sandwich.capped
    assert sandwich.step is not None
    assert np.linalg.norm(sandwich.step) == pytest.approx(ONE_STEP.longest, rel=1e-9)
    found = judge(Release(plan, np.zeros(4), sandwich=sandwich), sandwich)
    assert set(found.of(plan.design.terms, np.eye(4))) == {"withheld"}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("n", "epsilon"), [(2, 0.5), (40, 2.0), (150, 2.0), (1000, 0.5)])
def test_t40_no_table_and_no_noise_breaks_a_run(family: str, n: int, epsilon: float) -> None:
    """Few records, constant responses, rows of zeros: finite results of the same shape.

    Regression: a share of labels whose noise is above a half was no probability.
    """
    plan = planned(family, n, epsilon=epsilon)
    for seed in range(6):
        rows, response = table(family, n, seed)
        for rows_asked, asked in (
            (rows, response),
            (rows, np.zeros(n)),
            (rows, np.ones(n)),
            (np.zeros_like(rows), response),
        ):
            found, _ = run(plan, rows_asked, asked, seed)
            assert found.theta.shape == (4,)
            assert np.isfinite(found.theta).all()
            if plan.intervals_declined:
                assert found.sandwich is None
                continue
            sandwich = sandwich_of(found)
            for value in (sandwich.curvature, sandwich.score, sandwich.step):
                assert np.isfinite(np.asarray(value)).all()
            assert 0 < sandwich.level < 61


@pytest.mark.parametrize("family", FAMILIES)
def test_the_matrices_are_asked_where_second_order_biases_cancel(family: str) -> None:
    """At the pilot where the score is linear, between pilot and result elsewhere."""
    plan, moved = planned(family, 4000), []
    for seed in (2, 3, 4):
        _, asked = run(plan, *table(family, 4000), seed=seed)
        step, pair = [query for query in asked if isinstance(query, GradientSum | CurvatureAndScore)][-2:]
        assert isinstance(step, GradientSum)
        assert isinstance(pair, CurvatureAndScore)
        moved.append(float(np.linalg.norm(pair.theta - step.theta)))
        # But for the bound on curvatures, which shortened rows of a gradient may exceed.
        assert pair.loss == replace(step.loss, smoothness=pair.loss.smoothness)
        # What is clipped in the gradient is what is clipped in its variance.
        assert step.clip == pytest.approx(pair.row_bound * pair.loss.lipschitz)
    if family in {"gaussian", "huber"}:
        assert max(moved) == 0.0
    else:
        # A step that its own noise explains goes nowhere.
        assert 0.0 < max(moved) <= ONE_STEP.farthest / 2


def test_gradients_without_a_bound_are_clipped_where_their_tail_was_measured() -> None:
    plan = planned("gaussian", epsilon=1.0)
    found, asked = run(plan, *table("gaussian", plan.records), seed=1)
    step = [query for query in asked if isinstance(query, GradientSum)][-1]
    z = table("gaussian", plan.records)[0] @ np.asarray(step.matrix)
    gaps = np.abs(z @ step.theta - table("gaussian", plan.records)[1])
    norms = gaps * np.linalg.norm(z, axis=1)
    assert 0.9 < np.mean(norms < step.clip) < 1.0
    assert 0.0 < sandwich_of(found).bias < 0.1 * step.clip


def test_robust_scores_have_a_threshold_by_the_pilot_s_residuals() -> None:
    plan = planned("huber")
    found, asked = run(plan, *table("huber", plan.records), seed=1)
    within = [query for query in asked if isinstance(query, ResidualSize)]
    assert len(within) >= ONE_STEP.residual_rounds
    pair = asked[-1]
    assert isinstance(pair, CurvatureAndScore)
    # Residuals have a deviation of 1 / 20 of half the public range.
    assert 0.7 < pair.loss.lipschitz * 20 / 1.345 < 1.4
    assert sandwich_of(found).bias == 0.0


def test_more_classes_than_memory_holds_are_refused_by_public_numbers() -> None:
    model = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1), inference=True, classes=list(range(200)))
    with pytest.raises(tacit.errors.SettingError, match="need too much memory"):
        model.plan(10**7, 2)


@pytest.mark.parametrize(("spread", "flat"), [(1.0, False), (0.05, False), (0.01, True)])
def test_a_column_that_hardly_varies_within_its_bounds_is_told(spread: float, flat: bool) -> None:
    """Half a declared range of 8 is 160 deviations of 0.05, and 800 of 0.01."""
    plan = planned("binomial", n=100_000)
    columns = np.random.default_rng(0).standard_normal((plan.records, 3)) * [spread, 1.0, 1.0]
    found, _ = run(plan, *table("binomial", plan.records, columns=columns), seed=1)
    assert sandwich_of(found).flat is flat


def test_sums_that_a_few_records_hold_have_no_bias_bound() -> None:
    """With 96% zeros residuals are far below their mean size; normal ones are not."""
    plan = planned("gaussian", n=4000, epsilon=1.0)
    rows, y = table("gaussian", plan.records)
    rng = np.random.default_rng(0)
    few = np.where(rng.random(plan.records) < 0.04, rng.random(plan.records), 0.0)
    bounds = [sandwich_of(run(plan, rows, some, seed=1)[0]).bias for some in (y, few)]
    assert bounds[0] < 0.1 < bounds[1]
