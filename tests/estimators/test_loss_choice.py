"""From families and declared numbers to losses in prepared units, and back to predictions."""

import math
from typing import Any

import numpy as np
import pytest

from tacit.design.attached_columns import Offset
from tacit.design.response import FAMILIES, Absent, Binary, Classes, Continuous, Count, Positive
from tacit.errors import SettingError
from tacit.estimators.loss_choice import LossShape, loss_of, predicted
from tacit.losses import classification, regression

BINARY = Binary("y", (0, 1))
CLASSES = Classes("y", ("a", "b", "c"))
NUMBER = Continuous.of("y", -10.0, 30.0)
COUNT = Count("y", 50.0)
OF_KIND: dict[type, Any] = {Binary: BINARY, Classes: CLASSES, Continuous: NUMBER, Count: COUNT}


def test_every_family_has_a_loss_for_its_response_and_no_other() -> None:
    for name, family in FAMILIES.items():
        for kind, response in OF_KIND.items():
            if kind is family.response:
                assert loss_of(name, response).smoothness > 0
            else:
                with pytest.raises(SettingError, match="does not go with"):
                    loss_of(name, response)


def test_losses_without_shape() -> None:
    assert loss_of("binomial", BINARY) is classification.LOGISTIC
    assert loss_of("multinomial", CLASSES) is classification.SOFTMAX
    assert loss_of("gaussian", NUMBER) is regression.SQUARED


def test_numbers_in_units_of_the_response_become_prepared_ones() -> None:
    """The half range is 20."""
    assert loss_of("huber", NUMBER, LossShape(threshold=2.0, scale=5.0)).shape == (0.5, 0.0)
    assert loss_of("quantile", NUMBER, LossShape(quantile=0.3, smoothing=4.0)).shape == (0.3, 0.2)


def test_undeclared_numbers_are_in_units_of_a_deviation_to_come() -> None:
    huber = loss_of("huber", NUMBER, LossShape(threshold=2.0))
    pinball = loss_of("quantile", NUMBER, LossShape(quantile=0.9))
    assert (huber.shape, huber.relative) == ((2.0, 0.0), True)
    assert (pinball.shape, pinball.relative) == ((0.9, 0.3), True)
    assert not loss_of("huber", NUMBER, LossShape(scale=1.0)).relative
    opened = Continuous.opened("y")
    assert loss_of("huber", opened).relative
    with pytest.raises(SettingError, match="units of y"):
        loss_of("huber", opened, LossShape(scale=1.0))


def test_the_poisson_predictor_is_capped_at_e_times_the_largest_count() -> None:
    loss = loss_of("poisson", COUNT)
    assert loss.shape == pytest.approx((math.log(50) + 1, 50 * math.e))
    assert loss.lipschitz == pytest.approx(50 * math.e)


@pytest.mark.parametrize("numbers", [{"threshold": 0}, {"scale": math.inf}, {"quantile": 1}, {"smoothing": -1}])
def test_shapes_are_checked(numbers: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=next(iter(numbers))):
        LossShape(**numbers)


def test_predictions_by_kind() -> None:
    margins = np.array([-1e9, 0.0, 1e9, np.nan])
    np.testing.assert_array_equal(predicted(BINARY, margins), [0.0, 0.5, 1.0, np.nan])
    np.testing.assert_array_equal(predicted(NUMBER, margins), [-10.0, 0.0, 30.0, np.nan])
    np.testing.assert_allclose(predicted(COUNT, margins), [0.0, 1.0, 50, np.nan])
    short = Offset("t", math.log(0.1), 0.0, exposure=True)
    np.testing.assert_allclose(predicted(COUNT, margins, short)[2], 500)
    chances = predicted(CLASSES, np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 800.0]]))
    np.testing.assert_allclose(chances, [[1 / 3] * 3, [0.0, 0.0, 1.0]])
    with pytest.raises(SettingError):
        predicted(Absent(), margins)


@pytest.mark.parametrize("largest", [3.0, 30.0, 100.0, 365.0, 1e9])
def test_no_prediction_is_above_the_largest_count_by_rounding(largest: float) -> None:
    """U7: exp(log 30) is 30.000000000000004."""
    assert largest * (1 - 1e-12) <= predicted(Count("y", largest), np.array([1e3]))[0] <= largest


@pytest.mark.parametrize("ends", [(-2000.0, -1000.0), (1000.0, 2000.0), (-1e6, 1e6), (math.log(1e-310), 0.0)])
@pytest.mark.parametrize("response", [Count("y", 9.0), Positive("y", 0.1, 9.0)])
def test_predictions_are_made_for_offsets_beyond_the_exponential(response: Any, ends: tuple[float, float]) -> None:
    found = predicted(response, np.array([-1e9, 0.0, 1e9, np.nan]), Offset("t", *ends))
    assert np.isfinite(found[:3]).all()
    assert (np.diff(found[:3]) >= 0).all()
    assert np.isnan(found[3])


def test_only_losses_with_numbers_have_facts() -> None:
    assert LossShape().facts("gaussian") == []
    (fact,) = LossShape(scale=2.0).facts("huber")
    assert (fact.name, fact.value, fact.source) == ("loss", {"threshold": 1.345, "scale": 2.0}, "declared")
    assert LossShape().facts("huber")[0].value["scale"] == "private"
    assert LossShape(quantile=0.9).facts("quantile")[0].value["quantile"] == 0.9
