"""The network on scattering features: it begins as the linear model, and examples keep to themselves."""

import numpy as np
import pytest
import torch

from tacit.audit.image_fits import small_recipe
from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.contract.network_query import Network
from tacit.engine.network_examples import rehearse
from tacit.errors import SettingError
from tacit.mechanisms.example_gradients import is_by_hand
from tacit.neural.example_losses import cross_entropy
from tacit.neural.foreign_code import is_foreign
from tacit.neural.scattering_networks import RECIPES, ScatteringNetwork, ScatteringRecipe, find_scattering
from tacit.rows.storage.grouped_rows import ROW_NORM, map_rows
from tacit.solvers.channel_descent import rotation

RNG = np.random.default_rng(6)
SHAPES, WEIGHTS, CONSTANT = ((6, 4), (5, 2)), (1.0, 0.6), 0.1


def module() -> ScatteringNetwork:
    return ScatteringNetwork(SHAPES, WEIGHTS, CONSTANT, 3, scale=0.05)


def test_first_features_are_those_of_the_linear_model() -> None:
    """The last layer sees what `ChannelMap` makes with absolute values and a rotation, up to the order of entries."""
    groups = tuple(RNG.integers(-3000, 3000, (8, *shape)).astype(np.int16) for shape in SHAPES)
    maps = [(np.zeros(shape), np.eye(shape[0]), weight) for shape, weight in zip(SHAPES, WEIGHTS, strict=True)]
    plain = ChannelMap(tuple(GroupMap(*it, len(it[1])) for it in maps), absolute=False, constant=CONSTANT)
    turned = [(mean, np.concatenate([eye, rotation(len(eye))]), weight, len(eye)) for mean, eye, weight in maps]
    linear = ChannelMap(tuple(GroupMap(*it) for it in turned), absolute=True, constant=CONSTANT)
    expected, seen = map_rows(groups, linear) / ROW_NORM, []
    network = module()
    network.last.register_forward_hook(lambda layer, given, output: seen.append(given[0].detach().numpy()))
    network(torch.from_numpy(map_rows(groups, plain) / np.float32(ROW_NORM)))
    np.testing.assert_allclose(np.sort(seen[0], axis=1), np.sort(expected, axis=1), atol=2e-3)


def test_it_begins_without_opinion_and_is_derived_by_hand() -> None:
    network = module()
    rows = torch.from_numpy(RNG.normal(size=(3, 35)).astype(np.float32))
    assert not network(rows).any()
    assert is_by_hand(network)
    assert not is_foreign(network)
    with torch.no_grad():
        network.last.weight.normal_()
    held = rehearse(Network(network, cross_entropy, "small"), (35, torch.float32), (torch.int64,), 32)
    assert held.by_hand


def test_a_black_image_has_finite_outputs_and_gradients() -> None:
    network = module()
    with torch.no_grad():
        network.last.weight.normal_()
    loss = cross_entropy(network(torch.zeros(2, 35)), torch.zeros(2, dtype=torch.int64)).sum()
    assert torch.isfinite(loss)


def test_recipes() -> None:
    recipe = find_scattering("cifar10")
    assert recipe is RECIPES["cifar10"]
    assert [turn.weight.shape for turn in recipe.module().turns] == [(200, 100), (240, 120)]
    assert recipe.module().last.weight.shape == (10, 3 * (100 * 32 + 120 * 8) + 1)
    training = recipe.training(50_000, 0.7191)
    assert training.batch_size == round(recipe.rate * 50_000)
    assert training.steps == round(recipe.iterations * 0.7191**0.5)
    small = ScatteringRecipe(small_recipe(), fewest=7, iterations=0.0)
    assert find_scattering(small) is small
    assert small.training(10, 1.0).steps == 7
    with pytest.raises(SettingError, match="recipe must be one of"):
        find_scattering("mnist")
