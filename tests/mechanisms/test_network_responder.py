"""The responder answers gradient sums at the price of a batch, and nothing else."""

import numpy as np
import pytest

from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.grouped_query import GroupSum
from tacit.contract.network_query import BLOCK, NetworkGradient
from tacit.contract.sensitivity import Price
from tacit.engine.network_examples import parameter_vector
from tacit.errors import SettingError
from tacit.mechanisms.network_responder import NetworkResponder
from tacit.rows.storage.example_rows import ExampleRows
from tests.mechanisms.network_modules import batch, made

PRICE = BatchPrice(2**20, 22, Batches(Sampling.POISSON, 1, 2))


def responder(seed: int | None = None) -> NetworkResponder:
    inputs, labels = (it.numpy() for it in batch("linear", 40))
    return NetworkResponder(ExampleRows.admit(inputs, labels, np.ones(40, dtype=np.bool_)), seed=seed)


def query() -> NetworkGradient:
    network = made("linear")
    return NetworkGradient(parameter_vector(network.module), 1.0, network, 2 * BLOCK, BLOCK)


def test_other_queries_and_prices_are_refused() -> None:
    with responder() as held:
        with pytest.raises(SettingError, match="alone"):
            held.answer(GroupSum(0), PRICE)
        with pytest.raises(SettingError, match="alone"):
            held.answer(query(), Price(2**20, 22))


def test_nothing_is_answered_after_the_end() -> None:
    with responder() as held:
        assert held.answer(query(), PRICE).value.shape == (query().theta.size,)
    with pytest.raises(SettingError, match="over"):
        held.answer(query(), PRICE)


def test_a_seed_repeats_and_none_does_not() -> None:
    found = [responder(seed).answer(query(), PRICE).value for seed in (1, 1, 2, None, None)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    assert not np.array_equal(found[3], found[4])
