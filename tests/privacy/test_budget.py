import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import BudgetError
from tacit.privacy.budget import Budget


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


@pytest.mark.parametrize("wrong", [0, 0.0, 1, 1.0, -1e-6, 2, math.nan, math.inf, True, "1e-6"])
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
        Budget(epsilon=1).with_delta(0)
