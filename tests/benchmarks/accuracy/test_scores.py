"""Scores against scikit-learn and against what is known by hand."""

import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

from benchmarks.accuracy.bundled import diabetes, wine
from benchmarks.accuracy.scores import ranked, score, slope, trivial


def test_the_loss_is_that_of_scikit_learn() -> None:
    table = wine()
    margins = np.random.default_rng(0).standard_normal(len(table.y_test)) * 3
    scores = score(table, margins)
    assert scores["log_loss"] == pytest.approx(log_loss(table.y_test, expit(margins)))


def test_a_huge_margin_has_the_loss_of_a_rounded_probability() -> None:
    table = wine()
    margins = np.where(table.y_test > 0, -1e9, 1e9)
    assert 30 < score(table, margins)["log_loss"] < 40
    assert score(table, margins)["accuracy"] == 0.0


def test_the_slope_forgets_a_shift_and_finds_a_stretch() -> None:
    baseline = np.array([0.0, 1.0, 3.0])
    assert slope(2 * baseline + 7, baseline) == pytest.approx(2.0)
    assert math.isnan(slope(baseline, np.ones(3)))


def test_the_trivial_model_knows_the_mean() -> None:
    table = wine()
    share = float(table.y_train.mean())
    entropy = log_loss(table.y_test, np.full(len(table.y_test), share))
    assert trivial(table)["log_loss"] == pytest.approx(entropy)
    assert trivial(diabetes())["r2"] <= 0.0


def test_the_best_come_first() -> None:
    assert ranked("auc", [0.5, 0.9, 0.7]) == [1, 2, 0]
    assert ranked("log_loss", [0.5, 0.9, 0.7]) == [0, 2, 1]
