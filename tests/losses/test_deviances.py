"""Unit deviances against statsmodels, and what they are at the ends."""

import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

from tacit.losses import classification, links, log_link, poisson, regression
from tacit.losses.deviances import KNOWN, logarithm, numbers_of, unit_deviance
from tacit.losses.loss import Loss

RNG = np.random.default_rng(8)
Z = RNG.uniform(-3, 3, 200)
LABELS = RNG.integers(0, 2, 200).astype(float)
COUNTS = RNG.poisson(3, 200).astype(float)
LINKS = sm.families.links
CASES: list[tuple[Loss, Any, Any, Any]] = [
    (classification.LOGISTIC, sm.families.Binomial(), Z, LABELS),
    (links.PROBIT, sm.families.Binomial(LINKS.Probit()), Z, LABELS),
    (links.CLOGLOG, sm.families.Binomial(LINKS.CLogLog()), np.minimum(Z, 1.2), LABELS),
    (poisson.loss(6.0, 200.0), sm.families.Poisson(), Z, COUNTS),
    (log_link.gamma(-8.0, 8.0, 100.0), sm.families.Gamma(LINKS.Log()), Z, RNG.gamma(1.0, 2.0, 200)),
    (log_link.negative_binomial(0.5, 8.0, 100.0), sm.families.NegativeBinomial(alpha=0.5), Z, COUNTS),
]


def deviance(loss: Loss, z: float, y: float) -> float:
    return unit_deviance(int(loss.code), z, y, numbers_of(loss.code, loss.shape))


@pytest.mark.parametrize(("loss", "family", "z", "y"), CASES, ids=[case[0].name for case in CASES])
def test_statsmodels_agrees(loss: Loss, family: Any, z: Any, y: Any) -> None:
    expected = family.resid_dev(y, family.link.inverse(z)) ** 2
    found = [deviance(loss, float(a), float(b)) for a, b in zip(z, y, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_squares_are_of_predictions_within_the_range() -> None:
    assert deviance(regression.SQUARED, 0.3, -0.2) == pytest.approx(0.25)
    assert deviance(regression.SQUARED, 9.0, 0.5) == 0.25


def test_every_known_loss_has_a_case() -> None:
    assert {case[0].code for case in CASES} | {regression.SQUARED.code} == KNOWN


@pytest.mark.parametrize("loss", [case[0] for case in CASES], ids=lambda loss: loss.name)
def test_far_margins_have_a_number_or_infinity(loss: Loss) -> None:
    for z in (-1e300, -700.0, 0.0, 700.0, 1e300):
        for y in (0.0, 1.0):
            assert deviance(loss, z, y) >= -1e-12


def test_the_logarithm_is_that_of_the_library() -> None:
    x = np.concatenate([np.exp(RNG.uniform(-600, 600, 500)), np.linspace(0.5, 2.0, 301), [1.0]])
    np.testing.assert_allclose([logarithm(float(each)) for each in x], np.log(x), rtol=1e-14, atol=1e-16)
    assert logarithm(1.0) == 0.0
    assert deviance(log_link.gamma(-8.0, 8.0, 100.0), 0.0, 0.0) == math.inf
