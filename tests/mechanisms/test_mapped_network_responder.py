"""A network on mapped rows: one map, no other queries or prices, blanked records, rows given up at the end."""

import numpy as np
import pytest
import torch
from torch import nn

from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.contract.grouped_query import ChannelMoments, GroupSum, MappedGradient
from tacit.contract.network_query import BLOCK, Network, NetworkGradient
from tacit.contract.sensitivity import Price
from tacit.engine.network_examples import parameter_vector
from tacit.errors import SettingError
from tacit.mechanisms.channel_moments import integer_moments, integer_sum
from tacit.mechanisms.mapped_network_responder import MappedNetworkResponder
from tacit.mechanisms.network_gradient import integer_gradient
from tacit.mechanisms.network_responder import NetworkResponder
from tacit.neural.example_losses import cross_entropy
from tacit.rows.storage.example_rows import ExampleRows
from tacit.rows.storage.grouped_rows import ROW_NORM, GroupedRows, map_rows

RNG = np.random.default_rng(2)
PRICE, BATCHED = Price(2**36, 38), BatchPrice(2**20, 22, Batches(Sampling.POISSON, 1, 1))
VALUES, LABELS = RNG.integers(-900, 900, (40, 5, 4)).astype(np.int16), RNG.integers(0, 3, 40)


def rows() -> GroupedRows:
    return GroupedRows.admit((VALUES,), LABELS, 3)


def map_of() -> ChannelMap:
    return ChannelMap((GroupMap(np.full((5, 4), 0.01), np.eye(5)),), absolute=False)


def network() -> Network:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return Network(nn.Sequential(nn.Linear(21, 8), nn.Tanh(), nn.Linear(8, 3)), cross_entropy, "small")


def query(channel_map: ChannelMap | None, made: Network | None = None) -> NetworkGradient:
    made = made or network()
    return NetworkGradient(parameter_vector(made.module), 0.5, made, 2 * BLOCK, BLOCK, channel_map)


def test_the_first_gradient_settles_the_map() -> None:
    first, second = map_of(), map_of()
    with MappedNetworkResponder(rows(), seed=1) as held:
        held.answer(GroupSum(0), PRICE)
        held.answer(ChannelMoments(0, np.zeros((5, 4)), (0, 5), 0.1), PRICE)
        held.answer(query(first), BATCHED)
        held.answer(query(first), BATCHED)
        with pytest.raises(SettingError, match="settled"):
            held.answer(query(second), BATCHED)
        with pytest.raises(SettingError, match="not kept"):
            held.answer(GroupSum(0), PRICE)


def test_other_queries_and_prices_are_refused() -> None:
    with MappedNetworkResponder(rows(), seed=1) as held:
        with pytest.raises(SettingError, match="here"):
            held.answer(MappedGradient(np.zeros((21, 3)), 0.1, map_of()), PRICE)
        with pytest.raises(SettingError, match="here"):
            held.answer(GroupSum(0), BATCHED)
        with pytest.raises(SettingError, match="here"):
            held.answer(query(map_of()), PRICE)
        with pytest.raises(SettingError, match="needs the map"):
            held.answer(query(None), BATCHED)
    inputs = ExampleRows.admit(np.zeros((4, 21), np.float32), np.zeros(4, np.int64), np.ones(4, np.bool_))
    with NetworkResponder(inputs, seed=1) as plain, pytest.raises(SettingError, match="no map"):
        plain.answer(query(map_of()), BATCHED)


def test_answers_are_those_of_the_mapped_rows() -> None:
    channel_map = map_of()
    inputs = map_rows((VALUES,), channel_map) / np.float32(ROW_NORM)
    alone = ExampleRows.admit(inputs, LABELS.astype(np.int64), np.ones(40, np.bool_))
    with MappedNetworkResponder(rows(), seed=7) as held, NetworkResponder(alone, seed=7) as other:
        mapped = held.answer(query(channel_map), BATCHED).value
        assert np.array_equal(mapped, other.answer(query(None), BATCHED).value)


def test_blanking_one_record_moves_every_answer_within_its_bound() -> None:
    """Sum, moments and gradient of 40 records with each of ten blanked: never beyond what the price assumes."""
    channel_map, made, unit = map_of(), network(), 2.0**20 / 0.5
    inputs = map_rows((VALUES,), channel_map) / np.float32(ROW_NORM)
    places = RNG.permutation(2 * BLOCK)[:40]

    def gradient(valid: np.ndarray) -> np.ndarray:
        examples = ExampleRows.admit(inputs, LABELS.astype(np.int64), valid)
        batch = examples.padded(np.arange(40), places, 2 * BLOCK)
        return integer_gradient(query(channel_map, made), unit * 0.99, batch)

    everyone = np.ones(40, np.bool_)
    whole, moments = gradient(everyone), ChannelMoments(0, np.zeros((5, 4)), (0, 5), 0.1)
    for place in range(10):
        valid = everyone.copy()
        valid[place] = False
        assert np.linalg.norm((whole - gradient(valid)).astype(np.float64)) <= 2**20
        less = GroupedRows.admit((VALUES[valid],), LABELS[valid], 3)
        change = integer_sum(rows(), 0) - integer_sum(less, 0)
        assert np.linalg.norm(change.astype(np.float64)) <= 2**14
        change = integer_moments(moments, rows())[0] - integer_moments(moments, less)[0]
        assert np.linalg.norm(change.astype(np.float64)) <= 2**20


def test_noise_is_fresh_unless_it_is_seeded() -> None:
    def answer(seed: int | None) -> np.ndarray:
        with MappedNetworkResponder(rows(), seed=seed) as held:
            return held.answer(query(map_of()), BATCHED).value

    assert np.array_equal(answer(5), answer(5))
    assert not np.array_equal(answer(None), answer(None))


def test_mapped_rows_are_wiped_at_the_end() -> None:
    with MappedNetworkResponder(rows(), seed=1) as held:
        channel_map = map_of()
        held.answer(query(channel_map), BATCHED)
        assert held._examples is not None
        values = held._examples.inputs
        assert values.any()
    assert not values.any()
    with pytest.raises(SettingError, match="settled"):
        held.answer(query(channel_map), BATCHED)
