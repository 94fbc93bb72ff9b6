"""The classifier of images: a fit with its certificate, and refusals that spend nothing."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit.contract.grouped_query import MappedGradient
from tacit.errors import BudgetError, DataError, SettingError
from tacit.estimators.images import ImageClassifier, PreparedImages, PublicScore
from tacit.features.image_rows import FeatureMap
from tacit.solvers.image_recipes import RECIPES, Group

RNG = np.random.default_rng(6)
SIDE, CLASSES = 12, 3
RECIPE = replace(
    RECIPES["mnist"],
    pixels=SIDE,
    features=FeatureMap(coarse=True, flips=True),
    groups=(Group(8, 0.1, 1.0, 0.02, 0.05), Group(6, 0.1, 0.5, 0.02, 0.05)),
    classes=CLASSES,
    iterations=15.0,
)


def stripes(count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Stripes across, stripes down, and noise."""
    labels = RNG.integers(0, CLASSES, count)
    wave = 127 + 120 * np.sin(2 * np.arange(SIDE) + 6 * RNG.random((count, 1)))
    images = np.where((labels == 0)[:, None, None], wave[:, :, None], wave[:, None, :])
    noise = RNG.integers(0, 256, images.shape)
    images = np.where((labels == 2)[:, None, None], noise, images)
    return images.astype(np.uint8), labels


def test_a_fit_predicts_and_its_certificate_holds() -> None:
    images, labels = stripes(3000)
    model = ImageClassifier(epsilon=3.0, delta=1e-5, recipe=RECIPE).fit(images, labels)
    fresh, truth = stripes(300)
    assert model.score(fresh, truth) > 0.9
    certificate = model.certificate_
    checked = certificate.check()
    assert "ε = 3" in checked.statement
    assert certificate.private
    public = {fact["name"]: fact["value"] for fact in certificate.parsed["public"]}
    assert "public data" in public["constants"]
    queries = [entry["query"] for entry in certificate.parsed["events"]]
    assert queries == ["gradient", "second-moments"] * 2 + ["gradient"]
    assert certificate.covers == ("maps", "recipe", "theta")


def test_prepared_images_and_watching_give_what_images_give() -> None:
    images, labels = stripes(500)
    model = ImageClassifier(epsilon=3.0, recipe=RECIPE, random_state=1)
    prepared, seen = model.prepare(images), []
    score = PublicScore(prepared, labels)

    def watch(done: int, theta: NDArray[np.float64], query: MappedGradient) -> None:
        seen.append((done, score(theta, query)))

    first = model.fit(prepared, labels, watch=watch).release_.theta
    assert [done for done, _ in seen] == list(range(model.plan_.steps[-1].times))
    assert all(0.0 <= accuracy <= 1.0 for _, accuracy in seen)
    assert np.array_equal(model.fit(images, labels).release_.theta, first)
    assert not model.certificate_.private
    with pytest.raises(SettingError, match="another recipe"):
        model.prepare(PreparedImages(prepared.rows, FeatureMap(), prepared.shape))


@pytest.mark.parametrize(
    ("images", "labels", "says"),
    [
        (np.zeros((4, SIDE, SIDE + 1)), [0, 1, 2, 0], "shape"),
        (np.zeros((4, 28, 28)), [0, 1, 2, 0], "for images of shape"),
        (np.zeros((4, SIDE, SIDE, 3)), [0, 1, 2, 0], "for images of shape"),
        (np.full((4, SIDE, SIDE), 255.0), [0, 1, 2, 0], r"\[0, 1\]"),
        (np.zeros((4, SIDE, SIDE)), [0, 1, 2, 3], "from 0 to 2"),
        (np.zeros((4, SIDE, SIDE)), [0, 1, 2, -1], "from 0 to 2"),
        (np.zeros((4, SIDE, SIDE)), [0, 1, 2], "for each of 4"),
        (np.zeros((4, SIDE, SIDE)), ["a", "b", "c", "a"], "whole number"),
        (np.zeros((4, SIDE, SIDE)), [0.0, 1.0, 2.0, 0.0], "whole number"),
        (np.zeros((0, SIDE, SIDE)), [], "whole number"),
    ],
)
def test_wrong_images_and_labels_are_refused_and_nothing_is_spent(
    images: NDArray[np.float64], labels: list[int], says: str
) -> None:
    with tacit.Ledger(budget=tacit.Budget(epsilon=3.0, delta=1e-5)) as ledger:
        with pytest.raises(DataError, match=says):
            ImageClassifier(epsilon=1.0, recipe=RECIPE).fit(images, np.array(labels))
        assert ledger.charges() == ()


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"epsilon": 1.0, "recipe": "imagenet"}, SettingError),
        ({"epsilon": 1.0, "delta": 0.0}, SettingError),
        ({"epsilon": float("inf")}, SettingError),
        ({"epsilon": -1.0}, BudgetError),
        ({}, BudgetError),
        ({"epsilon": 1.0, "relation": "add-remove"}, SettingError),
        ({"epsilon": 1.0, "budget": tacit.Budget(mu=1.0)}, SettingError),
    ],
)
def test_wrong_settings_are_refused_before_an_image_is_read(settings: dict[str, object], error: type) -> None:
    with pytest.raises(error):
        ImageClassifier(**settings).plan(1000)  # type: ignore[arg-type]
