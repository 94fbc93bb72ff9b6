import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.accounting.rounding import float_down, float_up, root_down, root_up

SETTINGS = settings(max_examples=200, deadline=None)
numbers = st.builds(
    lambda part, power: part * Fraction(2) ** power,
    st.fractions(min_value=0, max_value=10**6),
    st.integers(-1200, 1000),
)


@SETTINGS
@given(numbers)
def test_floats_enclose_the_number(number: Fraction) -> None:
    up, down = float_up(number), float_down(number)
    assert Fraction(down) <= number
    assert math.isinf(up) or number <= Fraction(up)
    if math.isfinite(up):
        assert up == down or math.nextafter(down, math.inf) == up


@SETTINGS
@given(numbers)
def test_roots_enclose_the_root(number: Fraction) -> None:
    up, down = root_up(number), root_down(number)
    assert Fraction(down) ** 2 <= number
    assert math.isinf(up) or Fraction(up) ** 2 >= number
    assert down <= up


def test_exact_numbers_stay() -> None:
    assert float_up(Fraction(3, 8)) == float_down(Fraction(3, 8)) == 0.375
    assert root_up(Fraction(9, 4)) == root_down(Fraction(9, 4)) == 1.5
    assert float_up(-1) == -1.0
    assert float_up(10**400) == math.inf
    assert float_down(10**400) == math.nextafter(math.inf, 0.0)
    assert root_up(Fraction(0)) == root_down(Fraction(0)) == 0.0
