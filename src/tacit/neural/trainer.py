"""`DPTrainer`: any torch module whose examples keep to themselves, trained under differential privacy."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.parameter import is_lazy

from tacit.certificate.certificate import Certificate
from tacit.contract.network_query import LARGEST_CLIP, SMALLEST_CLIP, Network
from tacit.contract.plan import ONE_RECORD, Penalty, Plan, PublicFact
from tacit.contract.query import Progress
from tacit.contract.release import Release
from tacit.design.network_design import NetworkDesign
from tacit.design.response import Absent
from tacit.documents.canonical_json import plain
from tacit.engine.ledger_use import require_price
from tacit.engine.network_examples import NetworkExamples, load_parameters, parameter_vector, records_together, rehearse
from tacit.errors import DataError, SettingError, UnavailableError
from tacit.estimators.settings import make_budget
from tacit.ledger import current_ledger
from tacit.neural.checkpoints import TrainingFolder
from tacit.neural.example_losses import ExampleLoss, named_loss
from tacit.neural.examples import Examples, examples_of, shapes_of
from tacit.neural.foreign_code import is_foreign
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.network_descent import OPTIMISERS, SCHEDULES, WEIGHTS, NetworkDescent, NetworkState
from tacit.solvers.network_plan import network_batches, network_step, slots_of
from tacit.solvers.solver import PublicFacts, assembled
from tacit.validate import between, one_of, positive, whole, within

Observer = Callable[[NetworkState], None]


@dataclass(eq=False, kw_only=True)
class DPTrainer:
    """Train a torch module with noisy, clipped gradients of secret batches (DP-SGD).

    Guarantee:

    - The released weights cost what `plan(n)` says, under the relation zero-out: a record's contribution vanishes, and
      the number of records is public. Other relations are refused.
    - Each step draws a fresh Poisson batch of expected size `batch_size`, and fresh noise.
    - A module that mixes examples is refused before anything is spent. An example whose loss or gradient is not finite
      contributes nothing.

    Parameters
    ----------
    module
        The module; it is copied. Its first weights are public: random, or trained on public data. In
        DistributedDataParallel, each process of the group trains with records of its own, and n is that of all.
    loss
        "cross-entropy", "squared", "huber", or a function of outputs and labels that returns one number an example.
    epsilon, delta, budget
        The budget; delta is min(1e-5, n^-1.1) unless it is given.
    batch_size, epochs, steps
        Expected examples of a step, and passes over them or steps.
    clip
        Norm that the gradient of one example is clipped to.
    step_size, optimiser, momentum, schedule
        Of "sgd" or "adam"; the step size is constant, or falls to 0 in a "linear" or "cosine" way.
    weights, tail
        "average": the mean over the last share `tail` of the steps, or "last". Both are kept.
    physical_batch
        Examples that are computed at a time, at most, in multiples of 32: less memory, the same result in law.
    checkpoints, checkpoint_every
        A folder for checkpoints, and the steps between two of them. A training that ended early goes on with `resume`.
    random_state
        Makes the noise reproducible, and the training not private.
    observer
        Called with every `NetworkState`, which is released.
    """

    module: nn.Module
    loss: str | ExampleLoss = "cross-entropy"
    epsilon: float | None = None
    delta: float | None = None
    budget: Budget | None = None
    batch_size: int = 512
    epochs: float | None = None
    steps: int | None = None
    clip: float = 1.0
    step_size: float = 0.5
    optimiser: str = "sgd"
    momentum: float = 0.9
    schedule: str = "constant"
    weights: str = "average"
    tail: float = 0.5
    physical_batch: int | None = None
    relation: str = "zero-out"
    unit: str = "record"
    random_state: int | None = None
    checkpoints: str | os.PathLike[str] | None = None
    checkpoint_every: int = 100
    progress: Progress | None = field(default=None, repr=False)
    observer: Observer | None = field(default=None, repr=False)
    facts: tuple[PublicFact, ...] = field(default=(), repr=False)
    """Further facts that are taken as public, for the certificate."""

    def __post_init__(self) -> None:
        self.together = isinstance(self.module, DistributedDataParallel)
        if isinstance(self.module, DistributedDataParallel):
            self.module = self.module.module
        if not isinstance(self.module, nn.Module):
            raise SettingError("module must be a torch.nn.Module.")
        if any(is_lazy(value) for value in self.module.parameters()):
            raise SettingError("A lazy layer has no weights yet: run the module once on inputs that are made up.")
        self._check()
        current_ledger.born(self)

    def _check(self) -> None:
        positive("step_size", self.step_size)
        within("clip", positive("clip", self.clip), SMALLEST_CLIP, LARGEST_CLIP)
        one_of("optimiser", self.optimiser, OPTIMISERS)
        one_of("schedule", self.schedule, SCHEDULES)
        one_of("weights", self.weights, WEIGHTS)
        between("tail", self.tail, 0.0, 1.0)
        if not 0.0 <= self.momentum < 1.0:
            raise SettingError("momentum must be from 0 to below 1.")
        whole("batch_size", self.batch_size, 1)
        if (self.epochs is None) == (self.steps is None):
            raise SettingError("Give either epochs=… or steps=…")
        if self.epochs is not None:
            positive("epochs", self.epochs)
        if self.steps is not None:
            whole("steps", self.steps, 1)
        if self.physical_batch is not None:
            whole("physical_batch", self.physical_batch, 1)
        if self.random_state is not None:
            whole("random_state", self.random_state, 0)

    def plan(self, n: int) -> Plan:
        """Price a training on n records; nothing is read."""
        return self._plan(n, self._network())

    def _network(self) -> Network:
        """A copy of the module, which the mechanism loads weights into, and its loss."""
        try:
            module = copy.deepcopy(self.module).float().cpu().train()
        except RuntimeError as error:
            raise SettingError(f"The module cannot be copied to this machine's memory: {error}") from error
        for layer in module.modules():
            if getattr(layer, "inplace", False):
                layer.inplace = False  # type: ignore[assignment]
        loss, description = named_loss(self.loss).of_examples, " ".join(str(self.module).split())
        return Network(module, loss, description, foreign=is_foreign(module) or not isinstance(self.loss, str))

    def _plan(self, n: int, network: Network, start: NetworkState | None = None, held: int | None = None) -> Plan:
        """The plan for n records, of which this process has `held`."""
        relation = Relation.parse(self.relation)
        whole("n", n, 2)
        vector = parameter_vector(network.module)
        if vector.size == 0:
            raise SettingError("The module has no parameter that is trained.")
        if not np.isfinite(vector).all():
            raise SettingError("A first weight of the module is no finite number. Nothing was spent.")
        budget = make_budget(self.epsilon, self.delta, self.budget).with_delta(min(1e-5, n**-1.1))
        design = NetworkDesign((), Absent(), 1.0, intercept=False, parameters=vector.size)
        stated = named_loss(self.loss).stated
        facts = PublicFacts(design, n, relation, self.unit, budget, Penalty(), stated)
        batches = network_batches(facts, self.batch_size)
        steps = self.steps or max(1, round((self.epochs or 0.0) / float(batches.rate)))
        step = network_step(facts, batches, whole("steps", steps, 1))
        shape = slots_of(batches, n if held is None else held, self.physical_batch)
        solver = NetworkDescent(
            network,
            NetworkState.at(vector) if start is None else start,
            steps,
            self.clip,
            self.step_size,
            shape.slots,
            shape.chunk,
            self.optimiser,
            self.momentum,
            self.schedule,
            self.tail,
            self.weights,
            observer=self._observe,
        )
        return assembled(facts, solver, (step,)).with_facts(
            PublicFact("architecture", network.description[:2000], "declared"),
            PublicFact("first weights", "public", "declared"),
            PublicFact("number of records", "n", "assumed"),
            PublicFact(ONE_RECORD, self.unit, "assumed"),
            *self.facts,
        )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on arrays, tensors, or a TensorDataset; a loader is refused."""
        with current_ledger.charged_for(self):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> Self:
        self._check()
        network = self._network()
        # Wrong settings, and ledgers that cannot price the plan, refuse before an example is read.
        require_price(self._plan(max(2, self.batch_size), network), private=self.random_state is None)
        examples = examples_of(X, y, network.module, whole_labels=named_loss(self.loss).whole_labels)
        return self.train(examples, X)

    def train(self, examples: Examples, source: Any = None) -> Self:
        """Train on examples that were read before; `source` is what they were made of."""
        planned = self._rehearsed(examples)
        if self.checkpoints is None:
            table = NetworkExamples(*examples, source)
            self.release_: Release = table.run(
                planned, seed=self.random_state, progress=self.progress, together=self.together
            )
            return self._finished(planned)
        if self.together:
            raise SettingError("A training by several processes has no checkpoints.")
        if self.random_state is not None:
            raise SettingError("A training with random_state is not resumed: it would repeat its noise.")
        whole("checkpoint_every", self.checkpoint_every, 1)
        folder = TrainingFolder(Path(self.checkpoints))
        # What the ledger cannot price is refused before a folder is made.
        require_price(planned, private=True)
        folder.begin(planned)
        with folder.locked():
            return self._legs(planned, examples, source, folder)

    def resume(self, X: Any, y: Any = None, *, step: int | None = None, repeat: bool = False) -> Self:
        """Go on from the latest checkpoint of the folder, or from that of a `step`; step 0 are the first weights.

        Steps that were taken after that checkpoint are taken again, with fresh noise: that costs more than the plan,
        and is refused with the price unless `repeat` is given. Within a ledger the steps ahead are charged, one
        leg after the other.
        """
        with current_ledger.charged_for(self):
            if self.checkpoints is None or self.random_state is not None:
                raise SettingError("resume needs checkpoints=… of a training without random_state.")
            folder = TrainingFolder(Path(self.checkpoints))
            network = self._network()
            examples = examples_of(X, y, network.module, whole_labels=named_loss(self.loss).whole_labels)
            folder.require(self._plan(len(examples.labels), network))
            with folder.locked():
                start = None if folder.is_at_start(step) else folder.load(step)
                planned = self._rehearsed(examples, start)
                planned = self._extended(planned, folder.taken, repeat=repeat)
                return self._legs(planned, examples, X, folder)

    def _rehearsed(self, examples: Examples, start: NetworkState | None = None) -> Plan:
        network, held = self._network(), len(examples.labels)
        count = records_together(held) if self.together else held
        chunk = descent_of(self._plan(count, network, held=held)).chunk
        return self._plan(count, rehearse(network, *shapes_of(examples), chunk), start, held)

    def _extended(self, planned: Plan, taken: int, *, repeat: bool) -> Plan:
        """The plan of all steps that will have been taken, with the budget that they cost."""
        solver, (step,) = descent_of(planned), planned.steps
        if solver.start.done >= solver.steps:
            raise SettingError("That checkpoint is the end of the training: no step is left.")
        again = taken - solver.start.done
        if again < 0:
            raise SettingError("The journal has fewer steps than the checkpoint: they do not belong together.")
        if again == 0:
            return planned
        longer = replace(planned, steps=(replace(step, times=taken + solver.steps - solver.start.done),))
        epsilon = longer.guarantee().epsilon
        if not repeat:
            raise SettingError(
                f"After this checkpoint (step {solver.start.done}) {again} steps were taken already. To take them "
                f"again costs them once more: ε = {epsilon:.4g} in place of {planned.guarantee().epsilon:.4g} in all. "
                "Pass repeat=True to pay that. Nothing was spent."
            )
        raised = Budget(epsilon=epsilon * (1.0 + 1e-6), delta=planned.budget.delta)
        return replace(longer, budget=raised).with_facts(PublicFact("repeated steps", again, "declared"))

    def _legs(self, planned: Plan, examples: Examples, source: Any, folder: TrainingFolder) -> Self:
        """Train from one checkpoint to the next; each leg is charged before it begins."""
        state, (step,) = descent_of(planned).start, planned.steps
        end, first = descent_of(planned).steps, True
        self.state_ = state
        while state.done < end:
            stop = min(end, state.done + self.checkpoint_every)
            solver = replace(descent_of(planned), start=state, stop=stop, before_step=folder.note_step)
            leg = replace(planned, solver=solver, steps=(replace(step, times=stop - state.done),))
            try:
                NetworkExamples(*examples, source).run(leg, seed=None, progress=self.progress, warn=first)
            finally:
                if self.state_.done > state.done:
                    state = self.state_
                    folder.save(state)
            first = False
        self.release_ = Release(planned, np.array(state.weights(self.weights)))
        return self._finished(planned)

    def _finished(self, planned: Plan) -> Self:
        self.plan_ = planned
        self.module_ = self.module_with(self.release_.theta)
        self.__dict__.pop("certificate_", None)
        return self

    def _observe(self, state: NetworkState) -> None:
        self.state_ = state
        if self.observer is not None:
            self.observer(state)

    def module_with(self, theta: NDArray[np.float64]) -> nn.Module:
        """A copy of the module with these weights, for prediction."""
        module = copy.deepcopy(self.module).float().cpu()
        load_parameters(module, theta)
        return module.eval()

    @cached_property
    def certificate_(self) -> Certificate:
        """What was guaranteed, and why it is true; it covers the weights and the architecture."""
        self._require_weights()
        theta = plain(self.release_.theta)
        return Certificate.issue(self.release_, covered={"theta": theta, "architecture": str(self.module)})

    def predict(self, X: Any, batch: int = 1024) -> NDArray[np.float32]:
        """Outputs of the trained module for new inputs, which are the caller's own."""
        self._require_weights()
        try:
            inputs = torch.as_tensor(np.ascontiguousarray(X) if not isinstance(X, torch.Tensor) else X)
            inputs = inputs.float() if inputs.is_floating_point() or inputs.dtype == torch.uint8 else inputs
            with torch.no_grad():
                parts = [self.module_(part) for part in torch.split(inputs, batch)]
            return torch.cat(parts).numpy()
        except (IndexError, RuntimeError, TypeError, ValueError) as error:
            raise DataError(f"These inputs do not fit the module: {error}") from error

    def _require_weights(self) -> None:
        if not hasattr(self, "module_"):
            raise UnavailableError("This trainer has no weights yet: call fit(X, y) first.")


def descent_of(plan: Plan) -> NetworkDescent:
    """The settings of a training's plan."""
    solver = plan.solver
    assert isinstance(solver, NetworkDescent)  # noqa: S101 - for the type checker
    return solver
