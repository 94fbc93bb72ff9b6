"""Shares of noisy Newton's rounds: at most one together, more for what reaches the result."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.contract.plan import Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import Price
from tacit.solvers.interval_rules import NEWTON
from tacit.solvers.newton import joined, newton_shares, step_sizes
from tacit.solvers.solver import SolverOptions


@given(st.lists(st.floats(0.05, 1.0), min_size=1, max_size=30), st.data())
def test_the_shares_of_rounds_never_exceed_one(sizes: list[float], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(sizes) - 1))
    shares = newton_shares(sizes, first)
    assert Fraction(99, 100) <= sum(shares) <= 1
    assert min(shares) >= NEWTON.even / len(sizes)


def test_a_full_last_step_forgets_all_noise_before() -> None:
    shares = newton_shares([0.5, 0.5, 1.0], 2)
    even = NEWTON.even / 3
    assert shares == [even, even, even + 1 - NEWTON.even]


@pytest.mark.parametrize(("signal", "full"), [(99.0, 0), (101.0, 1), (999.0, 1), (1001.0, 2)])
def test_full_steps_need_signal(signal: float, full: int) -> None:
    sizes = step_sizes(SolverOptions("newton"), 5, signal, "each")
    assert sizes == (0.5,) * (5 - full) + (1.0,) * full


def test_neighbours_of_one_price_are_one_step() -> None:
    one = Step(QueryKind.GRADIENT, Price(5, 3), 1, Purpose.GRADIENT)
    other = Step(QueryKind.GRADIENT, Price(6, 3), 1, Purpose.GRADIENT)
    assert [step.times for step in joined([one, one, other, one])] == [2, 1, 1]
