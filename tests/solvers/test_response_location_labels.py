"""Where a fit of labels starts: their log-odds, pulled to even odds by the noise."""

import math

import numpy as np
import pytest

import tacit
from tacit.contract.query import Answer, Query
from tacit.solvers.response_location import label_start
from tacit.solvers.rules import LABELS

PLAN = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1)).plan(1000, 2)


class Count:
    """A gate with one count."""

    def __init__(self, value: float, noise: float) -> None:
        self.answer = Answer(np.array([value]), noise)

    def ask(self, query: Query) -> Answer:
        del query
        return self.answer


def test_without_noise_the_intercept_is_the_log_odds() -> None:
    start = label_start(Count(800.0, 0.0), PLAN)
    assert start.tolist()[:2] == [0.0, 0.0]
    assert start[-1] == pytest.approx(math.log(4.0))


def test_noise_of_the_priors_size_halves_the_gap() -> None:
    start = label_start(Count(900.0, 1000 * math.sqrt(LABELS.prior_variance)), PLAN)
    assert start[-1] == pytest.approx(math.log(0.7 / 0.3))


@pytest.mark.parametrize(("value", "share"), [(-1e9, 0.02), (1e9, 0.98)])
def test_the_share_stays_away_from_its_ends(value: float, share: float) -> None:
    assert label_start(Count(value, 1e-3), PLAN)[-1] == pytest.approx(math.log(share / (1 - share)))
