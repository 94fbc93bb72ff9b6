"""A poisoning audit of the stochastic solver: a few records, made to be remembered, in an ordinary simulated table.

The attacker sees the released coefficients alone. The poison is a row in the direction in which the other rows vary the
least, with the label that they make unlikely: clipping does not shorten it, and no other record hides it (Jagielski,
Ullman and Oprea, NeurIPS 2020). In the first world these records are blank, in the second they are poison. The score is
the margin of the released model at the poison. With k poisoned records the worlds differ in a group of k, and the bound
is that of one record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.accounting.composition import compose
from tacit.audit.attack import DELTA, Worlds, approximate_budget, scores_of
from tacit.audit.bounds import Floats, epsilon_lower
from tacit.audit.fits import Seeds, fitted_quietly
from tacit.audit.twin_tables import Pair, Records
from tacit.contract.query import Progress
from tacit.estimators.classifiers import LogisticRegression
from tacit.ledger.with_blocks import uncharged
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.validate import positive, whole, within

RECORDS, COLUMNS = 128, 4
SPREAD = (0.6, 0.4, 0.3, 0.02)
"""Deviations of the columns: the last one hardly varies."""
STEPS, RATE, CLIP, STEP_SIZE = 20, 0.25, 0.5, 0.5
TABLE_SEED = 20
PILOT_SHARE = 10


@dataclass(frozen=True)
class PoisoningResult:
    """What poison showed: the claimed ε at δ, and a lower bound on that of one record."""

    epsilon_claimed: float
    epsilon_lower: float
    delta: float
    confidence: float
    poisons: int
    runs: int

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon_lower > self.epsilon_claimed

    def document(self) -> dict[str, Any]:
        """The result as plain data."""
        return {**vars(self), "refuted": self.refuted}


def poisoned_pair(poisons: int) -> Pair:
    """A simulated table with so many blank records, and the same with poison in their place."""
    rng = np.random.default_rng(TABLE_SEED)
    X = np.clip(rng.normal(size=(RECORDS, COLUMNS)) * SPREAD, -1.0, 1.0)
    y = (X[:, 0] + 0.3 * rng.normal(size=RECORDS) > 0).astype(np.int64)
    clean, poisoned = X.copy(), X.copy()
    clean[:poisons] = np.nan
    poisoned[:poisons] = poison(X)
    y[:poisons] = 1
    return Pair(Records(clean, y), Records(poisoned, y))


def poison(X: Floats) -> Floats:
    """A row of norm 1 in the direction in which the rows vary the least."""
    return np.asarray(np.linalg.svd(X, full_matrices=False)[2][-1])


def _model(budget: Budget, seed: int | None) -> LogisticRegression:
    return LogisticRegression(
        budget=budget,
        bounds=(-1.0, 1.0),
        row_norm=1.0,
        fit_intercept=False,
        classes=(0, 1),
        relation=str(Relation.ZERO_OUT),
        invalid_rows="zero",
        solver="stochastic",
        clip=CLIP,
        step_size=STEP_SIZE,
        iterations=STEPS,
        sample_rate=RATE,
        output="last",
        random_state=seed,
    )


def poisoned_worlds(budget: Budget, poisons: int, seed: int | None) -> Worlds:
    """Two worlds that differ in so many records; the score is the margin at the poison."""
    pair, seeds = poisoned_pair(poisons), Seeds(seed)
    plan = _model(budget, None).plan(RECORDS, COLUMNS)
    direction = pair.second.X[0]

    def draw(world: int, runs: int) -> Floats:
        records = pair[world]
        models = (fitted_quietly(_model(budget, seeds.next()), records) for _ in range(runs))
        return np.array([float(direction @ model.coef_.ravel()) for model in models])

    return Worlds(compose(plan.events(), plan.relation), plan.relation, draw)


def one_poison(mu: float, seed: int | None) -> Worlds:
    """Worlds that differ in one poisoned record, at the ε that μ-GDP has at δ."""
    return poisoned_worlds(approximate_budget(mu), 1, seed)


def run_poisoning(
    *,
    epsilon: float,
    delta: float = DELTA,
    poisons: int = 4,
    runs: int = 1000,
    confidence: float = 0.999,
    seed: int | None = None,
    progress: Progress | None = None,
) -> PoisoningResult:
    """Fit a simulated table with and without poison many times, and bound the ε of one record from below.

    Guarantee: the bound exceeds the true ε at δ with probability at most 1 - confidence.

    Examples
    --------
    >>> found = run_poisoning(epsilon=4.0, poisons=8, runs=100, seed=1)
    >>> found.refuted
    False
    """
    epsilon, delta = positive("epsilon", epsilon), within("delta", delta, 1e-12, 0.5)
    poisons, runs = whole("poisons", poisons, 1, RECORDS // 2), whole("runs", runs, 100)
    alpha = 1.0 - within("confidence", confidence, 0.8, 1 - 1e-12)
    pilots = max(runs // PILOT_SHARE, 50)
    with uncharged("simulated records of an audit"):
        worlds = poisoned_worlds(Budget(epsilon=epsilon, delta=delta), poisons, seed)
        pilot, counted = scores_of(worlds, "poisoning", runs + pilots, progress).split(pilots)
    lower = epsilon_lower(pilot, counted, delta, alpha, poisons)
    return PoisoningResult(worlds.claim.epsilon(delta), lower, delta, confidence, poisons, runs)
