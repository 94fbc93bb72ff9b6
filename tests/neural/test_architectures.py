"""Architectures: sizes, and first weights that are the same every time."""

from dataclasses import replace

import pytest
import torch

from tacit.contract.network_query import Network
from tacit.errors import SettingError
from tacit.mechanisms.clipped_sum import norms
from tacit.mechanisms.example_gradients import example_parts
from tacit.mechanisms.network_rehearsal import formed
from tacit.neural.architectures import cnn, mlp
from tacit.neural.example_losses import cross_entropy


def test_the_network_of_the_notes_has_26010_parameters() -> None:
    assert sum(value.numel() for value in cnn().parameters()) == 26_010


@pytest.mark.parametrize(("channels", "pixels"), [(1, 28), (3, 32), (1, 14), (1, 17)])
def test_networks_fit_their_images(channels: int, pixels: int) -> None:
    assert cnn(channels, pixels, 7)(torch.zeros(2, channels, pixels, pixels)).shape == (2, 7)


def test_first_weights_do_not_depend_on_the_program() -> None:
    torch.manual_seed(1)
    one, before = mlp(4, 2, (8,)), torch.get_rng_state()
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(2)
    other = mlp(4, 2, (8,))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert not one(torch.ones(1, 4)).any()


def test_norms_of_the_network_of_the_notes_are_those_of_torch_func() -> None:
    generator = torch.Generator().manual_seed(5)
    images, labels = torch.randn(24, 1, 28, 28, generator=generator), torch.arange(24) % 10
    network = Network(cnn(), cross_entropy, "notes")
    found = norms(example_parts(network, images, labels), 26_010)
    plain = example_parts(replace(network, by_hand=False), images, labels)
    wanted = torch.cat([formed(part) for part in plain.values()], dim=1).double().norm(dim=1)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=0.0)


def test_images_that_are_too_small_are_refused() -> None:
    with pytest.raises(SettingError, match="14 pixels"):
        cnn(1, 13)
