"""The weighted logistic score: its formula, its mean, its bounds."""

import numpy as np
import pytest
from scipy import special

from tacit.losses import classification
from tests.losses.loss_identities import compiled

TOP = 0.06
LOSS = classification.weighted_logistic(TOP)
Z = np.linspace(-12, 12, 241)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_slope_and_curvature_are_the_logistic_ones_with_a_weight(label: float) -> None:
    chance = special.expit(Z)
    bend = chance * special.expit(-Z)
    slope, curvature = compiled(LOSS, Z, label)
    np.testing.assert_allclose(slope, np.minimum(1, TOP / bend) * (chance - label), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curvature, np.minimum(bend, TOP), rtol=1e-12)


def test_far_out_where_the_curvature_is_small_it_is_the_logistic_score() -> None:
    z = Z[np.abs(Z) > 3.0]
    assert len(z) > 100
    np.testing.assert_array_equal(compiled(LOSS, z, 1.0), compiled(classification.LOGISTIC, z, 1.0))


def test_its_mean_is_zero_at_the_right_share() -> None:
    ones, zeros = (compiled(LOSS, Z, label)[0] for label in (1.0, 0.0))
    chance = special.expit(Z)
    np.testing.assert_allclose(chance * ones + (1 - chance) * zeros, 0.0, atol=1e-15)


def test_bounds_are_not_exceeded_at_any_margin() -> None:
    z = np.concatenate([Z, [-1e300, -800.0, 800.0, 1e300]])
    for label in (0.0, 1.0):
        slope, curvature = compiled(LOSS, z, label)
        assert np.abs(slope).max() == LOSS.lipschitz == 1.0
        assert curvature.max() == LOSS.smoothness == TOP
        assert curvature.min() >= 0.0
