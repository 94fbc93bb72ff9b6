"""Grouped rows through the engine: the plan alone, one run, one charge, public watching."""

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.contract.grouped_query import MappedGradient
from tacit.contract.query import Query
from tacit.engine.grouped_table import GroupedTable, MappedPredictor, mapped_margins
from tacit.errors import BudgetError, LedgerError, PlanViolation, SettingError
from tacit.estimators.images import ImageClassifier
from tacit.features.image_rows import FeatureMap, Rows, image_rows
from tacit.solvers.image_recipes import RECIPES, Group

RNG = np.random.default_rng(1)
RECIPE = replace(
    RECIPES["mnist"],
    pixels=12,
    features=FeatureMap(),
    groups=(Group(6, 0.1, 1.0, 0.1, 0.1),),
    iterations=5.0,
    classes=3,
)
COUNT = 60
MODEL = ImageClassifier(epsilon=2.0, recipe=RECIPE)


def rows_and_labels() -> tuple[tuple[Rows, ...], np.ndarray]:
    images = RNG.integers(0, 256, (COUNT, 12, 12)).astype(np.uint8)
    return image_rows(images, RECIPE.features), RNG.integers(0, 3, COUNT)


def test_a_run_releases_coefficients_and_the_map() -> None:
    groups, labels = rows_and_labels()
    plan, seen = MODEL.plan(COUNT), []

    def watch(done: int, query: Query) -> None:
        seen.append((done, type(query)))

    table = GroupedTable(groups, labels, 3)
    release = table.run(plan, seed=None, watch=watch)
    assert release.private
    assert release.channel_map is not None
    assert release.coefficients().shape == (plan.design.width, 3)
    assert [done for done, _ in seen] == list(range(plan.queries))
    assert seen[-1][1] is MappedGradient
    margins = mapped_margins(groups, release.channel_map, release.theta)
    np.testing.assert_allclose(MappedPredictor(groups, release.channel_map).margins(release.theta), margins)
    with pytest.raises(SettingError, match="used"):
        table.run(plan, seed=None)


def test_a_solver_cannot_ask_beyond_its_plan() -> None:
    groups, labels = rows_and_labels()
    plan = MODEL.plan(COUNT)
    short = replace(plan, steps=plan.steps[:-1])
    with pytest.raises(PlanViolation):
        GroupedTable(groups, labels, 3).run(short, seed=None)


def test_the_same_seed_gives_the_same_release_and_is_not_private() -> None:
    groups, labels = rows_and_labels()
    first, second = (GroupedTable(groups, labels, 3).run(MODEL.plan(COUNT), seed=3) for _ in range(2))
    assert not first.private
    assert np.array_equal(first.theta, second.theta)


def test_it_is_charged_to_a_ledger_and_refused_under_a_key() -> None:
    groups, labels = rows_and_labels()
    budget = tacit.Budget(epsilon=2.5, delta=1e-5)
    with tacit.Ledger(budget=budget) as ledger:
        GroupedTable(groups, labels, 3).run(MODEL.plan(COUNT), seed=None)
        assert len(ledger.charges()) == 1
        with pytest.raises(BudgetError):
            # What is left does not pay for a second one.
            GroupedTable(groups, labels, 3).run(MODEL.plan(COUNT), seed=None)
    with tacit.Ledger(budget=budget) as ledger, ledger.request("same"), pytest.raises(LedgerError, match="key"):
        GroupedTable(groups, labels, 3).run(MODEL.plan(COUNT), seed=None)
