"""Descent on whitened channels: its plan is what it asks, its price is the budget, its whitening whitens."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.grouped_query import ChannelMoments, GroupSum, MappedGradient
from tacit.contract.plan import Penalty
from tacit.contract.purpose import Purpose
from tacit.contract.query import KIND_OF, Answer, Query
from tacit.errors import BudgetError, SettingError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.channel_descent import image_design, plan, rotation
from tacit.solvers.image_recipes import RECIPES
from tacit.solvers.solver import PublicFacts
from tacit.solvers.spectrum import whitening

RECIPE = RECIPES["mnist"]


def facts(epsilon: float = 2.93, relation: Relation = Relation.ZERO_OUT, records: int = 60_000) -> PublicFacts:
    budget = Budget(epsilon=epsilon, delta=1e-5)
    return PublicFacts(image_design(RECIPE), records, relation, "image", budget, Penalty(), classification.SOFTMAX)


class Recorded:
    """A gate that answers a quadratic's gradient and plain moments."""

    def __init__(self) -> None:
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        shapes = RECIPE.features.shapes(28, 1)
        if isinstance(query, GroupSum):
            return Answer(np.zeros(shapes[query.group]), 0.0)
        if isinstance(query, ChannelMoments):
            return Answer(60_000 * np.eye(len(query.mean)), 0.0)
        assert isinstance(query, MappedGradient)
        return Answer((query.theta - 1.0) * 60_000 * RECIPE.clip / 1000, 0.0)


@pytest.mark.parametrize("relation", [Relation.ZERO_OUT, Relation.REPLACE_ONE])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.93, 7.53])
def test_the_plan_costs_the_budget_and_not_more(epsilon: float, relation: Relation) -> None:
    given = facts(epsilon, relation)
    allowed = mu_squared_of(given.budget)
    spent = compose(plan(given, RECIPE, allowed).events(), relation).square
    assert spent is not None
    assert Fraction(999, 1000) * allowed < spent <= allowed


def test_it_asks_what_it_planned_and_averages_the_tail() -> None:
    given = facts()
    planned = plan(given, RECIPE, mu_squared_of(given.budget))
    gate = Recorded()
    found = planned.solver.run(gate, planned)
    kinds = [step.kind for step in planned.steps for _ in range(step.times)]
    assert [KIND_OF[type(query)] for query in gate.asked] == kinds
    assert planned.steps[-1].purpose is Purpose.DESCENT
    assert found.channel_map is not None
    assert found.theta.shape == (planned.design.width, 10) == (found.channel_map.width, 10)
    last = gate.asked[-1]
    assert isinstance(last, MappedGradient)
    assert last.channel_map is found.channel_map
    # A quadratic with minimum 1: the tail is near it.
    assert np.abs(found.theta - 1.0).max() < 0.5


def test_the_certificate_is_told_where_constants_come_from() -> None:
    given = facts()
    named = {fact.name: fact.value for fact in plan(given, RECIPE, mu_squared_of(given.budget)).facts}
    assert named["recipe"] == "mnist"
    assert "public data" in named["constants"]


def test_whitening_gives_the_kept_directions_equal_size() -> None:
    rng = np.random.default_rng(0)
    root = np.zeros((7, 7))
    root[:4, :4], root[4:, 4:] = rng.normal(size=(4, 4)), rng.normal(size=(3, 3))
    moments = root @ root.T
    found = whitening(moments, (0, 4, 7), 7, 0.0)
    np.testing.assert_allclose(found @ moments @ found.T, np.eye(7), atol=1e-6)
    assert whitening(moments, (0, 4, 7), 3, 1.5).shape == (3, 7)
    assert np.isfinite(whitening(np.zeros((7, 7)), (0, 7), 5, 1.5)).all()


def test_bad_settings_are_refused() -> None:
    allowed = mu_squared_of(facts().budget)
    with pytest.raises(SettingError, match="public number"):
        plan(facts(relation=Relation.ADD_REMOVE), RECIPE, allowed)
    wide = replace(RECIPE, groups=(replace(RECIPE.groups[0], kept=82), RECIPE.groups[1]))
    with pytest.raises(SettingError, match="cannot keep"):
        plan(facts(), wide, allowed)
    with pytest.raises(BudgetError, match="noise alone"):
        plan(facts(), RECIPE, Fraction(1, 10**24))
    assert math.isclose(float(allowed), 0.49, rel_tol=0.1)


def test_the_rotation_is_orthogonal_and_mixes_all_channels() -> None:
    found = rotation(20)
    np.testing.assert_allclose(found @ found.T, np.eye(20), atol=1e-12)
    assert np.abs(found).max() < 0.4


def test_a_turned_recipe_has_absolute_values_of_two_bases() -> None:
    plain, turned = RECIPES["cifar10"], replace(RECIPES["cifar10"], turned=False)
    assert 2 * (image_design(plain).width - 1) == 3 * (image_design(turned).width - 1)
