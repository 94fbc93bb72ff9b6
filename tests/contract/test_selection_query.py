"""Queries of selections: parameters that no mechanism could take are refused."""

from typing import Any

import numpy as np
import pytest

from tacit.contract.selection_query import CandidateChoice, LossDifference, PosteriorDraw, StatisticChoice, VertexChoice
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.errors import SettingError
from tacit.losses import classification, regression

ZERO, ONE = np.zeros(2), np.ones(2)
LOGISTIC = classification.LOGISTIC


@pytest.mark.parametrize(
    "make",
    [
        lambda: VertexChoice(ZERO, np.ones(3), 1.0, LOGISTIC, constant=False),
        lambda: VertexChoice(ZERO, ZERO, 1.0, LOGISTIC, constant=False),
        lambda: VertexChoice(ZERO, np.array([1.0, -1.0]), 1.0, LOGISTIC, constant=False),
        lambda: VertexChoice(ZERO, np.array([1.0, np.nan]), 1.0, LOGISTIC, constant=False),
        lambda: VertexChoice(np.zeros(1), np.ones(1), 1.0, LOGISTIC, constant=True),
        lambda: VertexChoice(ZERO, ONE, 0.0, LOGISTIC, constant=False),
        lambda: CandidateChoice(ZERO, 1.0),
        lambda: CandidateChoice(np.zeros((0, 2)), 1.0),
        lambda: CandidateChoice(np.full((1, 2), np.inf), 1.0),
        lambda: CandidateChoice(np.zeros((1, 2)), 0.0),
        lambda: CandidateChoice(np.zeros((1, 2)), 1.0, regression.smooth_huber(1.0)),
        lambda: StatisticChoice(()),
        lambda: PosteriorDraw(1.0, 1.0, 1.0, 8, classification.hinge()),
        lambda: PosteriorDraw(1.0, 1.0, 0.0, 8),
        lambda: PosteriorDraw(1.0, 0.0, 1.0, 8),
        lambda: PosteriorDraw(1.0, 1.0, 1.0, 0),
        lambda: LossDifference(ZERO, np.ones(3), 1.0, 1.0, LOGISTIC),
        lambda: LossDifference(ZERO, np.array([np.nan, 0.0]), 1.0, 1.0, LOGISTIC),
        lambda: LossDifference(ZERO, ONE, 0.0, 1.0, LOGISTIC),
        lambda: LossDifference(np.array([np.inf, 0.0]), ONE, 1.0, 1.0, LOGISTIC),
    ],
)
def test_what_no_mechanism_could_take_is_refused(make: Any) -> None:
    with pytest.raises(SettingError):
        make()


def test_compared_statistics_have_one_interval() -> None:
    statistics = [Statistic("x", Cell("x", 0, 1.0), Interval(0.0, upper)) for upper in (1.0, 2.0)]
    with pytest.raises(SettingError, match="same interval"):
        StatisticChoice(tuple(statistics))
    assert len(StatisticChoice((statistics[0],)).statistics) == 1
