"""Bugs inside the wall: sensitivities, clipping, noise, batches, and how records are prepared."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.seeded_faults import half_noise, inverted, shrunk, unclipped
from tacit.contract import sensitivity
from tacit.contract.query import Answer, BatchGradientSum, QueryKind
from tacit.mechanisms import batch_gradient, counts, gaussian_sum, gradient, laplace_sum
from tacit.mechanisms.query_responder import MECHANISMS, Responder
from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.noise.gaussian import rounded_gaussian
from tacit.noise.record_sampling import PoissonBatch
from tacit.privacy.relation import Relation
from tacit.rows.admission import contribution_bounding
from tacit.rows.admission.clip_and_scale import Preparer
from tests.bounty.bug import Bug

Patch = pytest.MonkeyPatch


def missing_factor(patch: Patch) -> None:
    """Replace-one is priced as if a record were removed: the factor 2 of a gradient is missing."""
    patch.setitem(sensitivity._FACTORS[Relation.REPLACE_ONE], QueryKind.GRADIENT, 1)


def missing_root(patch: Patch) -> None:
    """Two matrices of norm S differ by up to √2·S: priced as S."""
    patch.setitem(sensitivity._FACTORS[Relation.REPLACE_ONE], QueryKind.SECOND_MOMENTS, 1)


def one_count_for_all(patch: Patch) -> None:
    """A record changes k counts, and one is paid for."""
    found = sensitivity.squared_sensitivity
    patch.setattr(
        sensitivity,
        "squared_sensitivity",
        lambda kind, bound, relation, size=1: found(kind, bound, relation, 1 if kind is QueryKind.COUNTS else size),
    )


def divided_by_batch(patch: Patch) -> None:
    """The sensitivity of a sum is divided by a batch size, as if it were a mean."""
    patch.setattr(sensitivity, "squared_sensitivity", shrunk)


def unclipped_gradient(patch: Patch) -> None:
    """Gradients of up to four times the clip are added as they are."""
    patch.setattr(gradient, "gradients", unclipped)


def unclipped_intercept(patch: Patch) -> None:
    """The gradient of the intercept, which is the last one, is left out of the clipping."""
    found = gradient.integer_gradient_sum

    def summed(query: Any, bound: int, store: Any) -> Any:
        total = np.array(found(query, bound, store))
        total[-1] = found(replace(query, clip=4 * query.clip), 4 * bound, store)[-1]
        return total

    patch.setattr(gradient, "integer_gradient_sum", summed)


def half_the_noise(patch: Patch) -> None:
    """Half the noise that is paid for."""
    patch.setattr(gaussian_sum, "rounded_gaussian", half_noise)


def reused_noise(patch: Patch) -> None:
    """Noise is drawn once for each size, and added to every answer of that size."""
    kept: dict[tuple[int, int], Any] = {}

    def reused(size: int, bits: int, entropy: Any) -> Any:
        if (size, bits) not in kept:
            kept[size, bits] = rounded_gaussian(size, bits, entropy)
        return kept[size, bits]

    patch.setattr(gaussian_sum, "rounded_gaussian", reused)


def fixed_seed(patch: Patch) -> None:
    """Every fit draws the same words, of a seed in the code."""

    def responder(self: Responder, store: Any, *, private: bool, seed: int | None) -> None:
        self._store, self._settled = store, None
        self._entropy = SeededEntropy(1 if seed is None else seed) if private else None

    patch.setattr(Responder, "__init__", responder)


def same_noise_in_every_coordinate(patch: Patch) -> None:
    """One number is drawn and added to all coordinates: differences of coordinates are exact."""
    patch.setattr(
        gaussian_sum,
        "rounded_gaussian",
        lambda size, bits, entropy: np.repeat(rounded_gaussian(1, bits, entropy), size),
    )


def textbook_noise(patch: Patch) -> None:
    """Noise in floating point, whose last bits tell the sum."""

    def noised(total: Any, unit: float, price: Any, entropy: Any, *, symmetric: bool = False) -> Answer:
        exact, scale = total / unit, 2.0**price.bits / unit
        if entropy is None:
            return Answer(exact, 0.0)
        noise = np.random.default_rng().normal(size=total.shape)
        return Answer(exact + scale * ((noise + noise.swapaxes(-1, -2)) / 2 if symmetric else noise), scale)

    for module in (gradient, batch_gradient, counts):
        patch.setattr(module, "noised_sum", noised)


def inverted_laplace(patch: Patch) -> None:
    """Laplace noise of scale ε/Δ in the place of Δ/ε."""
    patch.setattr(laplace_sum, "discrete_laplace", inverted)


def realised_batch_size(patch: Patch) -> None:
    """A sum over a batch is divided by the number of records that were drawn, not by the expected one."""
    found, drawn = batch_gradient.answer_batch_gradient, batch_gradient.drawn
    sizes: list[int] = []

    def noted(batches: Any, length: int, entropy: Any) -> Any:
        batch = drawn(batches, length, entropy)
        sizes[:] = [max(1, len(batch.members(0, length))), length]
        return batch

    def answer(query: Any, price: Any, store: Any, entropy: Any) -> Answer:
        made = found(query, price, store, entropy)
        factor = float(price.batches.rate) * sizes[1] / sizes[0]
        return Answer(made.value * factor, made.noise_scale * factor)

    patch.setattr(batch_gradient, "drawn", noted)
    patch.setitem(MECHANISMS, BatchGradientSum, answer)


def reused_batch(patch: Patch) -> None:
    """One batch is drawn for all steps, and each is priced as if it were fresh."""
    kept: dict[int, Any] = {}

    def drawn(batches: Any, length: int, entropy: Any) -> Any:
        return kept.setdefault(length, PoissonBatch(batches.numerator, entropy))

    patch.setattr(batch_gradient, "drawn", drawn)


def double_rate(patch: Patch) -> None:
    """Batches hold twice as many records as are priced."""

    def drawn(batches: Any, length: int, entropy: Any) -> Any:
        return PoissonBatch(min(2 * batches.numerator, 1 << 32), entropy)

    patch.setattr(batch_gradient, "drawn", drawn)


def unclipped_batch(patch: Patch) -> None:
    """Gradients of up to four times the clip are added to the sum over a batch."""
    found = gradient.integer_gradient_sum

    def summed(query: Any, bound: int, store: Any) -> Any:
        return found(replace(query, clip=4 * query.clip), 4 * bound, store)

    patch.setattr(batch_gradient, "integer_gradient_sum", summed)


def predictable_entropy(patch: Patch) -> None:
    """Noise is made of a generator that is no secret."""

    def words(self: SystemEntropy, count: int) -> Any:
        return np.random.default_rng().integers(2**64, size=count, dtype=np.uint64)

    patch.setattr(SystemEntropy, "words", words)


def unpaid_standardisation(patch: Patch) -> None:
    """Columns are centred and scaled by the table's own mean and deviation before they are clipped."""
    found = Preparer.prepare

    def prepare(self: Preparer, values: Any, outcome: Any, valid: Any, tiles: Any, order: Any = None) -> None:
        usable = np.where(np.isfinite(values), values, 0.0)
        standard = (values - usable.mean(axis=0)) / (usable.std(axis=0) + 1e-9)
        found(self, np.ascontiguousarray(standard), outcome, valid, tiles, order)

    patch.setattr(Preparer, "prepare", prepare)


def unbounded_rows_of_a_unit(patch: Patch) -> None:
    """All records of a unit are kept, each with the weight of one of `max_rows_per_unit`."""
    found = contribution_bounding.admit_persons

    def admitted(source: Any, encoder: Any, preparer: Any, layout: Any, unit: Any, fewest: int) -> Any:
        # Every record is a person of its own.
        numbers = itertools.count()
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(
                contribution_bounding, "label_forms", lambda labels: [next(numbers) for _ in range(len(labels))]
            )
            return found(source, encoder, preparer, layout, unit, fewest)

    patch.setattr("tacit.rows.admission.admit_rows.admit_persons", admitted)


def exact_test_score(patch: Patch) -> None:
    """The score on private rows is released without noise, and its price is kept."""
    found = gaussian_sum.noised_sum

    def noised(total: Any, unit: float, price: Any, entropy: Any, **given: Any) -> Answer:
        if len(total) > 1 or entropy is None:
            return found(total, unit, price, entropy, **given)
        return Answer(total / unit, 2.0**price.bits / unit)

    patch.setattr(counts, "noised_sum", noised)


BUGS = (
    Bug("missing factor 2", missing_factor, "neighbours: clipped, replace-one"),
    Bug("missing root of 2", missing_root, "replay: covariance, replace-one"),
    Bug("k counts for one", one_count_for_all, "recount: private bounds, replace-one"),
    Bug("sensitivity over batch size", divided_by_batch, "neighbours: clipped, zero-out"),
    Bug("unclipped gradient", unclipped_gradient, "neighbours: clipped, zero-out"),
    Bug("unclipped intercept", unclipped_intercept, "neighbours: clipped, zero-out"),
    Bug("half the noise", half_the_noise, "audit: GradientSum"),
    Bug("reused noise", reused_noise, "noise: clipped"),
    Bug("noise of a fixed seed", fixed_seed, "noise: mean"),
    Bug("one noise for all coordinates", same_noise_in_every_coordinate, "noise: mean"),
    Bug("noise in floating point", textbook_noise, "noise: clipped"),
    Bug("inverted Laplace scale", inverted_laplace, "audit: GradientSum:pure"),
    Bug("realised batch size as divisor", realised_batch_size, "batches: poisson"),
    Bug("reused batch", reused_batch, "batches: poisson"),
    Bug("batches at twice the rate", double_rate, "batches: poisson"),
    Bug("unclipped batch", unclipped_batch, "batches: clip"),
    Bug("predictable entropy", predictable_entropy, "entropy"),
    Bug("unpaid standardisation", unpaid_standardisation, "neighbours: logistic, zero-out"),
    Bug("unbounded rows of a unit", unbounded_rows_of_a_unit, "neighbours: units, zero-out"),
    Bug("exact test score", exact_test_score, "noise: evaluation"),
)
"""Bugs of private answers."""
