"""Which arithmetic the proof of an answer is about."""

from fractions import Fraction

import pytest

from tacit.certificate.arithmetic import BOUNDED, EXACT, REAL, arithmetic_of
from tacit.contract.plan import Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.selection_price import SelectionPrice
from tacit.contract.sensitivity import AnyPrice, GammaPrice, Price, PurePrice


@pytest.mark.parametrize(
    ("kind", "price", "expected"),
    [
        (QueryKind.GRADIENT, Price(8, 2), EXACT),
        (QueryKind.SELECTION, SelectionPrice(8, Fraction(1, 2)), EXACT),
        (QueryKind.SIGNED_SELECTION, SelectionPrice(8, Fraction(1, 2)), EXACT),
        (QueryKind.NOISY_MINIMUM, Price(8, 2), BOUNDED),
        (QueryKind.NOISY_MINIMUM, GammaPrice(8, 2), REAL),
        (QueryKind.MINIMUM, PurePrice(8, 2, Fraction(1), Fraction(1)), REAL),
        (QueryKind.POSTERIOR, Price(8, 2), REAL),
    ],
)
def test_arithmetic(kind: QueryKind, price: AnyPrice, expected: str) -> None:
    assert arithmetic_of(Step(kind, price, 1, Purpose.CANDIDATE)) == expected
