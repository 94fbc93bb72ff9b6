"""A network on grouped rows that are whitened by channels: released means and moments, then noisy gradients.

    m = noisy mean;   C = noisy channel second moments;   W = V_k' / √(e + ridge);   inputs W (x - m), scaled to norm 1

The whitening is paid for in the same plan as the steps of the network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from tacit.accounting.composition import mu_squared_of
from tacit.contract.channel_map import ChannelMap
from tacit.contract.network_query import Network
from tacit.contract.plan import Plan, Solution
from tacit.contract.query import Gate
from tacit.solvers.channel_descent import preparation, released_groups
from tacit.solvers.image_recipes import ImageRecipe
from tacit.solvers.network_descent import NetworkDescent, NetworkState
from tacit.solvers.network_plan import network_batches, network_step, slots_of
from tacit.solvers.solver import PublicFacts, assembled


@dataclass(frozen=True)
class ChannelNetwork:
    """Settings of one fit: features and whitening of a recipe, and a training on mapped rows.

    `watch` sees every state and the map, which are released.
    """

    recipe: ImageRecipe
    descent: NetworkDescent
    watch: Callable[[NetworkState, ChannelMap], None] | None = field(default=None, repr=False)
    name: str = "channel-network"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    @property
    def network(self) -> Network:
        """The program that is trained."""
        return self.descent.network

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for means and second moments, then train."""
        groups = released_groups(gate, plan, self.recipe, turned=False)
        channel_map = ChannelMap(groups, absolute=False, constant=self.recipe.constant)

        def observed(state: NetworkState) -> None:
            if self.watch is not None:
                self.watch(state, channel_map)

        found = replace(self.descent, channel_map=channel_map, observer=observed).run(gate, plan)
        return replace(found, channel_map=channel_map)


@dataclass(frozen=True)
class ChannelTraining:
    """Constants of a training: batches, and what a step does."""

    batch_size: int
    steps: int
    clip: float
    step_size: float
    momentum: float
    tail: float
    physical_batch: int


def plan(
    facts: PublicFacts,
    recipe: ImageRecipe,
    network: Network,
    start: NetworkState,
    training: ChannelTraining,
    watch: Callable[[NetworkState, ChannelMap], None] | None = None,
) -> Plan:
    """Price means, moments and steps of a network within the budget."""
    batches = network_batches(facts, training.batch_size)
    others, _ = preparation(facts, recipe, mu_squared_of(facts.budget))
    step = network_step(facts, batches, training.steps, tuple(others))
    shape = slots_of(batches, facts.records, training.physical_batch)
    descent = NetworkDescent(
        network,
        start,
        training.steps,
        training.clip,
        training.step_size,
        shape.slots,
        shape.chunk,
        momentum=training.momentum,
        tail=training.tail,
    )
    return assembled(facts, ChannelNetwork(recipe, descent, watch), (*others, step))
