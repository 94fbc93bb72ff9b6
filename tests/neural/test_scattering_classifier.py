"""A network on scattering features: one plan, a certificate, refusals, and inputs that know one image alone."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.audit.image_fits import small_recipe
from tacit.contract.channel_map import ChannelMap
from tacit.contract.query import QueryKind
from tacit.engine.grouped_table import mapped_inputs
from tacit.errors import BudgetError, DataError, SettingError, TacitError
from tacit.features.image_rows import FeatureMap
from tacit.neural import ScatteringClassifier
from tacit.neural.scattering_classifier import PublicScatteringScore
from tacit.neural.scattering_networks import ScatteringRecipe
from tacit.solvers.network_descent import NetworkState

RNG = np.random.default_rng(4)
SIDE, COUNT = 12, 120
LABELS = RNG.integers(0, 3, COUNT)
STRIPES = np.stack([np.zeros((SIDE, SIDE)), np.tile(np.arange(SIDE) % 4 < 2, (SIDE, 1)), np.eye(SIDE)])
IMAGES = np.clip(255 * STRIPES[LABELS] + RNG.normal(0, 20, (COUNT, SIDE, SIDE)), 0, 255).astype(np.uint8)
RECIPE = ScatteringRecipe(replace(small_recipe(), groups=tuple(replace(g, clip=0.2) for g in small_recipe().groups)))


def model(epsilon: float = 50.0, **settings: object) -> ScatteringClassifier:
    return ScatteringClassifier(epsilon=epsilon, delta=1e-5, recipe=RECIPE, **settings)  # type: ignore[arg-type]


def test_a_fit_learns_and_its_certificate_adds_up() -> None:
    fitted = model().fit(IMAGES, LABELS)
    assert fitted.score(IMAGES, LABELS) > 0.9
    certificate = fitted.certificate_
    assert certificate.check().consistent
    assert certificate.private
    assert certificate.parsed["total"]["epsilon"] <= 50.0 * (1 + 1e-9)
    kinds = [entry["query"] for entry in certificate.parsed["events"]]
    assert kinds == ["gradient", "second-moments", "network-gradient"]
    assert [entry["arithmetic"] for entry in certificate.parsed["events"]] == ["exact", "exact", "bounded-float"]


def test_the_whitening_is_paid_for_in_the_same_plan() -> None:
    plan = model(3.0).plan(50_000)
    assert [step.kind for step in plan.steps] == [
        QueryKind.GRADIENT,
        QueryKind.SECOND_MOMENTS,
        QueryKind.NETWORK_GRADIENT,
    ]
    assert 0.99 * 3.0 < plan.guarantee().epsilon <= 3.0
    # The steps alone cost less than the whole.
    assert replace(plan, steps=plan.steps[-1:]).guarantee().epsilon < 0.99 * 3.0


def test_the_recipe_of_cifar10_has_the_features_of_the_linear_model() -> None:
    plan = ScatteringClassifier(epsilon=3.0, delta=1e-5, recipe="cifar10").plan(50_000)
    linear = tacit.ImageClassifier(epsilon=3.0, delta=1e-5, recipe="cifar10").plan(50_000)
    assert [step.price for step in plan.steps[:-1]] == [step.price for step in linear.steps[:-1]]
    assert plan.guarantee().epsilon <= 3.0


def test_an_input_is_a_function_of_one_image_and_the_released_map_to_the_bit() -> None:
    fitted = model().fit(IMAGES, LABELS)
    found = fitted.release_.channel_map
    assert isinstance(found, ChannelMap)
    together = mapped_inputs(fitted.prepare(IMAGES).rows, found)
    for place in (0, 17, COUNT - 1):
        alone = mapped_inputs(fitted.prepare(IMAGES[place : place + 1]).rows, found)
        assert np.array_equal(alone[0], together[place])
    assert (np.square(together.astype(np.float64)).sum(axis=1) <= 1.0).all()


def test_seeds_repeat_and_prepared_images_give_the_same_fit() -> None:
    one = model(random_state=3).fit(IMAGES, LABELS)
    two = model(random_state=3)
    two.fit(two.prepare(IMAGES), LABELS)
    assert np.array_equal(one.release_.theta, two.release_.theta)
    assert not one.certificate_.private
    other = model().fit(IMAGES, LABELS)
    assert not np.array_equal(one.release_.theta, other.release_.theta)
    assert np.array_equal(pickle.loads(pickle.dumps(one)).predict(IMAGES), one.predict(IMAGES))


def test_watchers_see_released_states_and_score_public_images() -> None:
    fitted, seen = model(), []
    score = PublicScatteringScore(fitted, fitted.prepare(IMAGES[:40]), LABELS[:40])

    def watch(state: NetworkState, channel_map: ChannelMap) -> None:
        seen.append((state.done, score(state, channel_map)))

    fitted.fit(IMAGES, LABELS, watch=watch)
    assert [done for done, _ in seen] == list(range(1, fitted.plan_.steps[-1].times + 1))
    assert seen[-1][1] > 0.9


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_other_relations_are_refused_by_name(relation: str) -> None:
    with pytest.raises(TacitError, match=relation):
        model(relation=relation).fit(IMAGES, LABELS)


def test_wrong_settings_images_and_labels_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="recipe"):
        ScatteringClassifier(epsilon=1.0, recipe="emnist").plan(100)
    with pytest.raises(DataError, match="shape"):
        model().fit(IMAGES[:, :11, :11], LABELS)
    with pytest.raises(DataError, match="from 0 to 2"):
        model().fit(IMAGES, LABELS + 1)
    for budget in (tacit.Budget(epsilon=1.0, delta=0.0), tacit.Budget(mu=1.0, delta=1e-5)):
        with pytest.raises((SettingError, BudgetError), match="epsilon"):
            ScatteringClassifier(budget=budget, recipe=RECIPE).plan(100)
    with pytest.raises(BudgetError, match="not both"):
        ScatteringClassifier(budget=tacit.Budget(epsilon=1.0, delta=1e-5), epsilon=1.0, recipe=RECIPE).plan(100)


def test_a_ledger_is_charged_and_refuses_no_image_by_its_content(tmp_path: Path) -> None:
    wrong = (IMAGES / 255.0).astype(np.float32)
    wrong[3] = np.nan
    labels = LABELS.copy()
    labels[5] = 77
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=60.0, delta=1e-4), law="rdp") as ledger:
        fitted = model().fit(wrong, labels)
        guarantee = ledger.guarantee()
        assert guarantee is not None
        assert guarantee.epsilon > 1.0
    assert fitted.certificate_.check().consistent


def test_recipes_with_methods_of_their_own_are_refused_before_rows_reach_them() -> None:
    class Capturing(ScatteringRecipe):
        """Its module would see the private rows."""

    class OtherFeatures(FeatureMap):
        """So would these features."""

    images = small_recipe()
    for recipe in (Capturing(images), ScatteringRecipe(replace(images, features=OtherFeatures()))):
        with pytest.raises(SettingError, match="recipe must be"):
            ScatteringClassifier(epsilon=1.0, recipe=recipe).plan(100)
