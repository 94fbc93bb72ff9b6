"""The attack on fits to images: by the log-likelihood ratio of every noised answer.

A striped image of one class is among black images of another. In the other world its contribution vanishes. Images
are simulated, never a user's. Single queries are attacked in `grouped_answers`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from tacit.accounting.composition import compose
from tacit.audit.answer_laws import gaussian_log_ratio
from tacit.audit.attack import Worlds
from tacit.audit.bounds import Floats
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, Query
from tacit.contract.sensitivity import Price
from tacit.engine.gate import PlannedGate
from tacit.estimators.images import ImageClassifier
from tacit.features.image_rows import FeatureMap, image_rows
from tacit.mechanisms.grouped_responder import GroupedResponder
from tacit.privacy.budget import Budget
from tacit.rows.storage.grouped_rows import GroupedRows
from tacit.solvers.image_recipes import RECIPES, Group, ImageRecipe

SIDE, RECORDS, KEPT, CLIP, CLASSES = 12, 6, 3, 0.02, 3
_STRIPES = np.broadcast_to((np.arange(SIDE) % 4 < 2) * np.uint8(255), (SIDE, SIDE))


def small_recipe() -> ImageRecipe:
    """A recipe for small images of three classes, with few steps."""
    groups = (Group(KEPT, CLIP, 1.0, 0.1, 0.1),)
    return replace(
        RECIPES["mnist"], pixels=SIDE, features=FeatureMap(), groups=groups, classes=CLASSES, iterations=20.0
    )


@cache
def tables() -> tuple[GroupedRows, GroupedRows]:
    """Rows of the two neighbouring tables: without the striped image, and with it."""
    images = np.zeros((RECORDS, SIDE, SIDE), dtype=np.uint8)
    images[0] = _STRIPES
    (rows,) = image_rows(images, FeatureMap())
    labels = np.array([1] + [0] * (RECORDS - 1))
    without = GroupedRows.admit((np.ascontiguousarray(rows[1:]),), labels[1:], CLASSES)
    return without, GroupedRows.admit((rows,), labels, CLASSES)


@dataclass
class TwinImages:
    """A gate to one of two tables, which adds up log P₁ / P₀ of its noised answers."""

    noised: Any
    exact: tuple[GroupedResponder, GroupedResponder]
    log_ratio: float = 0.0

    def ask(self, query: Query) -> Answer:
        """Answer on one table, and compare with both."""
        answer: Answer = self.noised.ask(query)
        # Any price has room for the lattice of the rows; without noise it does not change the sums.
        first, second = (table.answer(query, Price(2**40, 0)).value for table in self.exact)
        self.log_ratio += gaussian_log_ratio(first, second, answer)
        return answer


def _twins(plan: Plan, world: int, seed: int | None) -> TwinImages:
    both = tables()
    noised = GroupedResponder(both[world], private=True, seed=seed)
    exact = GroupedResponder(both[0], private=False, seed=None), GroupedResponder(both[1], private=False, seed=None)
    return TwinImages(PlannedGate(plan, noised), exact)


def image_fit(mu: float, seed: int | None) -> Worlds:
    """Every answer of a fit."""
    model = ImageClassifier(budget=Budget(mu=mu, delta=1e-5), recipe=small_recipe())
    plan = model.plan(RECORDS)

    def score(world: int, number: int) -> float:
        twins = _twins(plan, world, _seed(seed, world, number))
        plan.solver.run(twins, plan)
        return twins.log_ratio

    numbers = count()

    def draw(world: int, runs: int) -> Floats:
        return np.array([score(world, next(numbers)) for _ in range(runs)])

    return Worlds(compose(plan.events(), plan.relation), plan.relation, draw, 0.0)


def _seed(seed: int | None, world: int, number: int) -> int | None:
    return None if seed is None else (seed << 32) + 2 * number + world
