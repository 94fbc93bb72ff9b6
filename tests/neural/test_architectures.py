"""Architectures: sizes, and first weights that are the same every time."""

import pytest
import torch

from tacit.errors import SettingError
from tacit.neural.architectures import cnn, mlp


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


def test_images_that_are_too_small_are_refused() -> None:
    with pytest.raises(SettingError, match="14 pixels"):
        cnn(1, 13)
