"""Softmax descent on grouped rows that are whitened by channels, with released means and second moments.

    m = noisy mean;   C = noisy channel second moments of x - m, pooled over positions;   W = V_k' / √(e + ridge)
    V ← momentum·V + g,   θ ← θ - step_size·(g + momentum·V),   g = Σ clip(gradient) / (n·clip), noised

The top eigenvectors V_k of C are kept; a recipe may add |R W (x - m)|, with R a fixed rotation. The result is the
mean of the last iterates. All numbers are public constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.contract.grouped_query import ChannelMoments, GroupSum, MappedGradient
from tacit.contract.plan import Plan, PublicFact, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.sensitivity import price_for
from tacit.design.design import Column, Design
from tacit.design.response import Classes
from tacit.errors import SettingError
from tacit.solvers.image_recipes import STUDY, ImageRecipe
from tacit.solvers.solver import PublicFacts, assembled
from tacit.solvers.spectrum import whitening

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChannelDescent:
    """Settings of one fit: the recipe, and the number of steps at its budget."""

    recipe: ImageRecipe
    iterations: int
    name: str = "channel-descent"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for means and second moments, then descend."""
        recipe = self.recipe
        channel_map = ChannelMap(
            released_groups(gate, plan, recipe, turned=recipe.turned), recipe.absolute, recipe.constant
        )
        return Solution(self._descend(gate, plan, channel_map), channel_map=channel_map)

    def _descend(self, gate: Gate, plan: Plan, channel_map: ChannelMap) -> Floats:
        recipe = self.recipe
        theta = np.zeros((channel_map.width, recipe.classes))
        velocity, total = np.zeros_like(theta), np.zeros_like(theta)
        first = self.iterations - max(1, round(recipe.tail * self.iterations))
        for step in range(self.iterations):
            answer = gate.ask(MappedGradient(theta, recipe.clip, channel_map)).value
            gradient = answer / (recipe.clip * plan.count)
            velocity = recipe.momentum * velocity + gradient
            theta = theta - recipe.step_size * (gradient + recipe.momentum * velocity)
            if step >= first:
                total += theta
        return np.asarray(total / (self.iterations - first))


def released_groups(gate: Gate, plan: Plan, recipe: ImageRecipe, *, turned: bool) -> tuple[GroupMap, ...]:
    """Ask for mean and second moments of every group; return its whitening, with `turned` also a rotation of it."""
    ends = recipe.features.blocks(recipe.colours)
    shapes = recipe.features.shapes(recipe.pixels, recipe.colours)
    found = []
    for place, group in enumerate(recipe.groups):
        mean = (gate.ask(GroupSum(place)).value / plan.count).reshape(shapes[place])
        moments = gate.ask(ChannelMoments(place, mean, ends[place], group.clip)).value / plan.count
        matrix = whitening(moments, ends[place], group.kept, recipe.ridge)
        if turned:
            matrix = np.concatenate([matrix, rotation(group.kept) @ matrix])
        found.append(GroupMap(mean, matrix, group.weight, group.kept))
    return tuple(found)


def rotation(size: int) -> Floats:
    """A fixed orthogonal matrix without small or large entries: cosines, after changes of sign."""
    place = np.arange(size)
    cosines = np.cos(math.pi * (place + 0.5) * place[:, None] / size) * math.sqrt(2 / size)
    cosines[0] /= math.sqrt(2)
    # The highest of 32 bits of a multiple of an odd number: as good as random.
    return np.asarray(cosines * np.where(place * 2_654_435_761 % 2**32 >= 2**31, -1.0, 1.0))


def image_design(recipe: ImageRecipe) -> Design:
    """A coefficient for every number of a mapped row; the constant is the last of them."""
    shapes = recipe.features.shapes(recipe.pixels, recipe.colours)
    count = sum(group.kept * shape[1] for group, shape in zip(recipe.groups, shapes, strict=True))
    times = 1 + recipe.absolute * (1 + recipe.turned)
    names = [f"z{j}" for j in range(count * times)] + ["constant"]
    columns = tuple(Column(name, (), -1.0, 1.0, 0.0, 1.0) for name in names)
    return Design(columns, Classes.of("class", range(recipe.classes)), 1.0, intercept=False)


def plan(facts: PublicFacts, recipe: ImageRecipe, allowed: Fraction) -> Plan:
    """Price means, moments and steps within a μ² of `allowed`."""
    steps, left = preparation(facts, recipe, allowed)
    iterations = recipe.steps(math.sqrt(allowed))
    steps.append(_priced(facts, QueryKind.GRADIENT, left, iterations, Purpose.DESCENT, facts.coordinates))
    planned = assembled(facts, ChannelDescent(recipe, iterations), steps)
    return planned.with_facts(PublicFact("recipe", recipe.name, "declared"), PublicFact("constants", STUDY, "declared"))


def preparation(facts: PublicFacts, recipe: ImageRecipe, allowed: Fraction) -> tuple[list[Step], Fraction]:
    """Price means and moments by their shares of a μ² of `allowed`; return them and what they leave."""
    if not facts.relation.n_is_public:
        raise SettingError("Images are fitted with a public number of records: use zero-out or replace-one.")
    shapes = recipe.features.shapes(recipe.pixels, recipe.colours)
    for group, (channels, _) in zip(recipe.groups, shapes, strict=True):
        if not 0 < group.kept <= channels:
            raise SettingError(f"A group of {channels} channels cannot keep {group.kept} of them.")
    steps, left = [], allowed
    for group, shape in zip(recipe.groups, shapes, strict=True):
        for kind, share, width, purpose in (
            (QueryKind.GRADIENT, group.sum_share, math.prod(shape), Purpose.ROW_SUM),
            (QueryKind.SECOND_MOMENTS, group.moment_share, shape[0], Purpose.CHANNEL_MOMENTS),
        ):
            part = allowed * Fraction(share)
            steps.append(_priced(facts, kind, part, 1, purpose, width))
            left -= part
    return steps, left


def _priced(
    facts: PublicFacts, kind: QueryKind, mu_squared: Fraction, times: int, purpose: Purpose, width: int
) -> Step:
    price = price_for(kind, mu_squared / times, facts.relation, records=facts.records, width=width)
    return Step(kind, price, times, purpose)
