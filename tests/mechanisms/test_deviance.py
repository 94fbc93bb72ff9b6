"""Sums of clipped deviances: what is summed, and what one record or person can change."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from tacit.contract.deviance_query import DevianceSum
from tacit.contract.query import GradientSum, QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.losses import classification, links, log_link, poisson, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.deviance import answer_deviance, integer_deviances
from tacit.mechanisms.query_responder import Responder
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

RNG = np.random.default_rng(4)
THETA, BOUND, CAP = np.array([0.7, -0.4, 0.2]), 2**30, 12.0
LOSSES = (
    classification.LOGISTIC,
    links.PROBIT,
    links.CLOGLOG,
    regression.SQUARED,
    poisson.loss(math.log(20) + 1, 20.0),
    log_link.gamma(-5.0, 4.0, 20.0),
    log_link.negative_binomial(0.5, 4.0, 20.0),
)
BY_NAME = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def rows(n: int) -> NDArray[np.float64]:
    return np.column_stack([RNG.uniform(-1, 1, (n, 2)), np.ones(n), RNG.integers(0, 2, n)])


def plain(loss: Loss, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same by numpy."""
    z, y = table[:, :3] @ THETA, table[:, 3]
    m = np.exp(z)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(y > 0, y * np.log(y / m), 0.0)
        found = {
            "logistic": 2 * (np.logaddexp(0, z) - y * z),
            "squared": (y - np.clip(z, -1, 1)) ** 2,
            "poisson": 2 * (excess - y + m),
            "gamma": np.where(y > 0, 2 * (y / m - 1 - np.log(y / m)), np.inf),
            "negative-binomial": 2 * (excess - (y + 2) * np.log((1 + y / 2) / (1 + m / 2))),
            "probit": -2 * special.log_ndtr(np.where(y > 0, z, -z)),
            "cloglog": np.where(y > 0, -2 * np.log(-np.expm1(-m)), 2 * m),
        }
    return np.asarray(np.minimum(found[loss.name] / CAP, 1.0))


@pytest.mark.parametrize("n", [1, 63, 64, 500])
@BY_NAME
def test_it_is_the_sum_over_the_records_alone(loss: Loss, n: int) -> None:
    """Also where zero records fill up the last tile."""
    table = rows(n)
    found = integer_deviances(DevianceSum(THETA, CAP, loss), BOUND, memory_store(table, 128))
    assert found[0] / BOUND == pytest.approx(plain(loss, table).sum(), rel=1e-7)
    assert found[1] == n * BOUND


@BY_NAME
def test_rows_of_zeros_which_invalid_records_are_add_to_neither_sum(loss: Loss) -> None:
    table = rows(300)
    query = DevianceSum(THETA, CAP, loss)
    blank = np.concatenate([table, np.zeros((77, 4))])
    expected = integer_deviances(query, BOUND, memory_store(table))
    assert (integer_deviances(query, BOUND, memory_store(blank)) == expected).all()
    persons = [*np.split(table, 100), *np.zeros((20, 3, 4))]
    found = integer_deviances(query, BOUND, person_store(persons, 3))
    assert (found == integer_deviances(query, BOUND, person_store(persons[:100], 3))).all()
    assert found[1] == 100 * BOUND


@BY_NAME
def test_one_record_adds_at_most_the_bound_whatever_it_holds(loss: Loss) -> None:
    query = DevianceSum(1e90 * THETA, 1e-3, loss)
    strange = [0.0, 1.0, -1.0, 1e30, -1e30, math.inf, -math.inf, math.nan]
    table = np.array([[a, b, 1.0, y] for a in strange for b in (0.0, math.nan, 1e30) for y in strange])
    found = np.array([integer_deviances(query, 1000, memory_store(row[None])) for row in table])
    assert found.min() == 0
    assert found.max() == 1000
    for relation in Relation:
        assert (found**2).sum(axis=1).max() == squared_sensitivity(QueryKind.COUNTS, 1000, relation, query.size)


def test_weights_multiply_and_offsets_are_added() -> None:
    table, weights, offsets = rows(200), RNG.uniform(0, 1, 200), RNG.uniform(-1, 1, 200)
    query = DevianceSum(THETA, CAP, classification.LOGISTIC)
    both = np.column_stack([table, weights, offsets])
    z = table[:, :3] @ THETA + offsets
    expected = weights @ np.minimum(2 * (np.logaddexp(0, z) - table[:, 3] * z) / CAP, 1)
    found = integer_deviances(query, BOUND, memory_store(both, weighted=True, shifted=True))
    assert found[0] / BOUND == pytest.approx(expected, rel=1e-7)
    assert found[1] / BOUND == pytest.approx(weights.sum(), rel=1e-7)


def test_a_person_adds_the_mean_over_their_records() -> None:
    table = rows(60)
    query = DevianceSum(THETA, CAP, classification.LOGISTIC)
    found = integer_deviances(query, BOUND, person_store(np.split(table, 20), 3))
    assert found[0] / BOUND == pytest.approx(plain(classification.LOGISTIC, table).sum() / 3, rel=1e-7)
    # One of the three records of every person is invalid.
    table[::3] = 0.0
    found = integer_deviances(query, BOUND, person_store(np.split(table, 20), 3))
    valid = plain(classification.LOGISTIC, np.delete(table, np.s_[::3], axis=0))
    assert found / BOUND == pytest.approx([valid.sum() / 3, 20 * 2 / 3], rel=1e-7)


def test_noise_is_added_in_units_of_the_cap() -> None:
    table = rows(300)
    query, store = DevianceSum(THETA, CAP, classification.LOGISTIC), memory_store(table)
    exact, noisy = (answer_deviance(query, Price(BOUND, 24), store, it) for it in (None, SeededEntropy(1)))
    assert exact.value[0] == pytest.approx(plain(classification.LOGISTIC, table).sum(), rel=1e-7)
    assert noisy.value[0] != exact.value[0]
    assert noisy.noise_scale == 2**24 / BOUND


def test_coordinates_that_were_settled_do_not_change_it() -> None:
    table = rows(400)
    query = DevianceSum(THETA, CAP, classification.LOGISTIC)
    matrix = np.array([[2.0, 0.3, 0.0], [0.0, 0.5, 0.1], [0.0, 0.0, 1.5]])
    first = Responder(memory_store(table), private=False, seed=None)
    before = first.answer(query, Price(BOUND, 0)).value
    settled = Responder(memory_store(table), private=False, seed=None)
    settled.answer(GradientSum(np.zeros(3), 1.0, matrix), Price(BOUND, 0))
    assert settled.answer(query, Price(BOUND, 0)).value == pytest.approx(before, rel=1e-6)
