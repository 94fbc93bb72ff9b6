"""Gradient sums of a network: sensitivity, noise, sampling, and what happens to bad examples."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.network_query import BLOCK, NetworkGradient
from tacit.engine.network_examples import parameter_vector
from tacit.errors import SettingError
from tacit.mechanisms.clipped_sum import unit_of
from tacit.mechanisms.network_gradient import answer_network_gradient, drawn_places, integer_gradient, load_vector
from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.rows.storage.example_rows import ExampleRows, PaddedBatch
from tests.mechanisms.network_modules import BY_HAND, CASES, batch, made

SLOTS, CLIP, BOUND = 2 * BLOCK, 0.05, 2**34
ALL = Batches(Sampling.POISSON, 1, 1)


def query_of(name: str, slots: int = SLOTS, chunk: int = BLOCK) -> NetworkGradient:
    network = made(name)
    return NetworkGradient(parameter_vector(network.module), CLIP, network, slots, chunk)


def padded(name: str, count: int = SLOTS) -> PaddedBatch:
    inputs, labels = (it.numpy() for it in batch(name, count))
    return PaddedBatch(inputs, labels, np.ones(count, dtype=np.bool_))


def squared(vector: np.ndarray) -> int:
    return sum(int(value) ** 2 for value in vector)


@pytest.mark.parametrize("name", [*sorted(BY_HAND), "attention"])
def test_blanking_a_record_moves_the_integers_by_at_most_the_bound(name: str) -> None:
    query = query_of(name)
    unit = unit_of(BOUND, CLIP, query.theta.size)
    full = padded(name)
    whole = integer_gradient(query, unit, full)
    largest = 0.0
    for place in (0, 3, BLOCK, SLOTS - 1):
        inputs, labels, filled = (it.copy() for it in full)
        inputs[place], labels[place], filled[place] = 0, 0, False
        change = squared(whole - integer_gradient(query, unit, PaddedBatch(inputs, labels, filled)))
        assert change <= BOUND**2
        largest = max(largest, math.sqrt(change) / BOUND)
    # Gradients are clipped here, so the bound is nearly reached: the test can fail.
    assert largest > 0.99


def shifted(array: np.ndarray, shift: int) -> np.ndarray:
    """A copy whose memory begins `shift` bytes after a multiple of 64."""
    room = np.zeros(array.nbytes + 128, dtype=np.uint8)
    first = -room.ctypes.data % 64 + shift
    copy = room[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@pytest.mark.parametrize("name", ["layer norm", "linear without bias", "linear over positions", "shared"])
def test_sums_do_not_depend_on_where_a_batch_lies_in_memory(name: str) -> None:
    """One record more may move what numpy allocates next, and products of other memory are rounded otherwise."""
    query, full = query_of(name), padded(name)
    unit = unit_of(BOUND, CLIP, query.theta.size)
    sums = [integer_gradient(query, unit, PaddedBatch(shifted(full.inputs, by), *full[1:])) for by in (0, 4, 16, 48)]
    assert all(np.array_equal(sums[0], other) for other in sums[1:])


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_record_that_is_blanked_moves_an_answer_within_its_price(name: str) -> None:
    """The same seed, so the same batch, places and noise. Records are from 10^-42 to 10^38, clips of 24 sizes."""
    rng, near = np.random.default_rng(7), 0
    for attempt in range(24):
        count, clip, bound = 40, float(10.0 ** (attempt / 2 - 6)), 2 ** int(rng.integers(18, 37))
        network, (inputs, labels) = made(name), (it.numpy().copy() for it in batch(name, count, attempt))
        theta = parameter_vector(network.module) * 10.0 ** rng.uniform(-3, 6)
        if attempt % 2 and inputs.dtype == np.float32:
            sizes = 10.0 ** rng.uniform(-42, 38, (count, *[1] * (inputs.ndim - 1)))
            with np.errstate(over="ignore", under="ignore"):
                inputs = (inputs * sizes).astype(np.float32)
        query, record = NetworkGradient(theta, clip, network, SLOTS, SLOTS), int(rng.integers(count))
        valid, blanked = np.ones(count, dtype=np.bool_), np.arange(count) != record
        price = BatchPrice(bound, 30, ALL)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one, other = (
                answer_network_gradient(query, price, ExampleRows.admit(inputs, labels, it), SeededEntropy(attempt))
                for it in (valid, blanked)
            )
        moved = np.rint((one.value - other.value) * unit_of(bound, clip, theta.size))
        assert squared(moved) <= bound**2
        near += squared(moved) > (0.99 * bound) ** 2
    assert near >= 2


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e38])
def test_an_example_without_a_finite_gradient_contributes_nothing(poison: float) -> None:
    query = query_of("convolution")
    unit = unit_of(BOUND, CLIP, query.theta.size)
    inputs, labels, filled = padded("convolution")
    inputs[7, 0, 4, 4] = poison if not np.isfinite(poison) else inputs[7, 0, 4, 4]
    if np.isfinite(poison):
        inputs[7] = poison
    blank = filled.copy()
    blank[7] = False
    found = integer_gradient(query, unit, PaddedBatch(inputs, labels, filled))
    if not np.isfinite(poison):
        assert np.array_equal(found, integer_gradient(query, unit, PaddedBatch(inputs, labels, blank)))
    assert squared(found) <= (SLOTS * BOUND) ** 2


def test_the_sum_is_the_same_for_every_chunk_but_for_rounding() -> None:
    unit = unit_of(BOUND, CLIP, query_of("convolution").theta.size)
    sums = [
        integer_gradient(query_of("convolution", 4 * BLOCK, chunk), unit, padded("convolution", 4 * BLOCK)) / unit
        for chunk in (BLOCK, 2 * BLOCK, 4 * BLOCK)
    ]
    for other in sums[1:]:
        np.testing.assert_allclose(other, sums[0], rtol=1e-4, atol=1e-5)


def rows_of(name: str, count: int = 40) -> ExampleRows:
    inputs, labels = (it.numpy() for it in batch(name, count))
    return ExampleRows.admit(inputs, labels, np.ones(count, dtype=np.bool_))


def test_answers_have_the_noise_of_the_price() -> None:
    """Standard deviation over 51 × 60 coordinates: within 8 of its own deviations (false alarms below 1e-14)."""
    price = BatchPrice(2**20, 24, ALL)
    query, rows = query_of("layer norm"), rows_of("layer norm")
    answers = [answer_network_gradient(query, price, rows, SystemEntropy()) for _ in range(60)]
    scale = answers[0].noise_scale
    assert scale == pytest.approx(2.0**24 / unit_of(2**20, CLIP, query.theta.size))
    spread = np.array([answer.value for answer in answers])
    spread -= spread.mean(axis=0)
    found = math.sqrt((spread**2).sum() / (59 * query.theta.size)) / scale
    assert abs(found - 1) < 8 / math.sqrt(2 * 59 * query.theta.size)


def test_two_answers_share_neither_noise_nor_batch() -> None:
    price = BatchPrice(2**20, 24, Batches(Sampling.POISSON, 1, 2))
    query, rows = query_of("linear"), rows_of("linear")
    one, other = (answer_network_gradient(query, price, rows, SystemEntropy()).value for _ in range(2))
    assert (one != other).mean() > 0.99


def test_an_empty_batch_is_answered() -> None:
    price = BatchPrice(2**20, 24, Batches(Sampling.POISSON, 1, 2**32))
    answer = answer_network_gradient(query_of("linear"), price, rows_of("linear"), SystemEntropy())
    assert np.isfinite(answer.value).all()


def test_batches_are_poisson_up_to_their_cap() -> None:
    """A record is drawn as often as the others: 20,000 draws, 12 records; a bound of 6 deviations a record (1e-8)."""
    draws, entropy, batches = 20_000, SeededEntropy(3), Batches(Sampling.POISSON, 1, 2)
    count, sizes = np.zeros(12), []
    for _ in range(draws):
        members, places = drawn_places(batches, 12, 7, entropy)
        count[members] += 1
        sizes.append(len(members))
        assert len(set(places.tolist())) == len(members) <= 7
    # Given that at most 7 of 12 are drawn, a record is in with the share of all subsets of such sizes that hold it.
    with_it = sum(math.comb(11, size - 1) for size in range(1, 8))
    rate = with_it / sum(math.comb(12, size) for size in range(8))
    assert rate < 0.5
    assert np.abs(count / draws - rate).max() < 6 * math.sqrt(rate * (1 - rate) / draws)
    assert max(sizes) == 7


def test_too_few_slots_are_refused() -> None:
    with pytest.raises(SettingError, match="slots"):
        drawn_places(ALL, 40, 32, SystemEntropy())
    with pytest.raises(SettingError, match="Poisson"):
        drawn_places(Batches(Sampling.WITHOUT_REPLACEMENT, 4, 40), 40, 64, SystemEntropy())


def test_parameters_come_and_go_as_one_vector() -> None:
    module = made("convolution").module
    theta = np.linspace(-1, 1, parameter_vector(module).size)
    load_vector(module, theta)
    np.testing.assert_array_equal(parameter_vector(module), theta.astype(np.float32))
    with pytest.raises(SettingError, match="one entry"):
        load_vector(module, theta[1:])


def test_a_clip_that_is_too_large_is_found() -> None:
    # The test of the bound above fails if the clip is 1 per cent larger than the unit was made for.
    query, full = query_of("convolution"), padded("convolution")
    unit = unit_of(BOUND, CLIP, query.theta.size)
    broken = replace(query, clip=query.clip * 1.01)
    whole = integer_gradient(broken, unit, full)
    changes = []
    for place in range(4):
        filled = full.filled.copy()
        filled[place] = False
        changes.append(squared(whole - integer_gradient(broken, unit, full._replace(filled=filled))))
    assert max(changes) > BOUND**2
