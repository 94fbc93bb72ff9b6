"""What is said of intervals of solvers without steps, of 0.1 and without noise."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit import Budget, LogisticRegression, PoissonRegressor
from tacit.contract.plan import Plan
from tacit.contract.release import Release
from tacit.inference.reliability import Judgement, judge, not_offered, overall
from tacit.solvers.rules import WARNINGS
from tacit.solvers.signal import plan_warnings


def judged(release: Release) -> Judgement:
    assert release.sandwich is not None
    found = judge(release, release.sandwich)
    assert isinstance(found, Judgement)
    return found


def test_nominal_where_it_was_measured(make_release: Any) -> None:
    found = judged(make_release(evidence=101.0))
    assert (found.statement, found.intercept, found.reasons) == ("nominal", "nominal", ())
    assert not found.safe


def test_less_evidence_is_conservative(make_release: Any) -> None:
    found = judged(make_release(evidence=99.0))
    assert (found.statement, found.intercept) == ("conservative", "conservative")
    assert found.safe
    assert "below 100" in found.reasons[0]


def test_many_coefficients_need_more(make_release: Any) -> None:
    """At d = 16, 30 d^1.5 = 1920 and 100 d = 1600; the step there and back again is at d = 11."""
    assert judged(make_release(evidence=110.0, features=15)).statement == "conservative"
    assert judged(make_release(evidence=121.0, features=15)).statement == "nominal"
    assert judged(make_release(evidence=101.0, features=9)).statement == "nominal"


@pytest.mark.parametrize(
    ("numbers", "word"),
    [
        ({"lifted": True}, "lifted"),
        ({"capped": True}, "cut"),
        ({"far": True}, "leaves out"),
        ({"rare": True}, "few records"),
        ({"curvature_noise": 0.08}, "relative noise"),
    ],
)
def test_released_doubts(make_release: Any, altered: Any, numbers: dict[str, Any], word: str) -> None:
    found = judged(altered(make_release(), **numbers))
    assert found.statement == "conservative"
    assert found.safe
    assert word in found.reasons[-1]


@pytest.mark.parametrize(("share", "said"), [(0.09, "conservative"), (0.11, "nominal")])
def test_weights_far_below_their_maximum_are_not_nominal(make_release: Any, share: float, said: str) -> None:
    release = make_release(evidence=2000.0)
    counted = replace(release.plan, total=share * release.plan.records)
    found = judged(replace(release, plan=counted))
    assert found.statement == said
    assert any("max_weight" in reason for reason in found.reasons) is (said == "conservative")


def test_noise_of_the_curvature_is_propagated_before_it_is_said(make_release: Any, altered: Any) -> None:
    found = judged(altered(make_release(), curvature_noise=0.045))
    assert (found.statement, found.safe) == ("nominal", True)


@pytest.mark.parametrize(
    ("model", "evidence", "numbers", "said"),
    [
        ("binomial", 400.0, {"level": 0.06}, "approximate"),
        ("binomial", 400.0, {"level": 0.07}, "nominal"),
        ("poisson", 400.0, {"level": 0.2}, "approximate"),
        ("poisson", 400.0, {"level": 0.3}, "nominal"),
        ("poisson", 101.0, {"level": 50.0}, "nominal"),
        ("poisson", 190.0, {"level": 2.0, "dispersion": 0.3}, "approximate"),
        ("poisson", 190.0, {"level": 2.0, "dispersion": 0.1}, "nominal"),
        ("poisson", 210.0, {"level": 2.0, "dispersion": 0.3}, "nominal"),
        ("gaussian", 101.0, {"level": 0.001}, "nominal"),
    ],
)
def test_intercepts_of_rare_outcomes_are_approximate(
    make_release: Any, altered: Any, model: str, evidence: float, numbers: Any, said: str
) -> None:
    found = judged(altered(make_release(evidence=evidence, model=model), **numbers))
    assert (found.statement, found.intercept) == ("nominal", said)
    assert bool(found.intercept_reasons) == (said == "approximate")


def test_combinations_that_touch_the_intercept_are_said_like_it(make_release: Any, altered: Any) -> None:
    found = judged(altered(make_release(), level=0.01))
    rows = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0]])
    names = ("Intercept", "x0", "x1")
    assert found.of(names, rows) == ("nominal", "approximate", "approximate")
    assert found.of(("a", "b", "c"), rows) == ("nominal",) * 3


def test_no_intervals_below_the_least_evidence(make_release: Any) -> None:
    low = make_release(evidence=WARNINGS.intervals - 1).plan
    assert "below 25 they would mean nothing" in str(not_offered(low))
    assert not_offered(make_release(evidence=WARNINGS.intervals + 1).plan) is None


def plan_at(evidence: float, **settings: Any) -> Plan:
    model = LogisticRegression(epsilon=1.0, bounds=(-1, 1), **settings)
    unit = model.plan(10_000, 3).signal / 10_000
    plan: Plan = model.plan(round(evidence / unit), 3)
    return plan


def test_low_evidence_is_told_before_anything_is_spent() -> None:
    def offers(plan: Plan) -> list[str]:
        return [text for text in plan_warnings(plan) if "not be offered" in text]

    assert len(offers(plan_at(20.0, inference=True))) == 1
    assert offers(plan_at(30.0, inference=True)) == []
    assert offers(plan_at(20.0, inference=False)) == []
    free = PoissonRegressor(epsilon=np.inf, bounds=(-1, 1), y_max=5, inference=True)
    assert offers(free.plan(10, 3)) == []


def test_intervals_of_other_solvers_are_withheld(make_release: Any) -> None:
    """However much evidence there is: their coverage was not shown."""
    release = make_release(evidence=10_000.0)
    for solver in ("newton", "majorised-newton", "gradient"):
        model = LogisticRegression(budget=Budget(mu=1.0, delta=1e-6), bounds=(-1, 1), solver=solver, inference=True)
        found = judged(replace(release, plan=model.plan(40_000, 3)))
        assert (found.statement, found.intercept) == ("withheld", "withheld")
        assert found.safe
        assert "was not shown for this solver" in found.reasons[0]


def test_a_perturbed_objective_has_coefficients_and_no_intervals() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 2))
    y = (rng.random(4000) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    said = {}
    for solver in ("auto", "objective-perturbation"):
        model = LogisticRegression(
            epsilon=4.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1), inference=True, solver=solver, random_state=0
        ).fit(X, y)
        said[solver] = model.summary()
    assert said["auto"].statement == "nominal"
    assert said["objective-perturbation"].statement == "withheld"
    for line in said["objective-perturbation"].lines:
        assert np.isfinite(line.coef)
        assert (line.lower, line.upper, line.std_err, line.pvalue) == (None,) * 4
    assert "was not shown" in str(said["objective-perturbation"]).replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nominal", "nominal"), "nominal"),
        (("nominal", "withheld"), "nominal"),
        (("nominal", "conservative", "withheld"), "conservative"),
        (("approximate", "conservative"), "approximate"),
        (("withheld", "withheld"), "withheld"),
    ],
)
def test_one_word_for_all_is_the_weakest_of_those_given(words: tuple[str, ...], said: str) -> None:
    assert overall(words) == said
