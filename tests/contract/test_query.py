"""Queries refuse parameters that could make a margin overflow, and each has its kind."""

import math
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest

from tacit.contract.block_query import AnyBlockQuery
from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.contract.checked_query import LARGEST, PART
from tacit.contract.grouped_query import ChannelMoments, GroupSum, MappedGradient
from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import (
    KIND_OF,
    BatchGradientSum,
    ColumnCounts,
    CurvatureAndScore,
    CurvatureTrace,
    DampedDirection,
    GradientNorm,
    GradientSum,
    Measure,
    NoisyMinimum,
    PerturbedMinimum,
    Query,
    QueryKind,
    ResidualSize,
    SecondMoments,
    Weights,
)
from tacit.contract.score_query import ScoreHistogram
from tacit.contract.selection_query import SelectionQuery
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss

THETA, MATRIX = np.array([0.5, -1.0]), np.eye(2)
VALID: dict[type, dict[str, Any]] = {
    GradientSum: {"theta": THETA, "clip": 1.0, "matrix": MATRIX},
    BatchGradientSum: {"theta": THETA, "clip": 1.0, "matrix": MATRIX},
    SecondMoments: {"row_bound": 1.0, "matrix": MATRIX},
    CurvatureAndScore: {"theta": THETA, "row_bound": 1.0, "matrix": MATRIX, "loss": classification.LOGISTIC},
    ResidualSize: {"theta": THETA, "cap": 1.0, "matrix": MATRIX},
    ScoreHistogram: {"theta": THETA, "edges": np.array([-1.0, 1.0]), "matrix": MATRIX},
    GradientNorm: {"theta": THETA, "row_bound": 1.0, "cap": 1.0, "matrix": MATRIX, "loss": regression.SQUARED},
    PerturbedMinimum: {"clip": 1.0, "matrix": MATRIX},
    NoisyMinimum: {"clip": 1.0, "ridge": 1.0, "matrix": MATRIX},
    DampedDirection: {"theta": THETA, "gradient": THETA, "damping": 1.0, "row_bound": 1.0, "matrix": MATRIX},
    CurvatureTrace: {"theta": THETA, "row_bound": 1.0, "matrix": MATRIX},
    ChannelMoments: {"group": 0, "mean": MATRIX, "ends": (0, 2), "clip": 1.0},
    MappedGradient: {
        "theta": MATRIX,
        "clip": 1.0,
        "channel_map": ChannelMap((GroupMap(MATRIX, MATRIX),), absolute=False),
    },
}
POSITIVE = {"clip", "row_bound", "cap", "damping", "ridge"}
NUMBERS = {"lowest", "highest", "start"}


SELECTING = get_args(SelectionQuery)


def test_every_query_has_a_kind() -> None:
    others = {ColumnCounts, BoundedSums, GroupSums, GroupSum, NetworkGradient, *get_args(AnyBlockQuery), *SELECTING}
    assert set(KIND_OF) == set(get_args(Query)) == {*VALID, *others}
    assert set(KIND_OF.values()) == set(QueryKind)


@pytest.mark.parametrize("query", VALID)
def test_parameters_beyond_what_margins_can_hold_are_refused(query: type) -> None:
    right = VALID[query]
    query(**right)
    for name, value in right.items():
        wrong: list[Any] = []
        if isinstance(value, np.ndarray):
            wrong = [np.full(value.shape, bad) for bad in (math.nan, math.inf, 10 * LARGEST)]
        elif name in POSITIVE:
            wrong = [0.0, -1.0, math.nan, math.inf, 10 * LARGEST, 0.1 / LARGEST]
        for bad in wrong:
            with pytest.raises(SettingError):
                query(**{**right, name: bad})


@pytest.mark.parametrize("query", [GradientSum, SecondMoments, ResidualSize])
def test_all_records_are_read_or_one_subsample(query: type) -> None:
    for every in (1, PART):
        assert query(**VALID[query], every=every).every == every
    for every in (0, 2, -1, PART + 1):
        with pytest.raises(SettingError, match=f"one in {PART}"):
            query(**VALID[query], every=every)


def test_a_batch_is_of_all_records() -> None:
    with pytest.raises(SettingError, match="drawn from all records"):
        BatchGradientSum(**VALID[BatchGradientSum], every=PART)


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_the_range_of_predictions_is_finite(name: str) -> None:
    for bad in (math.nan, math.inf, -10 * LARGEST):
        with pytest.raises(SettingError):
            ResidualSize(**{**VALID[ResidualSize], name: bad})


def test_scores_need_a_bounded_slope() -> None:
    with pytest.raises(SettingError, match="bounded score"):
        CurvatureAndScore(THETA, 1.0, None, regression.SQUARED)
    with pytest.raises(SettingError, match="bounded score"):
        SecondMoments(1.0, theta=THETA, weights=Weights.SCORE, loss=regression.SQUARED)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, math.nan, math.inf])
def test_the_share_of_the_score_lies_above_0_and_up_to_1(share: float) -> None:
    with pytest.raises(SettingError, match=r"\(0, 1\]"):
        CurvatureAndScore(THETA, 1.0, None, classification.LOGISTIC, share)


def test_the_joint_bound_is_the_losss_or_that_of_a_clipped_gradient() -> None:
    """A record's curvature is at most 1 and its score at most ρ, over their bounds."""
    pair = CurvatureAndScore(THETA, 1.0, None, classification.LOGISTIC)
    assert pair.joint == classification.LOGISTIC.joint
    for share in (0.4, 1.0):
        assert replace(pair, score_share=share).joint == 1 + share**2


def test_gradient_norms_are_counted_or_shared_and_nothing_else() -> None:
    """A norm has no sign, no prediction beside it, and no square that a query asks for."""
    for measure in Measure:
        values = {**VALID[GradientNorm], "measure": measure}
        if measure in {Measure.WITHIN, Measure.SHARE}:
            assert GradientNorm(**values).measure is measure
        else:
            with pytest.raises(SettingError, match="counted within"):
                GradientNorm(**values)
    for bad in (math.nan, math.inf, -10 * LARGEST):
        with pytest.raises(SettingError):
            GradientNorm(**VALID[GradientNorm], start=bad)


def test_weights_and_theta_go_together() -> None:
    with pytest.raises(SettingError, match="theta"):
        SecondMoments(1.0, theta=THETA)
    with pytest.raises(SettingError, match="theta"):
        SecondMoments(1.0, weights=Weights.CURVATURE)


def test_several_classes_go_with_the_softmax_loss() -> None:
    for query in (partial(PerturbedMinimum, 1.0), partial(NoisyMinimum, 1.0, 1.0)):
        assert query(loss=classification.SOFTMAX, classes=3).classes == 3
        for wrong in ({"classes": 2}, {"loss": classification.SOFTMAX}):
            with pytest.raises(SettingError, match="softmax"):
                query(**wrong)


@pytest.mark.parametrize(
    ("loss", "missing"),
    [
        (regression.SQUARED, "slope is not bounded"),
        (regression.huber(1.0, relative=True), "scale is found in the records"),
        (classification.weighted_logistic(0.1), "not proven"),
    ],
)
def test_a_noisy_minimum_names_the_property_that_a_loss_misses(loss: Loss, missing: str) -> None:
    with pytest.raises(SettingError, match=missing):
        NoisyMinimum(1.0, 1.0, loss=loss)
    with pytest.raises(SettingError, match="softmax"):
        NoisyMinimum(1.0, 1.0, classes=3)


def test_counts_have_an_interval_for_every_column() -> None:
    ends = np.array([-math.inf, 0.0])
    assert ColumnCounts((0, 2), ends, ends + 1).size == 2
    for columns, lower, upper in (
        ((), ends[:0], ends[:0]),
        ((0,), ends, ends),
        ((0, 1), ends, np.array([1.0, math.nan])),
    ):
        with pytest.raises(SettingError, match="lower and an upper"):
            ColumnCounts(columns, lower, upper)
