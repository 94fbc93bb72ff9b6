"""Plans of trainings: slots hold their batches, and the price is within the budget."""

import math

import pytest

from tacit.contract.batches import Batches, Sampling
from tacit.contract.network_query import BLOCK
from tacit.contract.plan import Penalty
from tacit.contract.query import QueryKind
from tacit.design.network_design import NetworkDesign
from tacit.design.response import Absent
from tacit.errors import BudgetError, SettingError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.network_plan import network_batches, network_step, slots_of
from tacit.solvers.solver import PublicFacts, assembled


def facts(n: int = 1000, relation: Relation = Relation.ZERO_OUT, budget: Budget | None = None) -> PublicFacts:
    design = NetworkDesign((), Absent(), 1.0, intercept=False, parameters=50)
    spent = budget or Budget(epsilon=2.0, delta=1e-5)
    return PublicFacts(design, n, relation, "record", spent, Penalty(), classification.SOFTMAX)


@pytest.mark.parametrize("n", [2, 33, 1000, 60_000])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("physical", [None, 1, 64, 5000])
def test_slots_hold_the_batches_and_come_in_equal_chunks(n: int, share: float, physical: int | None) -> None:
    batches = network_batches(facts(n), max(1, round(share * n)))
    found = slots_of(batches, n, physical)
    mean = float(batches.rate) * n
    assert found.slots >= min(n, mean + 2 * math.sqrt(mean))
    assert found.slots % found.chunk == found.chunk % BLOCK == 0
    assert found.chunk <= max(physical or 256, BLOCK) + BLOCK - 1
    # Slots are filled but for one block in every chunk.
    assert found.slots <= min(n, mean + 2 * math.sqrt(mean)) + 1 + BLOCK * found.slots / found.chunk


def test_the_price_is_within_the_budget_and_close_to_it() -> None:
    step = network_step(facts(), network_batches(facts(), 100), 50)
    assert step.kind is QueryKind.NETWORK_GRADIENT
    guarantee = assembled(facts(), None, (step,)).guarantee()  # type: ignore[arg-type]
    assert 1.99 < guarantee.epsilon <= 2.0


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(SettingError, match="more than there are records"):
        network_batches(facts(100), 101)
    for relation in (Relation.REPLACE_ONE, Relation.ADD_REMOVE):
        with pytest.raises(SettingError, match="zero-out"):
            network_batches(facts(relation=relation), 10)
    batches = Batches(Sampling.POISSON, 1, 4)
    for budget in (Budget(mu=1.0), Budget(epsilon=1.0, delta=0.0), Budget(epsilon=math.inf)):
        with pytest.raises(BudgetError, match="finite epsilon"):
            network_step(facts(budget=budget), batches, 5)
