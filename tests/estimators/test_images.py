"""The classifier of images: a fit with its certificate, and refusals that spend nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import tacit
from tacit.contract.grouped_query import MappedGradient
from tacit.errors import BudgetError, DataError, LedgerError, SettingError
from tacit.estimators.images import ImageClassifier, PreparedImages, PublicScore
from tacit.features.image_rows import FeatureMap
from tacit.solvers.image_recipes import RECIPES, Group
from tests.rows.poison import CELLS

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
        (np.zeros(()), 0, "shape"),
    ],
)
def test_wrong_images_and_labels_are_refused_outside_a_ledger(
    images: NDArray[np.float64], labels: list[int], says: str
) -> None:
    with pytest.raises(DataError, match=says):
        ImageClassifier(epsilon=1.0, recipe=RECIPE).fit(images, np.array(labels))


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"epsilon": 1.0, "recipe": "imagenet"}, SettingError),
        ({"epsilon": 1.0, "delta": 0.0}, SettingError),
        ({"epsilon": float("inf")}, SettingError),
        ({"epsilon": -1.0}, BudgetError),
        ({}, BudgetError),
        ({"epsilon": 1.0, "relation": "add-remove"}, SettingError),
        ({"epsilon": 1.0, "budget": tacit.Budget(mu=1.0)}, BudgetError),
        ({"budget": 1.0}, BudgetError),
        ({"epsilon": 1.0, "threads": 0}, SettingError),
        ({"epsilon": 1.0, "random_state": "a"}, SettingError),
    ],
)
def test_wrong_settings_are_refused_before_an_image_is_read(settings: dict[str, object], error: type) -> None:
    with pytest.raises(error):
        ImageClassifier(**settings).plan(1000)  # type: ignore[arg-type]
    unreadable = np.full((4, 28, 28), np.nan)
    with pytest.raises(error):
        ImageClassifier(**settings).fit(unreadable, np.zeros(4, dtype=int))  # type: ignore[arg-type]


def test_a_ledger_that_cannot_price_the_plan_refuses_before_an_image_is_read() -> None:
    class Unread(np.ndarray):
        def __array_function__(self, *_: object) -> object:
            raise AssertionError("read")

    images = np.zeros((4, SIDE, SIDE)).view(Unread)
    model = ImageClassifier(epsilon=1.0, recipe=RECIPE)
    with (
        tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=0), law="pure") as ledger,
        pytest.raises(LedgerError, match='law="rdp"'),
    ):
        model.fit(images, np.zeros(4, dtype=int))
    assert not ledger.charges()


def in_a_ledger(images: Any, labels: Any) -> tuple[Any, ...]:
    """All that somebody without the images sees of a fit, but for its noisy numbers."""
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-4)) as ledger:
        model = ImageClassifier(epsilon=1.0, delta=1e-5, recipe=RECIPE).fit(images, labels)
    facts = model.certificate_.parsed["public"]
    return [charge.events for charge in ledger.charges()], facts, model.certificate_.parsed["total"]


def test_t37_inside_a_ledger_no_image_and_no_label_is_refused_for_its_content() -> None:
    """The attack: whether one image lies in [0, 1], or one label among the classes, was told free of charge."""
    images, labels = RNG.random((40, SIDE, SIDE)), [int(label) for label in RNG.integers(0, CLASSES, 40)]
    wanted = in_a_ledger(images, labels)
    assert "every record is valid" not in [fact["name"] for fact in wanted[1]]
    for pixel in (np.nan, np.inf, -np.inf, 1.5, -1e-9, 1e300):
        spoilt = images.copy()
        spoilt[7, 3, 3] = pixel
        assert in_a_ledger(spoilt, labels) == wanted
        assert np.array_equal(spoilt[7, 3, 3], pixel, equal_nan=True)
    for label in (CLASSES, -1, 10**400, np.nan, np.inf, 0.5, None, "x", pd.NA, (), object()):
        assert in_a_ledger(images, [*labels[:7], label, *labels[8:]]) == wanted


@pytest.mark.parametrize("make", [list, pd.Series, np.array])
def test_t37_a_label_that_is_none_leaves_the_others_alone(make: Any) -> None:
    labels = [1, 2, None, 1, 2, np.nan, 0]
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-4)):
        model = ImageClassifier(epsilon=1.0, recipe=RECIPE)
        found = model.require(np.zeros((7, SIDE, SIDE)), make(labels))
        assert found.tolist() == [1, 2, 0, 1, 2, 0, 0]
        prepared = model.prepare(np.stack([np.full((SIDE, SIDE), 0.5), np.full((SIDE, SIDE), 2.0)]))
    black = ImageClassifier(recipe=RECIPE).prepare(np.stack([np.full((SIDE, SIDE), 0.5), np.zeros((SIDE, SIDE))]))
    assert all(np.array_equal(a, b) for a, b in zip(prepared.rows, black.rows, strict=True))


@pytest.mark.parametrize("name", CELLS)
def test_no_label_raises_inside_a_ledger(name: str) -> None:
    """Regression: labels of a class of their own were asked for their class, which may raise anything."""
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-4)):
        model = ImageClassifier(epsilon=1.0, recipe=RECIPE)
        found = model.require(np.zeros((3, SIDE, SIDE)), [1, CELLS[name], 2])
    assert found[[0, 2]].tolist() == [1, 2]
    assert 0 <= found[1] < CLASSES


def test_inside_a_ledger_shapes_and_types_alone_are_refused() -> None:
    model = ImageClassifier(epsilon=1.0, recipe=RECIPE)
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-4)) as ledger:
        for images, labels, says in (
            ([np.zeros((SIDE, SIDE))] * 2, [0, 1], "one numpy array"),
            (np.zeros((2, SIDE, SIDE), dtype=int), [0, 1], "bytes"),
            (np.zeros((2, SIDE, SIDE)), np.zeros((2, 1), dtype=int), "one dimension"),
            (np.zeros((2, SIDE, SIDE)), np.array(["0", "1"]), "one dimension"),
            (np.zeros((2, SIDE, SIDE)), [0], "for each of 2 images"),
        ):
            with pytest.raises(DataError, match=says):
                model.fit(images, labels)
        assert ledger.charges() == ()
