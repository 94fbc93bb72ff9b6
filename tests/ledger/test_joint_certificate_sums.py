"""Exact sums of unlike fractions, and their bounded spelling."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.accounting.rounding import root_up
from tacit.errors import CertificateError
from tacit.ledger.accounts import read_number
from tacit.ledger.joint_certificate import compare, rounded, total_of

POSITIVE = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40)


@given(st.lists(POSITIVE, max_size=30))
def test_the_sum_is_exact(terms: list[Fraction]) -> None:
    above, below = total_of(terms)
    assert Fraction(above, below) == sum(terms, Fraction(0))


@given(st.integers(1, 2**3000), st.integers(1, 2**3000))
def test_rounding_is_to_the_stated_side_and_keeps_the_root(above: int, below: int) -> None:
    exact = Fraction(above, below)
    high, low = rounded((above, below), up=True), rounded((above, below), up=False)
    assert low <= exact <= high
    assert high - low <= exact / 2**254
    assert len(str(high)) < 2000
    assert root_up(high) == root_up(exact)


def test_the_square_of_a_float_keeps_its_root() -> None:
    """Terms whose sum is a square, though none of them is."""
    ratio = total_of([Fraction(1, 6), Fraction(1, 12)])
    assert root_up(rounded(ratio, up=True)) == 0.5
    scaled = ratio[0] * 3**30000, ratio[1] * 3**30000
    assert root_up(rounded(scaled, up=True)) == 0.5


@given(POSITIVE, POSITIVE)
def test_comparisons_are_exact(first: Fraction, second: Fraction) -> None:
    found = compare((3 * first.numerator, 3 * first.denominator), second)
    assert found == (first > second) - (first < second)


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1/0", "01", "1/", "٣", "1e5", "1" * 51, None])
def test_what_is_no_number_is_refused_before_it_is_converted(text: object) -> None:
    with pytest.raises(CertificateError, match="no exact number"):
        read_number(text, 50, "it")
    assert read_number("10/4", 50, "it") == Fraction(5, 2)


def test_too_many_unlike_denominators_are_refused() -> None:
    terms = [Fraction(1, 2**1500 + 2 * number + 1) for number in range(3000)]
    with pytest.raises(CertificateError, match="unlike denominators"):
        total_of(terms)
