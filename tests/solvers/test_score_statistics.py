"""Areas and calibration of histograms: exact without noise, and their errors are what noise and sampling do."""

import math

import numpy as np
import pytest
from sklearn import metrics

from tacit.solvers.score_statistics import Scored, area_under_curve, calibration

RNG = np.random.default_rng(0)
COUNTS = np.array([[400.0, 300.0, 200.0, 100.0], [50.0, 100.0, 150.0, 200.0]])


def test_the_area_is_that_of_the_binned_scores() -> None:
    scores = np.repeat(np.tile(np.arange(4), 2), COUNTS.ravel().astype(int))
    labels = np.repeat([0, 1], COUNTS.sum(axis=1).astype(int))
    found = area_under_curve(COUNTS, 0.0, 4.0)
    assert found.value == pytest.approx(metrics.roc_auc_score(labels, scores))
    assert found.noise == 0.0
    # 2,000 samples of so many records: the deviation is known to 2%, and 10% is six of its errors.
    drawn = [RNG.multinomial(1500, COUNTS.ravel() / 1500).reshape(2, 4) for _ in range(2000)]
    areas = [area_under_curve(one.astype(float), 0.0, 4.0).value for one in drawn]
    assert np.std(areas) == pytest.approx(found.error, rel=0.1)


def test_noise_is_propagated() -> None:
    """2,000 draws: the deviations are known to 2%, and 10% is six of their errors."""
    noise = 8.0
    drawn = [COUNTS + noise * RNG.standard_normal(COUNTS.shape) for _ in range(2000)]
    found = area_under_curve(COUNTS, noise, 4.0)
    assert np.std([area_under_curve(one, noise, 4.0).value for one in drawn]) == pytest.approx(found.noise, rel=0.1)
    shares = np.array(
        [[it.value for it in calibration(one, np.array([-1.0, 0.0, 1.0]), noise, 2, 4.0)] for one in drawn]
    )
    stated = [it.noise for it in calibration(COUNTS, np.array([-1.0, 0.0, 1.0]), noise, 2, 4.0)]
    assert shares.std(axis=0) == pytest.approx(stated, rel=0.1)


def test_calibration_is_by_groups_of_intervals() -> None:
    low, high = calibration(COUNTS, np.array([-1.0, 0.0, 1.0]), 0.0, 2, 4.0)
    assert (low.value, high.value) == (150 / 850, 350 / 650)
    assert "0.000 to 0.500" in low.name
    assert "0.500 to 1.000" in high.name


def test_what_noise_hides_has_an_error_of_one_half() -> None:
    assert area_under_curve(COUNTS / 100, 5.0, 4.0).error == 0.5
    assert {it.error for it in calibration(COUNTS / 100, np.array([-1.0, 0.0, 1.0]), 5.0, 2, 4.0)} == {0.5}


def test_values_are_kept_within_their_ends() -> None:
    assert Scored.of("a", 1.5, 0.1, -1.0) == Scored("a", 1.0, 0.1, 0.1)
    assert Scored.of("a", -3.0, 0.0, 4.0, (-math.inf, 1.0)).value == -3.0
