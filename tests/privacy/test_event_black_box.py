from collections.abc import Callable
from fractions import Fraction

import pytest

from tacit.errors import SettingError
from tacit.privacy.event import Approximate, BoundedRange, Pure


def test_promises_keep_their_numbers() -> None:
    assert Pure(Fraction(2, 2)).epsilon == 1
    assert Approximate(1, Fraction(1, 10**6)).delta == Fraction(1, 10**6)
    assert BoundedRange(0).eta == 0


@pytest.mark.parametrize(
    "build",
    [
        lambda: Pure(-1),
        lambda: Pure(-0.1),
        lambda: Approximate(1, -1),
        lambda: Approximate(1, Fraction(11, 10)),
        lambda: Approximate(float("nan"), 0),
        lambda: BoundedRange(-1),
        lambda: BoundedRange(1, label="x" * 300),
    ],
)
def test_what_is_no_promise_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(SettingError):
        build()
