"""The plan of a network on whitened features: what it asks is what it pays for."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.audit.image_fits import RECORDS, small_recipe, tables
from tacit.contract.channel_map import ChannelMap
from tacit.contract.grouped_query import ChannelMoments, GroupSum
from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import Answer, Query
from tacit.engine.gate import PlannedGate
from tacit.errors import PlanViolation, SettingError
from tacit.mechanisms.mapped_network_responder import MappedNetworkResponder
from tacit.neural import ScatteringClassifier
from tacit.neural.scattering_networks import ScatteringRecipe
from tacit.solvers.channel_network import ChannelNetwork
from tacit.solvers.network_descent import NetworkState

RECIPE = ScatteringRecipe(small_recipe(), iterations=0.0, fewest=5)


class Listening:
    """A gate that notes what is asked."""

    def __init__(self, gate: PlannedGate) -> None:
        self.gate, self.asked = gate, list[Query]()

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        return self.gate.ask(query)


def test_a_run_asks_the_plan_and_nothing_else() -> None:
    plan = ScatteringClassifier(epsilon=2.0, delta=1e-5, recipe=RECIPE).plan(RECORDS)
    gate = Listening(PlannedGate(plan, MappedNetworkResponder(tables()[1], seed=1)))
    solver = plan.solver
    assert isinstance(solver, ChannelNetwork)
    seen: list[tuple[int, ChannelMap]] = []

    def watch(state: NetworkState, channel_map: ChannelMap) -> None:
        seen.append((state.done, channel_map))

    found = replace(solver, watch=watch).run(gate, plan)
    assert [type(query) for query in gate.asked] == [GroupSum, ChannelMoments, *[NetworkGradient] * 5]
    maps = {id(query.channel_map) for query in gate.asked if isinstance(query, NetworkGradient)}
    assert maps == {id(found.channel_map)}
    assert [done for done, _ in seen] == [1, 2, 3, 4, 5]
    assert np.isfinite(found.theta).all()
    assert solver.network is solver.descent.network
    with pytest.raises(PlanViolation):
        gate.ask(GroupSum(0))


def test_the_price_of_the_steps_counts_the_whitening() -> None:
    plan = ScatteringClassifier(epsilon=2.0, delta=1e-5, recipe=RECIPE).plan(1000)
    first, second = small_recipe().groups[0].sum_share, small_recipe().groups[0].moment_share
    dearer = replace(small_recipe(), groups=(replace(small_recipe().groups[0], moment_share=0.4),))
    other = ScatteringClassifier(epsilon=2.0, delta=1e-5, recipe=replace(RECIPE, images=dearer)).plan(1000)
    noise = [2.0 ** it.steps[-1].price.bits / it.steps[-1].price.bound for it in (plan, other)]  # type: ignore[union-attr]
    assert first + second < 0.4
    assert noise[1] > 1.1 * noise[0]
    assert 1.97 < plan.guarantee().epsilon <= 2.0
    assert 1.97 < other.guarantee().epsilon <= 2.0


def test_more_channels_than_there_are_is_refused() -> None:
    wrong = replace(small_recipe(), groups=(replace(small_recipe().groups[0], kept=500),))
    with pytest.raises(SettingError, match="cannot keep"):
        ScatteringClassifier(epsilon=2.0, delta=1e-5, recipe=replace(RECIPE, images=wrong)).plan(1000)
