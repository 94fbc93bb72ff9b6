"""Losses are refused for minimisation under noise by the property that they miss."""

import math
from functools import partial

import pytest

from tacit.contract.perturbable_loss import missing_for_perturbation
from tacit.contract.query import NoisyMinimum, PerturbedMinimum
from tacit.errors import SettingError
from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Code, Loss


@pytest.mark.parametrize(
    ("loss", "missing"),
    [
        (regression.SQUARED, "slope is not bounded"),
        (Loss("hinge", Code.HINGE, 1.0, math.inf, (0.0, 0.0), one_signed=True), "slope jumps"),
        (Loss("pinball", Code.PINBALL, 1.0, math.inf, (0.5, 0.0)), "slope jumps"),
        (regression.huber(1.0, relative=True), "scale is found in the records"),
        (poisson.loss(2.0, 5.0), "error of its computed gradient is not proven"),
        (Loss("unclipped-poisson", Code.POISSON, math.inf, math.inf), "slope is not bounded"),
        (classification.weighted_logistic(0.1), "error of its computed gradient is not proven"),
    ],
)
def test_a_loss_is_refused_by_the_property_that_it_misses(loss: Loss, missing: str) -> None:
    for query in (partial(PerturbedMinimum, 1.0), partial(NoisyMinimum, 1.0, 1.0)):
        with pytest.raises(SettingError, match=missing):
            query(loss=loss)
    assert missing_for_perturbation(classification.hinge()) is None
