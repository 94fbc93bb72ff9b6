"""Softmax gradients by exact products: equal to integers, bounded, independent of blocks and order."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.contract.grouped_query import MappedGradient
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.errors import SettingError
from tacit.mechanisms import softmax_products
from tacit.mechanisms.channel_moments import multiple_of
from tacit.mechanisms.softmax_products import (
    RESIDUAL_NORM,
    THETA_NORM,
    answer_mapped_gradient,
    integer_gradients,
    residual_unit,
    rounded_theta,
)
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tacit.rows.storage.grouped_rows import BLOCK, ROW_NORM, MappedRows, blocks_of

RNG = np.random.default_rng(21)
MAP = ChannelMap((GroupMap(np.zeros((1, 1)), np.ones((1, 1))),), absolute=False)
WIDTH, CLASSES, COUNT = 37, 5, 700


def whole_rows(values: NDArray[np.float64]) -> NDArray[np.float32]:
    norm = np.sqrt((values**2).sum(axis=1, keepdims=True))
    length = ROW_NORM - math.sqrt(values.shape[1]) / 2 - 1
    return np.asarray(np.rint(values * length / np.maximum(norm, 1e-300)), dtype=np.float32)


def mapped_rows(rows: NDArray[np.float32], labels: NDArray[np.integer[Any]]) -> MappedRows:
    largest = [(rows[block].astype(float) ** 2).sum(axis=0).max() for block in blocks_of(len(rows))]
    return MappedRows(rows, labels.astype(np.int16), np.array(largest))


def some(kind: str = "gauss") -> MappedRows:
    values = RNG.normal(size=(COUNT, WIDTH))
    if kind == "one column":
        # Sums of a block are far above 2^24: float32 cannot hold them.
        values = values * 0.02 + np.eye(WIDTH)[0]
    if kind == "spikes":
        values = np.eye(WIDTH)[RNG.integers(0, WIDTH, COUNT)] * RNG.choice([-1.0, 1.0], (COUNT, 1))
    return mapped_rows(whole_rows(values), RNG.integers(0, CLASSES, COUNT))


def residuals(query: MappedGradient, rows: MappedRows) -> NDArray[np.int64]:
    """Residuals of every record, one at a time."""
    theta, unit = rounded_theta(query.theta)
    out = np.empty((len(rows.labels), theta.shape[1]), dtype=np.float32)
    for i in range(len(out)):
        exact = (rows.rows[i].astype(object) @ theta.astype(object)).astype(np.float64)
        softmax_products._residuals(
            exact[None].astype(np.float32), rows.labels[i : i + 1], unit, query.clip, out[i : i + 1]
        )
    return out.astype(np.int64)


def query_of(scale: float = 8.0, clip: float = 0.05) -> MappedGradient:
    return MappedGradient(RNG.normal(size=(WIDTH, CLASSES)) * scale, clip, MAP)


@pytest.mark.parametrize("kind", ["gauss", "one column", "spikes"])
@pytest.mark.parametrize("scale", [0.0, 8.0, 1e6])
def test_sums_are_exact_integers(kind: str, scale: float) -> None:
    rows, query = some(kind), query_of(scale)
    wanted = residuals(query, rows).astype(object).T @ rows.rows.astype(object)
    assert (integer_gradients(query, rows).astype(object) == wanted).all()


def test_float32_alone_would_not_be_exact() -> None:
    """The seeded fault: without the check of a block, sums of one long column are rounded."""
    rows, query = some("one column"), query_of(0.0)
    careless = rows._replace(largest=np.zeros_like(rows.largest), labels=np.zeros_like(rows.labels))
    careful = rows._replace(labels=careless.labels)
    assert not np.array_equal(integer_gradients(query, careless), integer_gradients(query, careful))


@pytest.mark.parametrize("relation", [Relation.ZERO_OUT, Relation.REPLACE_ONE])
def test_a_records_gradient_is_within_the_bound(relation: Relation) -> None:
    price = Price(2**36 - 12345, 40)
    times = multiple_of(price, RESIDUAL_NORM * ROW_NORM)
    for kind in ("gauss", "spikes"):
        rows = some(kind)
        for clip in (1e-6, 0.05, 10.0):
            query = query_of(20.0, clip)
            found = residuals(query, rows)
            assert ((found**2).sum(axis=1) <= RESIDUAL_NORM**2).all()
            # One record less, or another one in its place.
            for i in range(0, COUNT, 97):
                changed, labels = rows.rows.copy(), rows.labels.astype(np.int64)
                changed[i] = 0 if relation is Relation.ZERO_OUT else -changed[i]
                moved = integer_gradients(query, rows) - integer_gradients(query, mapped_rows(changed, labels))
                largest = squared_sensitivity(QueryKind.GRADIENT, price.bound, relation)
                assert int(((times * moved.astype(object)) ** 2).sum()) <= largest


def test_it_is_the_clipped_gradient() -> None:
    rows, query = some(), query_of()
    answer = answer_mapped_gradient(query, Price(2**36, 40), rows, None).value
    z = rows.rows.astype(float) / ROW_NORM
    margins = z @ query.theta
    chance = np.exp(margins - margins.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    chance[np.arange(COUNT), rows.labels] -= 1
    norms = np.sqrt((chance**2).sum(axis=1, keepdims=True))
    wanted = z.T @ (chance * np.minimum(1.0, query.clip / norms))
    np.testing.assert_allclose(answer, wanted, atol=0.05 * query.clip * math.sqrt(COUNT))


def test_order_blocks_and_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, query = some(), query_of()
    wanted = integer_gradients(query, rows)
    order = RNG.permutation(COUNT)
    assert np.array_equal(integer_gradients(query, mapped_rows(rows.rows[order], rows.labels[order])), wanted)
    monkeypatch.setenv("TACIT_THREADS", "1")
    monkeypatch.setattr(softmax_products, "blocks_of", lambda n: blocks_of(n, BLOCK // 8))
    assert np.array_equal(integer_gradients(query, rows), wanted)


def test_theta_keeps_its_norm_whatever_its_size() -> None:
    for scale in (0.0, 1e-90, 1.0, 1e90):
        theta, unit = rounded_theta(RNG.normal(size=(8321, 10)) * scale)
        assert (theta.astype(float) ** 2).sum(axis=0).max() <= THETA_NORM**2
        assert math.isfinite(unit)
    assert THETA_NORM * ROW_NORM < 2**24


def test_coefficients_whose_squares_vanish_do_not_outgrow_their_norm() -> None:
    """The attack: the square of 1.6e-162 is the smallest float, those of 1.5e-162 are 0."""
    theta = np.full((1000, 2), 1.5e-162)
    theta[0] = 1.6e-162
    whole, unit = rounded_theta(theta)
    assert (np.square(whole, dtype=np.float64).sum(axis=0) <= THETA_NORM**2).all()
    assert math.isfinite(unit)


@pytest.mark.parametrize("margin", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("unit", "clip"), [(1.0, 0.05), (math.inf, 0.05), (1.0, 0.0), (1.0, 1e-300), (1e308, math.nan)]
)
def test_a_residual_that_is_no_number_or_too_large_is_zero(margin: float, unit: float, clip: float) -> None:
    """No query leads here; but squares of what 64-bit integers cannot hold wrap to 0, which would pass for a bound."""
    margins = np.zeros((3, CLASSES), dtype=np.float32)
    margins[0, 0], margins[1, 0] = margin, 1e30
    out = np.empty((3, CLASSES), dtype=np.float32)
    softmax_products._residuals(margins, np.zeros(3, dtype=np.int16), unit, clip, out)
    assert ((out.astype(np.float64) ** 2).sum(axis=1) <= RESIDUAL_NORM**2).all()


def test_noise_has_the_stated_scale() -> None:
    """400·10 draws; the standard deviation is off by 9% in one case of 10^14."""
    rows = mapped_rows(whole_rows(RNG.normal(size=(20, 400))), RNG.integers(0, 10, 20))
    query, price = MappedGradient(np.zeros((400, 10)), 0.05, MAP), Price(2**36, 38)
    exact = answer_mapped_gradient(query, price, rows, None)
    noised = answer_mapped_gradient(query, price, rows, SeededEntropy(1))
    assert abs((noised.value - exact.value).std() / noised.noise_scale - 1) < 0.09
    assert noised.noise_scale == pytest.approx(4 * query.clip * RESIDUAL_NORM / residual_unit(10), rel=1e-3)


def test_another_width_is_refused() -> None:
    with pytest.raises(SettingError, match="theta"):
        answer_mapped_gradient(MappedGradient(np.zeros((3, 5)), 0.05, MAP), Price(2**36, 38), some(), None)
