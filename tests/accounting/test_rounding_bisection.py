import math

import pytest

from tacit.accounting.rounding import bisect


@pytest.mark.parametrize("root", [1e-200, 0.3, 1.0, 689.0])
def test_the_bracket_is_narrow_and_around_the_root(root: float) -> None:
    seen: list[float] = []

    def holds(value: float) -> bool:
        seen.append(value)
        return value >= root

    low, high = bisect(0.0, 690.0, holds, 1e-9)
    assert low < root <= high
    assert high - low <= 1e-9 * high
    assert high == 690.0 or high in seen
    assert low == 0.0 or low in seen


def test_a_condition_that_holds_everywhere_ends_at_zero() -> None:
    low, high = bisect(0.0, 1.0, lambda _: True, 1e-3)
    assert low == 0.0
    assert high < math.ulp(0.0) * 2


def test_a_condition_that_never_holds_keeps_the_upper_end() -> None:
    assert bisect(0.0, 1.0, lambda _: False, 1e-3)[1] == 1.0
