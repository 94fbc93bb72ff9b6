import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import BudgetError
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.relation import Relation


@pytest.mark.parametrize("currency", ["epsilon", "mu", "rho"])
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_each_currency_with_and_without_delta(currency: str, delta: float | None) -> None:
    budget = Budget(**{currency: 0.5, "delta": delta})
    assert getattr(budget, currency) == 0.5
    assert budget.delta == delta
    assert not budget.is_infinite
    assert Budget(**{currency: math.inf, "delta": delta}).is_infinite


@pytest.mark.parametrize("value", [1, np.float64(1), np.float32(1), np.int64(1), np.uint8(1), Fraction(1)])
def test_numbers_of_any_make_become_floats(value: Any) -> None:
    budget = Budget(epsilon=value)
    assert type(budget.epsilon) is float
    assert budget == Budget(epsilon=1.0)


@settings(max_examples=200, deadline=None)
@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_exact_numbers_are_rounded_down(value: Fraction) -> None:
    rho = Budget(rho=value).rho  # type: ignore[arg-type]
    assert rho is not None
    assert Fraction(rho) <= value < Fraction(math.nextafter(rho, math.inf))


@pytest.mark.parametrize("currency", ["epsilon", "mu", "rho"])
@pytest.mark.parametrize(
    "wrong", [0, 0.0, -1.0, -math.inf, math.nan, True, np.True_, "1", b"1", [1.0], 1 + 0j, 10**400]
)
def test_what_is_no_amount_is_refused(currency: str, wrong: Any) -> None:
    with pytest.raises(BudgetError, match=rf"{currency} is .*; expected"):
        Budget(**{currency: wrong})


@pytest.mark.parametrize("wrong", [Fraction(1, 10**400), 1, 1.0, -1e-6, 2, math.nan, math.inf, True, "1e-6"])
def test_what_is_no_delta_is_refused(wrong: Any) -> None:
    with pytest.raises(BudgetError, match=r"delta is .*; expected"):
        Budget(epsilon=1, delta=wrong)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"delta": 1e-6},
        {"epsilon": 1, "mu": 1},
        {"epsilon": 1, "rho": 1},
        {"mu": 1, "rho": 1},
        {"epsilon": 1, "mu": 1, "rho": 1},
    ],
)
def test_exactly_one_currency(arguments: dict[str, float]) -> None:
    with pytest.raises(BudgetError, match="exactly one of epsilon, mu, rho"):
        Budget(**arguments)


def test_fields_are_given_by_name() -> None:
    with pytest.raises(TypeError):
        Budget(1.0, 1e-6)  # type: ignore[call-arg]


def test_with_delta_fills_and_never_replaces() -> None:
    assert Budget(epsilon=1).with_delta(1e-5) == Budget(epsilon=1, delta=1e-5)
    assert Budget(mu=1, delta=1e-9).with_delta(1e-5) == Budget(mu=1, delta=1e-9)
    with pytest.raises(BudgetError):
        Budget(epsilon=1).with_delta(1)


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, Fraction(0), np.float64(0)])
def test_delta_zero_is_a_pure_budget(zero: Any) -> None:
    budget = Budget(epsilon=1, delta=zero)
    assert budget.is_pure
    assert str(budget) == "ε = 1, δ = 0"
    assert budget.with_delta(1e-6) is budget
    assert Budget(epsilon=1).with_delta(0).is_pure
    assert not Budget(epsilon=1, delta=1e-9).is_pure
    assert not Budget(epsilon=math.inf, delta=0).is_pure


@pytest.mark.parametrize("currency", ["mu", "rho"])
def test_gaussian_currencies_have_no_delta_zero(currency: str) -> None:
    with pytest.raises(BudgetError, match="delta is 0; expected a number above 0"):
        Budget(**{currency: 0.5, "delta": 0})


def test_a_pure_guarantee_says_that_delta_is_zero() -> None:
    assert str(Guarantee(Relation.ZERO_OUT, "row", 0.1, 0.0, None)) == "(ε = 0.1, δ = 0), zero-out, per row"
