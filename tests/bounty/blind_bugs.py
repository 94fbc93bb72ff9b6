"""Bugs that were invented without a look at the checks or at the other bugs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.accounting import with_replacement
from tacit.contract import plan as plans
from tacit.contract.query import Answer
from tacit.engine import search as search_engine
from tacit.engine.ledger_use import charge_events
from tacit.errors import DataError
from tacit.estimators import fit as formula_fits
from tacit.estimators.evaluation import private_scores
from tacit.mechanisms import batch_gradient, means, moments, search_draws
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.gaussian import rounded_gaussian
from tacit.noise.record_sampling import ListedBatch, subset_batch
from tacit.noise.run_counts import drawn_runs
from tacit.rows.admission import contribution_bounding
from tacit.rows.encoding.outcome import OutcomeEncoder
from tacit.rows.sources.arrays import SparseSource
from tacit.rows.sources.source import SparseRows
from tacit.solvers import batch_schedule
from tests.bounty.bug import Bug

Patch = pytest.MonkeyPatch


def cells_twice(patch: Patch) -> None:
    """Entries of the same cell of a sparse row are not added up first: each is clipped by itself, their sum is not."""

    def rows(self: Any, start: int, stop: int) -> SparseRows:
        starts = self.matrix.indptr[start : stop + 1].astype(np.int64)
        stored = slice(starts[0], starts[-1])
        values = np.array(self.matrix.data[stored], dtype=np.float64)
        return SparseRows(starts - starts[0], self.matrix.indices[stored].astype(np.int64), values)

    patch.setattr(SparseSource, "_rows", rows)


def persons_of_a_batch(patch: Patch) -> None:
    """Persons are told apart batch by batch: one whose rows stand in two batches of a long table is two persons."""

    def numbers(known: dict[Any, int], forms: Sequence[Any]) -> Any:
        own: dict[Any, int] = {}
        found = []
        for form in forms:
            if form is not None and form not in own:
                own[form] = known[len(known), form] = len(known)
            found.append(-1 if form is None else own[form])
        return np.array(found, dtype=np.int64)

    patch.setattr(contribution_bounding, "person_numbers", numbers)


def shuffled_epochs(patch: Patch) -> None:
    """Batches of fixed size are cut one after the other from a shuffled table, and are priced as if drawn afresh."""
    left: dict[int, Any] = {}

    def cut(size: int, population: int, entropy: Any) -> ListedBatch:
        if size > population:
            return subset_batch(size, population, entropy)
        key = hash((id(entropy), size, population))
        deck = left.get(key, np.empty(0, dtype=np.int64))
        if len(deck) < size:
            deck = np.argsort(entropy.words(population), kind="stable").astype(np.int64)
        left[key] = deck[size:]
        return ListedBatch(np.sort(deck[:size]))

    patch.setattr(batch_gradient, "subset_batch", cut)


def means_within_a_group(patch: Patch) -> None:
    """A person's share in a group is the mean over the rows there, not over all rows: whole in each of many groups."""

    def add(shares: Any, codes: Any, usable: Any, starts: Any, counts: Any, bound: int, sums: Any, total: Any) -> None:
        for g, lane in np.argwhere(counts > 0):
            own = range(starts[g], starts[g] + counts[g, lane])
            inside = [t for t in own if usable[t, lane]]
            sums[:] = 0.0
            for t in inside:
                sums[codes[t, lane], 0] += 1.0
                sums[codes[t, lane], 1:] += np.clip(np.nan_to_num(shares[:, t, lane]), -1.0, 1.0)
            for c in np.flatnonzero(sums[:, 0] > 0):
                total[c, 0] += bound
                total[c, 1:] += np.rint(bound * (sums[c, 1:] / sums[c, 0])).astype(np.int64)

    patch.setattr(means, "add_persons", add)


def evaluation_of_rows(patch: Patch) -> None:
    """An evaluation of a formula fit forgets the units with the weights: every row of a person counts as one unit."""

    def scores(design: Any, *more: Any, **named: Any) -> Any:
        return private_scores(replace(design, attached=replace(design.attached, unit=None)), *more, **named)

    patch.setattr(formula_fits, "private_scores", scores)


def one_trial_at_least(patch: Patch) -> None:
    """A search draws again where its number of trials is 0, so that the number has not the law that it is priced by."""

    def drawn(law: Any, entropy: Any) -> int:
        while (runs := drawn_runs(law, entropy)) == 0:
            pass
        return runs

    patch.setattr(search_draws, "drawn_runs", drawn)


def refit_for_free(patch: Patch) -> None:
    """A ledger is charged for the trials of a search, and not for the fit of the winner to all rows."""

    def charged(events: Sequence[Any], *more: Any, **named: Any) -> Any:
        return charge_events(events[:1], *more, **named)

    patch.setattr(search_engine, "charge_events", charged)


def one_noise_for_both(patch: Patch) -> None:
    """The curvature and the score get the same noise matrix: their difference has none."""

    def noised(total: Any, unit: float, price: Any, entropy: Any, *, symmetric: bool = False) -> Answer:
        if entropy is None or not symmetric or total.ndim < 3:
            return noised_sum(total, unit, price, entropy, symmetric=symmetric)
        noise = rounded_gaussian(total[0].size, price.bits, entropy).reshape(total.shape[1:])
        both = 2 * total + (noise + noise.T)
        return Answer(both / (2 * unit), 2.0 ** (price.bits + 1) / (2 * unit))

    patch.setattr(moments, "noised_sum", noised)


def one_class_only(patch: Patch) -> None:
    """A table whose rows all have the same of the declared classes is refused, also inside a ledger."""
    sound = OutcomeEncoder.encode

    def encode(self: OutcomeEncoder, batch: Any) -> Any:
        numbers, valid = sound(self, batch)
        if self.labels and valid.any() and len(np.unique(numbers[valid, 0])) == 1:
            raise DataError("The response holds one class only; a classifier needs at least two.")
        return numbers, valid

    patch.setattr(OutcomeEncoder, "encode", encode)


def one_copy(patch: Patch) -> None:
    """Draws with replacement are priced as if a record that is drawn were drawn once."""
    sound = with_replacement.copies

    def once(draws: int, population: int) -> with_replacement.Copies:
        found = sound(draws, population)
        if draws == 0:
            return found
        one = np.ones(1)
        lower = max(1.0 - found.none * (1.0 + 2.0**-30), 0.0)
        return with_replacement.Copies(one, found.drawn * one, lower * one, found.none, found.drawn, 0.0)

    patch.setattr(with_replacement, "copies", once)
    # What was priced with the bug must not stay in a cache.
    for module, name in ((with_replacement, "_profile"), (plans, "_stated"), (batch_schedule, "_least_price")):
        patch.setattr(module, name, getattr(module, name).__wrapped__)


BUGS: tuple[Bug, ...] = (
    Bug("sparse cells twice", cells_twice, "sparse: cells stored twice, replace-one"),
    Bug("persons of a batch", persons_of_a_batch, "units: blocks, replace-one"),
    Bug("shuffled epochs", shuffled_epochs, "batches: independence, without-replacement"),
    Bug("means within a group", means_within_a_group, "units: groups, zero-out"),
    Bug("evaluation of rows", evaluation_of_rows, "units: evaluation, replace-one"),
    Bug("one trial at least", one_trial_at_least, "search: trials"),
    Bug("refit for free", refit_for_free, "search: refit"),
    Bug("one noise for both", one_noise_for_both, "noise: intervals"),
    Bug("one class only", one_class_only, "nothing else: logistic, replace-one"),
    Bug("one copy", one_copy, "prices"),
)
"""Each with the check that found it."""
