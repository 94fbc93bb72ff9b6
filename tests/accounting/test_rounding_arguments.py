import math
from collections.abc import Callable

import pytest

from tacit.accounting import rounding as arguments
from tacit.errors import InputError


@pytest.mark.parametrize(
    ("check", "accepted", "refused"),
    [
        (arguments.non_negative, [0.0, 3, math.inf], [-1e-300, math.nan]),
        (arguments.probability, [0.0, 1.0], [-1e-300, 1.0 + 1e-15, math.nan]),
        (arguments.above_one, [1.5, math.inf], [1.0, math.nan]),
    ],
)
def test_each_check_has_its_range(
    check: Callable[[str, float], float], accepted: list[float], refused: list[float]
) -> None:
    for value in accepted:
        assert check("amount", value) == value
    for value in refused:
        with pytest.raises(InputError, match=r"amount must"):
            check("amount", value)


def test_orders_are_finite_and_at_least_one() -> None:
    assert arguments.as_orders([1, 2.5]).tolist() == [1.0, 2.5]
    for wrong in (0.5, math.inf, math.nan):
        with pytest.raises(InputError, match="order"):
            arguments.as_orders([2.0, wrong])
