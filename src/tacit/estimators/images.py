"""A private classifier of images: scattering, private whitening, and a softmax model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tacit.accounting.composition import mu_squared_of
from tacit.certificate.certificate import Certificate
from tacit.contract.grouped_query import MappedGradient
from tacit.contract.plan import ONE_RECORD, VALID, Penalty, Plan, PublicFact
from tacit.contract.query import Progress, Query
from tacit.contract.release import Release
from tacit.documents.canonical_json import plain
from tacit.engine.grouped_table import GroupedTable, MappedPredictor, mapped_margins
from tacit.engine.ledger_use import require_price
from tacit.errors import DataError, SettingError
from tacit.estimators.ledger_membership import LedgerMember
from tacit.estimators.scattering import readable_images, refuses_images
from tacit.estimators.settings import make_budget
from tacit.features.image_rows import FeatureMap, Rows, image_rows
from tacit.ledger import current_ledger
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.channel_descent import image_design
from tacit.solvers.channel_descent import plan as plan_descent
from tacit.solvers.image_recipes import ImageRecipe, find_recipe
from tacit.solvers.solver import PublicFacts
from tacit.validate import whole


def facts_of_images(model: Any, n: int, design: Any) -> PublicFacts:
    """Check the settings that classifiers of images share; what a plan for n images is made from."""
    whole("threads", model.threads, 1, 256)
    if model.random_state is not None:
        whole("random_state", model.random_state, 0)
    relation, records = Relation.parse(model.relation), whole("n", n, 2)
    budget = make_budget(model.epsilon, model.delta, model.budget).with_delta(min(1e-5, records**-1.1))
    return PublicFacts(design, records, relation, "image", budget, Penalty(), classification.SOFTMAX)


def stated_of_images(recipe: ImageRecipe, *further: PublicFact) -> tuple[PublicFact, ...]:
    """What a fit to images takes as public, for its certificate."""
    return (
        PublicFact("classes", list(range(recipe.classes)), "declared"),
        *further,
        PublicFact("number of records", "n", "assumed"),
        PublicFact(ONE_RECORD, "image", "assumed"),
        *([PublicFact(VALID, True, "assumed")] if refuses_images() else []),
    )


@dataclass(frozen=True, eq=False)
class PreparedImages:
    """Images as rows of whole numbers, so that several fits need not scatter them again."""

    rows: tuple[Rows, ...]
    features: FeatureMap
    shape: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows[0])


class ImageClassifier(ClassifierMixin, LedgerMember):
    """A classifier of images under differential privacy, with constants that were set on public images.

    Scattering (fixed) → root and flip fold → noisy mean and channel whitening → rows of norm 1 → noisy gradient descent
    of a joint softmax model.

    Guarantee:

    - Means, second moments and every gradient are paid for, and the certificate lists them with their exact prices.
      Features of an image depend on that image alone.
    - Images of another shape or range, and labels outside the classes, are refused before anything is spent. Inside a
      ledger a refusal would tell of a single image, free of charge: there an image outside [0, 1] is read as a black
      one, and a label outside the classes as 0. Shapes and types of arrays are public.

    Parameters
    ----------
    epsilon, delta, budget
        The budget; delta is min(1e-5, n^-1.1) unless it is given.
    recipe
        "mnist", "fashion", "cifar10", or an `ImageRecipe`.
    relation
        "zero-out" (an image's contribution vanishes) or "replace-one"; the number of images is public.
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
        recipe: str | ImageRecipe = "mnist",
        relation: str = "zero-out",
        threads: int = 2,
        random_state: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.epsilon, self.delta, self.budget, self.recipe = epsilon, delta, budget, recipe
        self.relation, self.threads, self.random_state, self.progress = relation, threads, random_state, progress
        current_ledger.born(self)

    def plan(self, n: int) -> Plan:
        """Price a fit of n images; nothing is read."""
        recipe = find_recipe(self.recipe)
        facts = facts_of_images(self, n, image_design(recipe))
        if facts.budget.is_pure or facts.budget.is_infinite:
            raise SettingError("Images are fitted with Gaussian noise: give a finite epsilon and a delta above 0.")
        found = plan_descent(facts, recipe, mu_squared_of(facts.budget))
        return found.with_facts(*stated_of_images(recipe))

    def prepare(self, X: Any) -> PreparedImages:
        """Scatter images; each on its own, at no cost."""
        if isinstance(X, PreparedImages):
            return self._require(X)
        recipe, images = find_recipe(self.recipe), readable_images(X)
        self._require_shape(images.shape[1:], recipe)
        rows = image_rows(images, recipe.features, threads=self.threads, progress=self.progress)
        return PreparedImages(rows, recipe.features, images.shape[1:])

    def require(self, X: Any, y: Any) -> NDArray[Any]:
        """Refuse images or labels that this recipe does not take; return the labels."""
        recipe = find_recipe(self.recipe)
        if not isinstance(X, PreparedImages):
            self._require_shape(readable_images(X).shape[1:], recipe)
        labels = np.asarray(y) if refuses_images() else _codes(y, recipe.classes)
        if labels.shape != (len(X),) or labels.dtype.kind not in "iu" or not _within(labels, recipe.classes):
            raise DataError(f"y must have one whole number from 0 to {recipe.classes - 1} for each of {len(X)} images.")
        return labels

    def _require(self, prepared: PreparedImages) -> PreparedImages:
        recipe = find_recipe(self.recipe)
        self._require_shape(prepared.shape, recipe)
        if prepared.features != recipe.features:
            raise SettingError("These images were prepared for another recipe; prepare them again.")
        return prepared

    @staticmethod
    def _require_shape(shape: tuple[int, ...], recipe: ImageRecipe) -> None:
        if shape != recipe.shape:
            raise DataError(f'The recipe "{recipe.name}" is for images of shape {recipe.shape}; got {shape}.')

    def fit(
        self, X: Any, y: Any, watch: Callable[[int, NDArray[np.float64], MappedGradient], None] | None = None
    ) -> Self:
        """Fit labelled images, or `prepare`d ones. `watch` sees the public queries: steps done, theta, query."""
        with current_ledger.charged_for(self):
            return self._fit(X, y, watch)

    def _fit(self, X: Any, y: Any, watch: Callable[[int, NDArray[np.float64], MappedGradient], None] | None) -> Self:
        recipe = find_recipe(self.recipe)
        # Wrong settings, and ledgers that cannot price the plan, refuse before an image is read.
        require_price(self.plan(2), private=self.random_state is None)
        labels = self.require(X, y)
        planned = self.plan(len(X))
        source = X.rows[0] if isinstance(X, PreparedImages) else X
        table = GroupedTable(self.prepare(X).rows, labels, recipe.classes, source)
        first = planned.queries - planned.steps[-1].times

        def watched(done: int, query: Query) -> None:
            if watch is not None and isinstance(query, MappedGradient):
                watch(done - first, query.theta, query)

        self.release_: Release = table.run(planned, seed=self.random_state, progress=self.progress, watch=watched)
        self.plan_ = planned
        self.classes_ = np.arange(recipe.classes)
        self.__dict__.pop("certificate_", None)
        return self

    @cached_property
    def certificate_(self) -> Certificate:
        """What was guaranteed, and why it is true; it covers coefficients, means and whitenings."""
        check_is_fitted(self)
        release = self.release_
        found = release.channel_map
        maps = [] if found is None else [[group.mean, group.whitening, group.weight] for group in found.groups]
        covered = {"theta": plain(release.theta), "maps": plain(maps), "recipe": find_recipe(self.recipe).name}
        return Certificate.issue(release, covered=covered)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Linear predictors (n, classes) of new images."""
        check_is_fitted(self)
        channel_map = self.release_.channel_map
        if channel_map is None:
            raise SettingError("This release has no map of rows.")
        return mapped_margins(self.prepare(X).rows, channel_map, self.release_.theta)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest linear predictor."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])


def _codes(y: Any, classes: int) -> NDArray[Any]:
    """Labels cell by cell, 0 for what is none: no cell decides about another, not even by its type."""
    if isinstance(y, np.ndarray) and (y.ndim != 1 or y.dtype.kind not in "iufO"):
        raise DataError("y must be a list or an array of one dimension, of whole numbers.")
    number: Any = Real  # As a plain type it has no order for mypy.
    cells: list[Any] = y.tolist() if isinstance(y, np.ndarray) else list(y)

    def code(cell: Any) -> int:
        # A class of the cell's own may raise anything.
        with contextlib.suppress(Exception):
            # In a column with a missing cell pandas keeps whole numbers as floats.
            return int(cell) if isinstance(cell, number) and 0 <= cell < classes and cell == int(cell) else 0
        return 0

    return np.array([code(cell) for cell in cells], dtype=np.int64)


def _within(labels: NDArray[Any], classes: int) -> bool:
    return len(labels) > 0 and bool(labels.min() >= 0 and labels.max() < classes)


class PublicScore:
    """Accuracy on declared-public images while a fit runs: from public queries alone."""

    def __init__(self, images: PreparedImages, labels: NDArray[Any]) -> None:
        self._images, self._labels = images, labels
        self._predictor: MappedPredictor | None = None

    def __call__(self, theta: NDArray[np.float64], query: MappedGradient) -> float:
        """Share of the public images that these coefficients classify rightly."""
        if self._predictor is None:
            self._predictor = MappedPredictor(self._images.rows, query.channel_map)
        return float((self._predictor.margins(theta).argmax(axis=1) == self._labels).mean())
