"""The responder of grouped rows: one map, no other queries, rows given up at the end."""

import numpy as np
import pytest

from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.contract.grouped_query import ChannelMoments, GroupSum, MappedGradient
from tacit.contract.query import GradientSum
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.mechanisms.grouped_responder import GroupedResponder
from tacit.rows.storage.grouped_rows import GroupedRows

RNG = np.random.default_rng(2)
PRICE = Price(2**36, 38)


def rows() -> GroupedRows:
    values = RNG.integers(-900, 900, (40, 5, 4)).astype(np.int16)
    return GroupedRows.admit((values,), RNG.integers(0, 3, 40), 3)


def map_of() -> ChannelMap:
    return ChannelMap((GroupMap(np.zeros((5, 4)), np.eye(5)),), absolute=False)


def test_the_first_gradient_settles_the_map() -> None:
    first, second = map_of(), map_of()
    with GroupedResponder(rows(), private=False, seed=None) as responder:
        responder.answer(GroupSum(0), PRICE)
        responder.answer(ChannelMoments(0, np.zeros((5, 4)), (0, 5), 0.1), PRICE)
        responder.answer(MappedGradient(np.zeros((21, 3)), 0.1, first), PRICE)
        responder.answer(MappedGradient(np.ones((21, 3)), 0.1, first), PRICE)
        with pytest.raises(SettingError, match="settled"):
            responder.answer(MappedGradient(np.zeros((21, 3)), 0.1, second), PRICE)
        with pytest.raises(SettingError, match="not kept"):
            responder.answer(GroupSum(0), PRICE)


def test_other_queries_are_refused() -> None:
    with GroupedResponder(rows(), private=False, seed=None) as responder, pytest.raises(SettingError, match="alone"):
        responder.answer(GradientSum(np.zeros(20), 1.0), PRICE)


def test_noise_is_fresh_unless_it_is_seeded() -> None:
    kept = rows()

    def answer(seed: int | None) -> np.ndarray:
        with GroupedResponder(kept, private=True, seed=seed) as responder:
            return responder.answer(GroupSum(0), PRICE).value

    assert np.array_equal(answer(5), answer(5))
    assert not np.array_equal(answer(None), answer(None))


def test_mapped_rows_are_wiped_at_the_end() -> None:
    with GroupedResponder(rows(), private=False, seed=None) as responder:
        responder.answer(MappedGradient(np.zeros((21, 3)), 0.1, map_of()), PRICE)
        assert responder._mapped is not None
        values = responder._mapped.rows
        assert values.any()
    assert not values.any()
