"""What is said of intervals without noise, of all together, and where none is offered."""

from typing import Any

import numpy as np
import pytest

from tacit import LogisticRegression, PoissonRegressor
from tacit.contract.plan import Plan
from tacit.inference.reliability import ExactJudgement, not_offered, overall
from tacit.solvers.choice import plan_warnings
from tacit.solvers.rules import WARNINGS, least_signal


@pytest.mark.parametrize(("dependent", "said"), [(False, "nominal"), (True, "approximate")])
def test_without_noise_dependent_columns_alone_are_a_doubt(dependent: bool, said: str) -> None:
    found = ExactJudgement(dependent)
    assert found.of(("a", "b"), np.eye(2)) == (said, said)
    *doubts, last = found.notes(("a", "b"))
    assert "HC0" in last
    assert len(doubts) == dependent
    assert all("linearly dependent" in note for note in doubts)
    assert found.why(np.eye(2)) == ""


def test_no_intervals_below_the_least_evidence(make_release: Any) -> None:
    # 4 coefficients: 14·√4 = 28 is what plans ask for.
    low = make_release(signal=WARNINGS.intervals - 1).plan
    assert low.intervals_declined
    assert "below 28 they would mean nothing" in str(not_offered(low))
    assert not_offered(make_release(signal=29.0).plan) is None


def test_many_columns_need_more() -> None:
    assert least_signal(1) == least_signal(3) == WARNINGS.intervals
    assert least_signal(100) == pytest.approx(10 * WARNINGS.wide)


def plan_at(signal: float, **settings: Any) -> Plan:
    model = LogisticRegression(epsilon=1.0, bounds=(-1, 1), **settings)
    unit = model.plan(10_000, 3).signal / 10_000
    plan: Plan = model.plan(round(signal / unit), 3)
    return plan


def test_low_evidence_is_told_before_anything_is_spent() -> None:
    def offers(plan: Plan) -> list[str]:
        return [text for text in plan_warnings(plan) if "not be offered" in text]

    assert len(offers(plan_at(20.0, inference=True))) == 1
    assert offers(plan_at(30.0, inference=True)) == []
    assert offers(plan_at(20.0, inference=False)) == []
    free = PoissonRegressor(epsilon=np.inf, bounds=(-1, 1), y_max=5, inference=True)
    assert offers(free.plan(10, 3)) == []


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
