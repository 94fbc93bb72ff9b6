"""Networks for images: shapes and pixels, and a training with its recipe."""

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import DataError, SettingError
from tacit.neural.image_networks import RECIPES, PublicNetworkScore, find_network, image_examples, image_trainer
from tacit.neural.wavelet_networks import WaveletNetwork

RNG = np.random.default_rng(2)
IMAGES, LABELS = RNG.integers(0, 256, (30, 28, 28)).astype(np.uint8), RNG.integers(0, 10, 30)


def test_pixels_lie_between_minus_one_and_one_each_image_on_its_own() -> None:
    found = image_examples("mnist", IMAGES, LABELS)
    assert found.inputs.shape == (30, 1, 28, 28)
    np.testing.assert_allclose(found.inputs[:, 0], IMAGES / 127.5 - 1, atol=1e-6)
    alone = image_examples("mnist", IMAGES[4:5], LABELS[4:5])
    assert np.array_equal(alone.inputs[0], found.inputs[4])
    floats = np.where(IMAGES > 200, np.nan, IMAGES / 255)
    assert np.isfinite(image_examples("mnist", floats, LABELS).inputs).all()
    colours = image_examples("cifar10", np.zeros((2, 32, 32, 3), np.uint8), np.zeros(2, int))
    assert colours.inputs.shape == (2, 3, 32, 32)


def test_colour_images_have_a_network_that_begins_at_wavelets_and_grey_ones_that_of_the_notes() -> None:
    assert isinstance(find_network("cifar10").module(), WaveletNetwork)
    for name in ("mnist", "fashion"):
        assert sum(value.numel() for value in find_network(name).module().parameters()) == 26_010


def test_wrong_shapes_labels_and_names_are_refused() -> None:
    with pytest.raises(DataError, match="shape"):
        image_examples("mnist", IMAGES[:, :27], LABELS)
    with pytest.raises(DataError, match="from 0 to 9"):
        image_examples("mnist", IMAGES, LABELS + 1)
    with pytest.raises(DataError, match="whole number"):
        image_examples("mnist", IMAGES, LABELS / 2)
    with pytest.raises(SettingError, match="recipe"):
        find_network("emnist")


def test_inside_a_ledger_a_label_that_is_none_is_not_told(tmp_path: Path) -> None:
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=9.0, delta=1e-4), law="rdp"):
        assert image_examples("mnist", IMAGES, LABELS - 1).valid.sum() == (LABELS > 0).sum()


def test_inside_a_ledger_lists_are_refused_by_their_type(tmp_path: Path) -> None:
    images = np.zeros((3, 28, 28), dtype=np.uint8)
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=3, delta=1e-5)):
        for labels in ([0, 1, 2], [0, 1, "two"]):
            with pytest.raises(DataError, match="numpy arrays"):
                image_examples("mnist", images, labels)


def test_a_training_states_its_recipe_and_is_scored_on_public_images() -> None:
    trainer = image_trainer("mnist", epsilon=2.93, delta=1e-5)
    planned = trainer.plan(60_000)
    assert planned.steps[0].times == round(40 * 60_000 / 2048)
    assert {"recipe", "constants", "classes"} <= {fact.name for fact in planned.facts}
    score = PublicNetworkScore(trainer, image_examples("mnist", IMAGES, LABELS))
    assert 0.0 <= score.of(trainer.module) <= 1.0
    assert set(RECIPES) == {"mnist", "fashion", "cifar10"}
