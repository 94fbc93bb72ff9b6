"""How a training is planned: batches, slots and noise, from public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.accounting.composition import mu_squared_of
from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.network_query import BLOCK
from tacit.contract.plan import Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import require_fixed_slots
from tacit.errors import BudgetError, SettingError
from tacit.solvers.batch_schedule import batches_of, price_steps
from tacit.solvers.network_rules import NETWORKS
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.validate import whole

MOST_STEPS = 10_000_000
"""No machine takes more of them, and pricing so many would take long."""


@dataclass(frozen=True)
class Slots:
    """Public shapes of a step: the places of a batch, and how many of them are computed at a time."""

    slots: int
    chunk: int


def slots_of(batches: Batches, records: int, physical_batch: int | None = None) -> Slots:
    """Places for batches up to two standard deviations above the expected size; larger ones are drawn again."""
    mean = float(batches.rate) * records
    most = min(records, math.ceil(mean + NETWORKS.deviations * math.sqrt(mean)))
    chunks = math.ceil(most / (physical_batch or NETWORKS.chunk))
    chunk = BLOCK * math.ceil(most / (chunks * BLOCK))
    return Slots(chunks * chunk, chunk)


def network_batches(facts: PublicFacts, batch_size: int) -> Batches:
    """Poisson batches of an expected size."""
    require_fixed_slots(BatchPrice(1, 0, Batches(Sampling.POISSON, 1, 1)), facts.relation)
    if whole("batch_size", batch_size, 1) > facts.records:
        what = f"batch_size={batch_size} is more than there are records ({facts.records})"
        raise SettingError(f"{what}. Choose a smaller one. Nothing was spent.")
    return batches_of(facts, SolverOptions(sampling="poisson"), Fraction(batch_size, facts.records))


def network_step(facts: PublicFacts, batches: Batches, steps: int, others: tuple[Step, ...] = ()) -> Step:
    """Price so many steps with all that others leave of the budget, by the accountant that states the guarantee."""
    if facts.budget.epsilon is None or facts.budget.is_pure or facts.budget.is_infinite:
        raise BudgetError("A network is trained with a finite epsilon and a delta above 0.")
    found = price_steps(facts, batches, whole("steps", steps, 1, MOST_STEPS), others, mu_squared_of(facts.budget))
    return Step(QueryKind.NETWORK_GRADIENT, found.price, steps, Purpose.DESCENT)
