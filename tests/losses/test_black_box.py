"""Black-box losses: declared, copied, and refused where slopes are needed."""

import pickle
from copy import deepcopy

import pytest

from tacit.errors import SettingError
from tacit.losses.black_box import black_box_loss
from tacit.losses.dispatch import shape_of
from tacit.losses.loss import Code


def distance(margin: float, label: float) -> float:
    return abs(margin - label)


def test_only_values_are_known() -> None:
    loss = black_box_loss(distance, lipschitz=2.0, name="distance")
    assert (loss.name, loss.code, loss.lipschitz, loss.slope) == ("own: distance", Code.OWN, 2.0, None)
    with pytest.raises(SettingError, match="An own loss is one of"):
        shape_of(loss)


def test_it_is_prepared_for_the_scale_of_a_response_and_copied() -> None:
    loss = black_box_loss(distance, lipschitz=2.0)
    assert loss.prepared(1.0, 3.0).lipschitz == 6.0
    assert deepcopy(loss) is loss
    assert pickle.loads(pickle.dumps(loss)) == loss


@pytest.mark.parametrize("wrong", [{"value": 3}, {"lipschitz": 0.0}, {"name": ""}, {"name": "x" * 61}])
def test_what_is_no_loss_is_refused(wrong: dict[str, object]) -> None:
    given = {"value": distance, "lipschitz": 1.0, **wrong}
    with pytest.raises(SettingError):
        black_box_loss(**given)  # type: ignore[arg-type]
