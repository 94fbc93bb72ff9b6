"""`ScatteringClassifier`: a private classifier of images by a small network on whitened scattering features."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import nn

from tacit.accounting.composition import mu_squared_of
from tacit.certificate.certificate import Certificate
from tacit.contract.channel_map import ChannelMap
from tacit.contract.network_query import Network
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.query import Progress
from tacit.contract.release import Release
from tacit.design.network_design import NetworkDesign
from tacit.design.response import Absent
from tacit.documents.canonical_json import plain
from tacit.engine.grouped_table import GroupedTable, mapped_inputs
from tacit.engine.ledger_use import require_price
from tacit.engine.network_examples import load_parameters, parameter_vector, rehearse
from tacit.errors import SettingError
from tacit.estimators.images import ImageClassifier, PreparedImages, facts_of_images, stated_of_images
from tacit.estimators.ledger_membership import LedgerMember
from tacit.ledger import current_ledger
from tacit.neural.example_losses import cross_entropy
from tacit.neural.scattering_networks import ScatteringRecipe, find_scattering
from tacit.privacy.budget import Budget
from tacit.solvers.channel_network import ChannelNetwork
from tacit.solvers.channel_network import plan as plan_network
from tacit.solvers.network_descent import NetworkState

Watch = Callable[[NetworkState, ChannelMap], None]


class ScatteringClassifier(ClassifierMixin, LedgerMember):
    """A classifier of images under differential privacy: a small network on scattering features.

    Scattering (fixed) → root and flip fold → noisy mean and channel whitening → rows of norm 1 → a network that is
    trained with noisy, clipped gradients of secret batches.

    Guarantee:

    - Means, second moments and every gradient are paid for in one plan, under the relation zero-out: an image's
      contribution vanishes, and the number of images is public. Other relations are refused.
    - Features of an image depend on that image alone, and inputs of the network on it and on released numbers, to the
      last bit.
    - Images of another shape or range, and labels outside the classes, are refused before anything is spent. Inside a
      ledger an image outside [0, 1] is read as a black one, and a label outside the classes as 0.

    Parameters
    ----------
    epsilon, delta, budget
        The budget; delta is min(1e-5, n^-1.1) unless it is given.
    recipe
        "cifar10", or a `ScatteringRecipe`.
    threads
        Threads that scatter images.
    random_state
        Makes the noise reproducible, and the fit not private.
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        budget: Budget | None = None,
        recipe: str | ScatteringRecipe = "cifar10",
        relation: str = "zero-out",
        threads: int = 2,
        random_state: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.epsilon, self.delta, self.budget, self.recipe = epsilon, delta, budget, recipe
        self.relation, self.threads, self.random_state, self.progress = relation, threads, random_state, progress
        current_ledger.born(self)

    def _features(self) -> ImageClassifier:
        """What reads and scatters images in the same way."""
        images = find_scattering(self.recipe).images
        return ImageClassifier(epsilon=1.0, recipe=images, threads=self.threads, progress=self.progress)

    def plan(self, n: int) -> Plan:
        """Price a fit of n images; nothing is read."""
        return self._plan(n, self._network())

    def _network(self) -> Network:
        module = find_scattering(self.recipe).module()
        return Network(module, cross_entropy, " ".join(str(module).split()))

    def _plan(self, n: int, network: Network, watch: Watch | None = None) -> Plan:
        recipe = find_scattering(self.recipe)
        vector = parameter_vector(network.module)
        facts = facts_of_images(self, n, NetworkDesign((), Absent(), 1.0, intercept=False, parameters=vector.size))
        budget = facts.budget
        if budget.epsilon is None or budget.is_pure or budget.is_infinite:
            raise SettingError("A network is trained with a finite epsilon and a delta above 0.")
        training = recipe.training(n, float(mu_squared_of(budget)) ** 0.5)
        found = plan_network(facts, recipe.images, network, NetworkState.at(vector), training, watch)
        own = (
            PublicFact("recipe", recipe.images.name, "declared"),
            PublicFact("constants", recipe.study, "declared"),
            PublicFact("architecture", network.description[:2000], "declared"),
            PublicFact("first weights", "public", "declared"),
        )
        return found.with_facts(*stated_of_images(recipe.images, *own))

    def prepare(self, X: Any) -> PreparedImages:
        """Scatter images; each on its own, at no cost."""
        return self._features().prepare(X)

    def require(self, X: Any, y: Any) -> NDArray[Any]:
        """Refuse images or labels that this recipe does not take; return the labels."""
        return self._features().require(X, y)

    def fit(self, X: Any, y: Any, watch: Watch | None = None) -> Self:
        """Fit labelled images, or `prepare`d ones. `watch` sees every released state, and the map of the rows."""
        with current_ledger.charged_for(self):
            return self._fit(X, y, watch)

    def _fit(self, X: Any, y: Any, watch: Watch | None) -> Self:
        recipe = find_scattering(self.recipe)
        network = self._network()
        # Wrong settings, and ledgers that cannot price the plan, refuse before an image is read.
        require_price(self._plan(2, network), private=self.random_state is None)
        labels = self.require(X, y)
        solver = self._plan(len(labels), network).solver
        assert isinstance(solver, ChannelNetwork)  # noqa: S101 - for the type checker
        width = sum(channels * positions for channels, positions in network.module.shapes) + 1
        network = rehearse(network, (width, torch.float32), (torch.int64,), solver.descent.chunk)
        planned = self._plan(len(labels), network, watch)
        source = X.rows[0] if isinstance(X, PreparedImages) else X
        table = GroupedTable(self.prepare(X).rows, labels, recipe.images.classes, source)
        self.release_: Release = table.run(planned, seed=self.random_state, progress=self.progress)
        self.plan_ = planned
        self.module_ = self.module_with(self.release_.theta)
        self.classes_ = np.arange(recipe.images.classes)
        self.__dict__.pop("certificate_", None)
        return self

    def module_with(self, theta: NDArray[np.float64]) -> nn.Module:
        """The network with these weights, for prediction."""
        module = copy.deepcopy(find_scattering(self.recipe).module())
        load_parameters(module, theta)
        return module.eval()

    @cached_property
    def certificate_(self) -> Certificate:
        """What was guaranteed, and why it is true; it covers weights, architecture, means and whitenings."""
        check_is_fitted(self)
        maps = [[group.mean, group.whitening, group.weight] for group in self._map().groups]
        covered = {"theta": plain(self.release_.theta), "architecture": str(self.module_), "maps": plain(maps)}
        return Certificate.issue(self.release_, covered=covered)

    def _map(self) -> ChannelMap:
        found = self.release_.channel_map
        assert found is not None  # noqa: S101 - for the type checker
        return found

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Outputs (n, classes) of the network for new images."""
        check_is_fitted(self)
        return outputs_of(self.module_, mapped_inputs(self.prepare(X).rows, self._map()))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest output."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])


def outputs_of(module: nn.Module, inputs: NDArray[np.float32], batch: int = 500) -> NDArray[np.float64]:
    """Outputs of a module, some inputs at a time."""
    with torch.no_grad():
        return torch.cat([module(part) for part in torch.split(torch.from_numpy(inputs), batch)]).double().numpy()


class PublicScatteringScore:
    """Accuracy on declared-public images while a fit runs: from released weights and the released map alone."""

    def __init__(self, model: ScatteringClassifier, images: PreparedImages, labels: NDArray[Any]) -> None:
        self._model, self._images, self._labels = model, images, labels
        self._inputs: NDArray[np.float32] | None = None

    def __call__(self, state: NetworkState, channel_map: ChannelMap) -> float:
        """Share of the public images that the averaged weights of a state classify rightly."""
        if self._inputs is None:
            self._inputs = mapped_inputs(self._images.rows, channel_map)
        outputs = outputs_of(self._model.module_with(state.average), self._inputs)
        return float((outputs.argmax(axis=1) == self._labels).mean())
