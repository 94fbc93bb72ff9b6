"""Gradients of single examples: equal to torch.func's, and to the bit whatever the other examples are."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from tacit.mechanisms.example_gradients import Part, example_parts, is_by_hand, parameters_of
from tacit.mechanisms.network_rehearsal import formed
from tests.mechanisms.network_modules import BY_HAND, CASES, batch, made

CHUNK = 64


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def bits(parts: dict[str, Part], rows: list[int]) -> list[torch.Tensor]:
    tensors = [it for part in parts.values() for it in part if isinstance(it, torch.Tensor)]
    return [it[rows].contiguous().view(torch.int32) if it.dtype == torch.float32 else it[rows] for it in tensors]


@pytest.mark.parametrize("name", CASES)
def test_which_modules_are_derived_by_hand(name: str) -> None:
    # A layer that is used twice is found by the rehearsal.
    assert is_by_hand(CASES[name].module()) == (name in BY_HAND or name == "shared")


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_gradients_are_those_of_torch_func(name: str) -> None:
    network, given = made(name), batch(name, 12)
    derived, expected = example_parts(network, *given), example_parts(replace(network, by_hand=False), *given)
    assert set(derived) == set(expected) == set(parameters_of(network.module))
    for parameter, part in expected.items():
        torch.testing.assert_close(formed(derived[parameter]), formed(part), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_norms_are_those_of_torch_func(name: str) -> None:
    network, given = made(name), batch(name, 12)
    rows = [
        torch.cat([formed(part) for part in example_parts(it, *given).values()], dim=1).double().norm(dim=1)
        for it in (network, replace(network, by_hand=False))
    ]
    torch.testing.assert_close(rows[0], rows[1], rtol=1e-5, atol=0.0)


@pytest.mark.parametrize("name", CASES)
def test_blanking_one_example_leaves_all_others_equal_to_the_bit(name: str, threads: int) -> None:
    network, (inputs, labels) = made(name), batch(name, CHUNK)
    before = example_parts(network, inputs, labels)
    for place in (0, 7, CHUNK - 1):
        others = [row for row in range(CHUNK) if row != place]
        for blank in (0.0, 1e30, float("nan")) if not CASES[name].tokens else (0, 1):
            changed, other_labels = inputs.clone(), labels.clone()
            changed[place], other_labels[place] = blank, 0
            after = example_parts(network, changed, other_labels)
            for old, new in zip(bits(before, others), bits(after, others), strict=True):
                assert torch.equal(old, new)


def test_a_layer_that_mixes_examples_does_not_keep_their_bits() -> None:
    # The test above can fail: batch statistics move every gradient.
    network, (inputs, labels) = made("linear"), batch("linear", CHUNK)
    mixing = replace(network, module=torch.nn.Sequential(torch.nn.BatchNorm1d(6, affine=False), *network.module))
    before = example_parts(mixing, inputs, labels)
    inputs[0] = 0.0
    after = example_parts(mixing, inputs, labels)
    rows = list(range(1, CHUNK))
    assert not all(torch.equal(old, new) for old, new in zip(bits(before, rows), bits(after, rows), strict=True))
