"""Attacks on networks with a gradient canary: one record whose clipped gradient is the same at all weights.

All other records are blank, and the loss is linear, so the weights move by the sum of all noised gradients and nothing
else. The attacker sees the last weights. torch is imported when an attack is run.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.accounting.composition import compose
from tacit.audit.answer_laws import gaussian_log_ratio
from tacit.audit.attack import Worlds, approximate_budget
from tacit.audit.bounds import Floats
from tacit.audit.image_fits import RECORDS as IMAGES
from tacit.audit.image_fits import small_recipe, tables
from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.plan import Plan
from tacit.contract.query import KIND_OF, Answer, Gate, Query, QueryKind
from tacit.contract.sensitivity import Price
from tacit.engine.gate import PlannedGate
from tacit.rows.storage.example_rows import ExampleRows

if TYPE_CHECKING:
    from tacit.neural.trainer import DPTrainer

RECORDS, STEPS, CLIP = 8, 4, 0.5


def _linear(outputs: Any, labels: Any) -> Any:
    """A loss whose gradient does not depend on the weights."""
    return outputs[:, 0] * labels


def _trainer(mu: float, *, rate: float, steps: int) -> DPTrainer:
    from tacit.neural import DPTrainer, mlp

    return DPTrainer(
        module=mlp(1, 1, hidden=()),
        loss=_linear,
        budget=approximate_budget(mu),
        batch_size=round(rate * RECORDS),
        steps=steps,
        clip=CLIP,
        step_size=1.0,
        momentum=0.0,
        weights="last",
    )


def _rows(world: int, labels: Any) -> ExampleRows:
    """Blank records, and in world 1 the canary."""
    inputs = np.ones((RECORDS, 1), dtype=np.float32)
    valid = np.zeros(RECORDS, dtype=np.bool_)
    valid[0] = world == 1
    return ExampleRows.admit(inputs, labels, valid)


def _worlds(plan: Plan, labels: Any, direction: Floats, seed: int | None) -> Worlds:
    from tacit.mechanisms.network_responder import NetworkResponder

    numbers = count()

    def score(world: int) -> float:
        number = next(numbers)
        rows, own = _rows(world, labels), None if seed is None else (seed << 32) + number
        with NetworkResponder(rows, seed=own) as responder:
            theta = plan.solver.run(PlannedGate(plan, responder), plan).theta
        return float(direction @ theta)

    def draw(world: int, runs: int) -> Floats:
        return np.array([score(world) for _ in range(runs)])

    return Worlds(compose(plan.events(), plan.relation), plan.relation, draw)


def _canary(mu: float, seed: int | None, *, rate: float, steps: int) -> Worlds:
    plan = _trainer(mu, rate=rate, steps=steps).plan(RECORDS)
    # Weights go against the gradient.
    return _worlds(plan, np.ones(RECORDS, dtype=np.float32), np.array([-1.0, -1.0]), seed)


def classifier_fit(mu: float, seed: int | None) -> Worlds:
    """A default classifier's plan, with steps so short that the canary's gradient hardly changes."""
    from tacit.neural import DPClassifier

    model = DPClassifier(
        budget=approximate_budget(mu),
        classes=(0, 1),
        hidden=(),
        batch_size=RECORDS,
        epochs=STEPS,
        clip=CLIP,
        step_size=1e-3,
        momentum=0.0,
        weights="last",
    )
    # Weights of both outputs, then biases: the gradient of label 1 is p - e₁ at input 1.
    direction = np.array([-1.0, 1.0, -1.0, 1.0])
    return _worlds(model.plan(RECORDS, 1), np.ones(RECORDS, dtype=np.int64), direction, seed)


def regressor_fit(mu: float, seed: int | None) -> Worlds:
    """A default regression's plan: the canary's response is at its upper bound, and predictions stay far below."""
    from tacit.neural import DPRegressor

    model = DPRegressor(
        budget=approximate_budget(mu),
        response_bounds=(-1, 1),
        hidden=(),
        batch_size=RECORDS,
        epochs=STEPS,
        clip=CLIP,
        step_size=1e-3,
        momentum=0.0,
        weights="last",
    )
    return _worlds(model.plan(RECORDS, 1), np.ones(RECORDS, dtype=np.float32), np.array([1.0, 1.0]), seed)


class TwinNetworks:
    """A gate to one of two tables of images, which adds up log P₁ / P₀ of its noised answers.

    Batches are of all records, so that answers are Gaussian. What they are without noise is asked at a price whose
    noise is one step of a fine lattice.
    """

    def __init__(self, noised: Gate, exact: tuple[Any, Any]) -> None:
        self._noised, self._exact, self.log_ratio = noised, exact, 0.0

    def ask(self, query: Query) -> Answer:
        """Answer on one table, and compare with both."""
        answer = self._noised.ask(query)
        batched = KIND_OF[type(query)] is QueryKind.NETWORK_GRADIENT
        price = BatchPrice(2**40, 0, Batches(Sampling.POISSON, 1, 1)) if batched else Price(2**40, 0)
        first, second = (table.answer(query, price).value for table in self._exact)
        self.log_ratio += gaussian_log_ratio(first, second, answer)
        return answer


def scattering_fit(mu: float, seed: int | None) -> Worlds:
    """Every answer of a fit of a network on scattering features: means, moments and gradients of all images."""
    from tacit.mechanisms.mapped_network_responder import MappedNetworkResponder
    from tacit.neural import ScatteringClassifier
    from tacit.neural.scattering_networks import ScatteringRecipe

    recipe = ScatteringRecipe(small_recipe(), rate=1.0, iterations=0.0, fewest=STEPS, clip=1e-3)
    plan = ScatteringClassifier(budget=approximate_budget(mu), recipe=recipe).plan(IMAGES)
    numbers, both = count(), tables()

    def score(world: int) -> float:
        own = None if seed is None else (seed << 32) + next(numbers)
        noised = PlannedGate(plan, MappedNetworkResponder(both[world], seed=own))
        twins = TwinNetworks(noised, tuple(MappedNetworkResponder(table, seed=0) for table in both))  # type: ignore[arg-type]
        plan.solver.run(twins, plan)
        return twins.log_ratio

    def draw(world: int, runs: int) -> Floats:
        return np.array([score(world) for _ in range(runs)])

    return Worlds(compose(plan.events(), plan.relation), plan.relation, draw, 0.0)


one_gradient = partial(_canary, rate=1.0, steps=1)
"""One answer over all records."""
training = partial(_canary, rate=0.5, steps=10)
"""A training over secret batches, by its last weights."""
whole_training = partial(_canary, rate=1.0, steps=STEPS)
"""The same over all records: here the last weights tell all that the answers do."""
