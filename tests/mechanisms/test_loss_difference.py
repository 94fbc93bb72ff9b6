"""Differences of losses: clipped, near the slope, and silent about functions that fail."""

import math
from typing import Any

import numpy as np
import pytest

from tacit.contract.selection_query import LossDifference
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.black_box import black_box_loss
from tacit.losses.loss import Loss
from tacit.mechanisms.loss_difference import answer_difference, differences
from tacit.noise.entropy import SeededEntropy
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

BOUND, WIDTH = 2**20, 3
LOSSES = (
    classification.LOGISTIC,
    regression.SQUARED,
    regression.huber(0.4),
    black_box_loss(lambda margin, label: math.log1p(math.exp(margin)) - label * margin, lipschitz=1.0),
    black_box_loss(lambda margin, _: math.inf if margin > 0 else 1 / 0, lipschitz=1.0),
)
DIRECTION = np.array([0.6, 0.0, 0.8])


def table(rows: int, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).uniform(-1, 1, size=(rows, WIDTH + 1))
    values[:, WIDTH] = values[:, 0] > 0
    return values


def asked(loss: Loss, clip: float = 10.0) -> LossDifference:
    return LossDifference(np.array([1.0, -2.0, 0.5]), DIRECTION, 1e-3, clip, loss)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_record_adds_at_most_the_bound_and_a_blank_one_nothing(loss: Loss) -> None:
    for bad in ([50.0, 0, 0, 1], [-50.0, 1, 1, 0], [0, 0, 30.0, 0], [1e200, 1e200, 1, 1]):
        query = asked(loss, 0.01)
        alone = memory_store(np.array([bad], dtype=float)).total(differences, query, BOUND)
        assert abs(int(alone[0])) <= BOUND
    assert int(memory_store(np.zeros((3, WIDTH + 1))).total(differences, asked(loss), BOUND)[0]) == 0


def test_the_sum_is_the_slope_along_the_direction() -> None:
    """Compiled and called values agree with the derivative, up to h² and the lattice."""
    values, query = table(200), asked(classification.LOGISTIC)
    share = 1 / (1 + np.exp(-(values[:, :WIDTH] @ query.theta)))
    slope = float(((share - values[:, WIDTH]) * (values[:, :WIDTH] @ DIRECTION)).sum())
    for loss in (classification.LOGISTIC, LOSSES[3]):
        found = answer_difference(asked(loss), Price(2**40, 0), memory_store(values), None)
        assert math.isclose(float(found.value[0]), slope, abs_tol=1e-4)
        assert found.noise_scale == 0.0


def test_a_function_that_raises_adds_nothing_and_tells_nothing() -> None:
    answer = answer_difference(asked(LOSSES[4]), Price(BOUND, 0), memory_store(table(70)), None)
    assert answer.value.tolist() == [0.0]


def exits(margin: float, label: float) -> float:
    raise SystemExit(f"{margin} {label}")


def overflows(margin: float, label: float) -> float:
    return float(np.exp(np.float64(1e6 * abs(margin) + label)))


@pytest.mark.parametrize("function", [exits, overflows])
def test_exits_and_warnings_of_a_record_are_not_told(function: Any) -> None:
    loss = black_box_loss(function, lipschitz=1.0)
    answer = answer_difference(asked(loss), Price(BOUND, 0), memory_store(table(70)), None)
    assert answer.value.tolist() == [0.0]


def test_noise_has_the_stated_scale() -> None:
    """2,000 answers: their deviation within 10%, 6 of its standard errors (false alarm below 1e-8)."""
    store, entropy, price = memory_store(table(5)), SeededEntropy(1), Price(2**10, 12)
    answers = [answer_difference(asked(regression.SQUARED), price, store, entropy) for _ in range(2000)]
    spread = float(np.std([float(answer.value[0]) for answer in answers]))
    assert math.isclose(spread, answers[0].noise_scale, rel_tol=0.1)
    assert answers[0].noise_scale == 4.0 * 10.0


def test_units_and_other_losses_are_refused() -> None:
    with pytest.raises(SettingError, match="without units"):
        person_store([table(3)[:2], table(3)[:1]], 2).total(differences, asked(regression.SQUARED), BOUND)
    with pytest.raises(SettingError, match="cannot be asked for"):
        memory_store(table(3)).total(differences, asked(regression.smooth_huber(1.0)), BOUND)
