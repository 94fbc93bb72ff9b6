"""Checks of secret batches: their law, their freshness, the public divisor, and what steps over them cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

import tacit
from tacit.audit.single_answers import FIRST, SECOND, ZERO, prepared_table
from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.query import BatchGradientSum
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore
from tests.bounty import oracle
from tests.bounty.fits import LABELS, table_of
from tests.bounty.recorded_fits import Run, answered_as, recorded

RECORDS, ANSWERS, CLIP = 40, 400, 0.25
RARE = 1e-7
DELTA = 1e-5
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "own clip": {"clip": 1.0, "iterations": 8, "step_size": 0.1, "row_norm": 1.0, "sample_rate": 0.25},
    "whitened": {"sample_rate": 0.5},
}


def batch_is_wrong(sampling: Sampling) -> str | None:
    """Count the members of batches by answers with almost no noise: their law, and that no two are alike.

    Half of the records move the first coordinate by a whole clip, and half the second.
    """
    store = prepared_table([(FIRST, 0.0), (SECOND, 0.0)] * (RECORDS // 2), MemoryStore)
    population = 2**32 if sampling is Sampling.POISSON else RECORDS
    batches = Batches(sampling, population // 4, population)
    price = BatchPrice(2**30, 6, batches)
    responder = Responder(store, private=True, seed=None)
    answers = [responder.answer(BatchGradientSum(ZERO, CLIP), price) for _ in range(ANSWERS)]
    counts = np.array([it.value[:2] for it in answers]) * float(batches.rate) / CLIP
    if len({it.noise_scale for it in answers}) > 1 or np.abs(counts - np.rint(counts)).max() > 1e-4:
        return "the divisor of a batch is not the expected size"
    counts = np.rint(counts)
    sizes, rate = counts.sum(axis=1), 0.25
    if sampling is Sampling.POISSON:
        variance, share = RECORDS * rate * (1 - rate), float(sizes.var())
        ratio = ANSWERS * share / variance
        # The size of a batch is almost Gaussian: twice the width of the chi-squared quantiles is far out.
        if not 0.5 * stats.chi2.isf(1 - RARE, ANSWERS) < ratio < 2 * stats.chi2.isf(RARE, ANSWERS):
            return "batches do not have the law of Poisson samples"
        if abs(sizes.mean() - RECORDS * rate) > 6 * np.sqrt(variance / ANSWERS):
            return "a record is drawn at another rate than is priced"
    elif not (sizes == RECORDS * rate).all():
        return "batches of fixed size have another one"
    first = counts[:, 0] - counts[:, 0].mean()
    if not first.any() or abs(np.sum(first[1:] * first[:-1])) > 7 * np.sqrt(ANSWERS) * first.var():
        return "successive batches are alike"
    return None


def batch_is_unclipped() -> str | None:
    """A record may move the sum over a batch by the clip, however long its gradient is, and no more."""
    store = prepared_table([(np.array([40.0, 30.0, 0.0]), 0.0), (ZERO, 0.0)], MemoryStore)
    price = BatchPrice(2**30, 6, Batches(Sampling.POISSON, 1, 1))
    found = Responder(store, private=True, seed=None).answer(BatchGradientSum(ZERO, CLIP), price)
    return "a gradient in a batch is not clipped" if np.linalg.norm(found.value) > CLIP * 1.0001 else None


def fit(table: Any, relation: Relation, settings: Mapping[str, Any]) -> Any:
    """A stochastic fit, with its certificate."""
    model = tacit.LogisticRegression(
        epsilon=2.0,
        delta=DELTA,
        bounds=(-1, 1),
        classes=(0, 1),
        solver="stochastic",
        relation=str(relation),
        invalid_rows="zero",
        **settings,
    )
    model.fit(table["X"], table["y"])
    return model, model.certificate_, repr(model)


def steps_cost_more(name: str, relation: Relation) -> str | None:
    """Recount steps over Poisson batches by the textbook, beside the sums over all records."""
    found: list[Any] = []

    def fitting(table: Any) -> None:
        found.append(fit(table, relation, SETTINGS[name])[1])

    run = recorded(fitting, table_of(LABELS, 5))
    stated = found[0].parsed["total"]
    least = least_epsilon(run, relation)
    if least > stated["epsilon"] * 1.001 or stated["epsilon"] > 2.0:
        return f"the certificate says ε = {stated['epsilon']:.5g}, and the textbook at least {least:.5g}"
    return None


def least_epsilon(run: Run, relation: Relation) -> float:
    """ε of the steps alone: one record is in a batch, or is not, and nothing else is seen."""
    prices = [it.price for it in run.asked if isinstance(it.price, BatchPrice)]
    return oracle.batch_epsilon(prices[0], relation, len(prices), DELTA)


def else_leaves(name: str, relation: Relation) -> str | None:
    """What leaves a stochastic fit must be a function of its answers."""
    fitting = partial(fit, relation=relation, settings=SETTINGS[name])
    run = recorded(fitting, table_of(LABELS, 1))
    again = answered_as(fitting, table_of(LABELS, 2), run)
    same = (len(again.asked), again.left, again.warned) == (len(run.asked), run.left, run.warned)
    return None if same else "what leaves a fit depends on the records beyond the noised answers"


_PAIRS = [(name, relation) for name in SETTINGS for relation in Relation if relation is not Relation.ADD_REMOVE]
CHECKS: Mapping[str, Callable[[], str | None]] = {
    "batches: clip": batch_is_unclipped,
    **{f"batches: {sampling}": partial(batch_is_wrong, sampling) for sampling in Sampling},
    **{
        f"recount: stochastic {name}, {relation}": partial(steps_cost_more, name, relation) for name, relation in _PAIRS
    },
    **{f"nothing else: stochastic {name}, {it}": partial(else_leaves, name, it) for name, it in _PAIRS},
}
