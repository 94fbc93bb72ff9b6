"""The Huberised hinge against its piecewise formula."""

from typing import Any

import pytest

from tacit.losses import classification
from tests.losses.loss_identities import Case, check_constants, check_derivatives, check_signs


def case(width: float) -> Case:
    def formula(z: Any, y: float) -> Any:
        m = (2 * y - 1) * z
        if m >= 1 + width:
            return 0 * z
        return 1 - m if m <= 1 - width else (1 + width - m) ** 2 / (4 * width)

    def kinks(y: float) -> tuple[float, ...]:
        return ((2 * y - 1) * (1 - width), (2 * y - 1) * (1 + width))

    return Case(classification.hinge(width), formula, (0.0, 1.0), kinks)


@pytest.mark.parametrize("width", [classification.HINGE_WIDTH, 0.1, 2.0])
def test_identities(width: float) -> None:
    check_derivatives(case(width))
    check_constants(case(width))
    check_signs(case(width))
