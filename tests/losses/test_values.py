"""Values of losses: against numpy, and their slopes are the derivatives."""

import numpy as np
import pytest

from tacit.losses import classification, regression
from tacit.losses.dispatch import shape_of, slopes
from tacit.losses.loss import Loss
from tacit.losses.values import ZERO_ONE, values

MARGINS = np.linspace(-8, 8, 1601)
LOSSES = (
    classification.LOGISTIC,
    classification.hinge(0.3),
    regression.SQUARED,
    regression.huber(0.7),
    regression.pinball(0.2, 0.4),
)


def value_of(loss: Loss, margin: np.ndarray, label: float) -> np.ndarray:
    out = np.empty(len(margin))
    values(int(loss.code), shape_of(loss), margin, np.full(len(margin), label), out)
    return out


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_slope_is_the_derivative_of_the_value(loss: Loss, label: float) -> None:
    step, found = 1e-6, np.empty(len(MARGINS))
    slopes(int(loss.code), shape_of(loss), MARGINS, np.full(len(MARGINS), label), found)
    difference = (value_of(loss, MARGINS + step, label) - value_of(loss, MARGINS - step, label)) / (2 * step)
    assert np.allclose(found, difference, atol=1e-5)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_the_logistic_value_has_the_precision_of_floats(label: float) -> None:
    margins = np.concatenate([MARGINS, [-700.0, 700.0, 1e-300, 0.0]])
    expected = np.logaddexp(0.0, margins) - label * margins
    assert np.allclose(value_of(classification.LOGISTIC, margins, label), expected, rtol=1e-14, atol=1e-14)
    assert (value_of(classification.LOGISTIC, margins, label) >= 0.0).all()


def test_the_zero_one_loss_counts_wrong_signs() -> None:
    out = np.empty(4)
    values(ZERO_ONE, None, np.array([1.0, -1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0, 1.0]), out)
    assert out.tolist() == [0.0, 1.0, 0.0, 1.0]
