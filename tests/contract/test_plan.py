"""A plan adds up its steps, finds them by their purpose, and states what they cost."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from tacit import LogisticRegression
from tacit.accounting.composition import compose
from tacit.constraints.region import Box
from tacit.contract.plan import Penalty, Plan, PublicFact, Step, Whole, signal
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.privacy.budget import Budget

BUDGET = Budget(mu=0.5, delta=1e-6)


def plan(**settings: object) -> Plan:
    chosen = {"budget": BUDGET, "bounds": (-1, 1), "classes": (0, 1), **settings}
    return LogisticRegression(**chosen).plan(n=4000, d=4)  # type: ignore[arg-type]


def test_a_step_is_found_by_its_purpose() -> None:
    made = plan()
    step = made.step(Purpose.DESCENT)
    assert step.kind is QueryKind.GRADIENT
    assert step.label == "gradient descent"
    with pytest.raises(SettingError, match="pays for no quantile of residuals"):
        made.step(Purpose.RESIDUAL_QUANTILE)


def test_a_renamed_label_finds_the_same_step() -> None:
    """The display text may change: purposes are compared by identity, not by their words."""
    made = plan()
    assert made.step(Purpose.SECOND_MOMENTS) is next(
        step for step in made.steps if step.purpose is Purpose.SECOND_MOMENTS
    )


def test_passes_are_the_sum_of_the_steps() -> None:
    made = plan()
    assert made.queries == sum(step.times for step in made.steps)
    assert made.queries == sum(step.times for step in made.gathered())


def test_steps_that_take_turns_are_gathered_for_a_reader() -> None:
    made = plan()
    one = replace(made.steps[0], times=2)
    other = Step(QueryKind.GRADIENT, Price(2**20, 21), 3, Purpose.GRADIENT)
    turns = replace(made, steps=(one, other, one, other))
    assert [(step.purpose, step.times) for step in turns.gathered()] == [(one.purpose, 4), (Purpose.GRADIENT, 6)]


def test_the_events_cost_what_the_guarantee_says_and_no_more_than_the_budget() -> None:
    made = plan()
    total = compose(made.events(), made.relation).square
    assert total is not None
    assert total <= Fraction(0.5) ** 2
    mu = made.guarantee().mu
    assert mu is not None
    assert Fraction(mu) ** 2 >= total


def test_more_answers_cost_more() -> None:
    made = plan()
    step = made.steps[-1]
    more = replace(made, steps=(*made.steps[:-1], replace(step, times=step.times + 1)))
    assert more.guarantee().epsilon > made.guarantee().epsilon


def test_the_signal_goes_by_the_declared_number_or_by_the_count() -> None:
    made = plan()
    mu = made.strength
    assert mu is not None
    assert made.signal == signal(4000, mu, made.design.width)
    assert made.count == 4000.0
    counted = replace(made, total=1000.0)
    assert counted.count == 1000.0
    assert counted.signal == pytest.approx(made.signal / 4)


def test_without_noise_nothing_is_promised() -> None:
    exact = plan(budget=Budget(epsilon=math.inf))
    assert not exact.private
    assert exact.events() == ()
    assert exact.guarantee().epsilon == math.inf
    assert exact.signal == math.inf


def test_noise_of_a_count_as_a_share_of_the_records() -> None:
    step = Step(QueryKind.COUNTS, Price(2**10, 12), 1, Purpose.LABEL_SHARE)
    assert step.noise_share(100.0) == 0.04
    assert replace(step, price=None).noise_share(100.0) == 0.0


def test_a_ball_and_a_region_are_not_given_together() -> None:
    with pytest.raises(SettingError, match="not both"):
        Penalty(radius=1.0, constraint=Box(-1.0, 1.0))


def test_facts_are_added() -> None:
    fact = PublicFact("columns", ["x0"], "assumed")
    made = plan()
    assert made.with_facts(fact).facts == (*made.facts, fact)
    assert "whitened-gradient on 4000 records" in str(made)


@pytest.mark.parametrize(
    ("solver", "whole"),
    [
        ("auto", False),
        ("newton", False),
        ("gradient", False),
        ("objective-perturbation", True),
        ("double-noise-newton", True),
    ],
)
def test_a_plan_says_whether_partial_sums_give_its_answers(solver: str, whole: bool) -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    assert plan(solver=solver, budget=budget).requires_whole_table is whole


def test_a_part_states_the_guarantee_of_the_whole_and_is_judged_by_its_own_noise() -> None:
    alone = plan()
    events = (*alone.events(), *alone.events())
    part = replace(alone, whole=Whole("search", events, 1e-7))
    assert part.guarantee().epsilon == compose(events, part.relation).epsilon(1e-7)
    assert part.guarantee().delta == 1e-7
    assert part.strength == alone.strength
    assert part.events() == alone.events()
    assert "price of the search" in str(part)
