"""Activations by name."""

import pytest
import torch

from tacit.errors import SettingError
from tacit.neural.activations import ACTIVATIONS, TemperedSigmoid, activation

POINTS = torch.linspace(-4, 4, 41)


def test_a_tempered_sigmoid_with_two_two_one_is_tanh() -> None:
    torch.testing.assert_close(TemperedSigmoid(2.0, 2.0, 1.0)(POINTS), torch.tanh(POINTS))


def test_all_names_give_a_rising_function() -> None:
    for name in ACTIVATIONS:
        values = activation(name)(POINTS)
        assert bool((values.diff() >= 0).all())
    assert activation("leaky-relu")(torch.tensor(-1.0)) == pytest.approx(-0.05)


def test_other_names_and_sizes_are_refused() -> None:
    with pytest.raises(SettingError, match="activation"):
        activation("swish")
    with pytest.raises(SettingError, match="scale"):
        TemperedSigmoid(scale=0.0)
    assert "temperature=3" in repr(TemperedSigmoid(1.0, 3.0))
