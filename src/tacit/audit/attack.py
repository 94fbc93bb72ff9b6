"""An attack: two neighbouring worlds, what is claimed of them, and a score that tells them apart.

To audit something new, write a function from μ and a seed to `Worlds`, and enter it as an `Attack` in `registry.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tacit.accounting import gaussian
from tacit.accounting.composition import Composition
from tacit.audit.bounds import Floats, Scores
from tacit.contract.query import Progress
from tacit.errors import SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

DELTA = 1e-5
"""δ at which ε is stated where an attack has to choose one."""
PORTIONS = 50
"""Reports of progress for each world."""


class Subject(StrEnum):
    """What an attack is aimed at."""

    ESTIMATOR = "estimator"
    SOLVER = "solver"
    MECHANISM = "mechanism"


@dataclass(frozen=True)
class Worlds:
    """Two neighbouring simulated tables and the law of a score in each.

    `draw(world, runs)` gives fresh independent scores of world 0 or 1, higher in world 1. `claim` is what is claimed
    of the release that the score is computed from. `threshold` is for scores that are log-likelihood ratios: 0.
    """

    claim: Composition
    relation: Relation
    draw: Callable[[int, int], Floats]
    threshold: float | None = None


MakeWorlds = Callable[[float, int | None], Worlds]
"""Worlds for a μ, with noise of a seed, or of the operating system where it is None."""


@dataclass(frozen=True)
class Attack:
    """A named attack: what it is aimed at, and its worlds."""

    name: str
    subject: Subject
    worlds: MakeWorlds


def gaussian_budget(mu: float) -> Budget:
    """A budget of μ."""
    return Budget(mu=mu)


def pure_budget(mu: float) -> Budget:
    """A pure ε, of the amount that was asked for as μ: what is pure claims an ε and no μ."""
    return Budget(epsilon=mu, delta=0)


def approximate_budget(mu: float, delta: float = DELTA) -> Budget:
    """The ε that μ-GDP has at δ, for what has no μ of its own."""
    return Budget(epsilon=gaussian.epsilon(mu, delta), delta=delta)


def scores_of(worlds: Worlds, label: str, runs: int, progress: Progress | None) -> Scores:
    """Scores of so many runs in both worlds, drawn in portions so that progress can be told."""
    portions = [len(part) for part in np.array_split(np.arange(runs), min(PORTIONS, runs))]
    found: tuple[list[Floats], list[Floats]] = ([], [])
    done = 0
    for portion in portions:
        for world in (0, 1):
            drawn = np.asarray(worlds.draw(world, portion), dtype=np.float64)
            if drawn.shape != (portion,) or np.isnan(drawn).any():
                raise SettingError("An attack must give each run one score, which is a number.")
            found[world].append(drawn)
            done += portion
            if progress is not None:
                progress(done, 2 * runs, label)
    return Scores(np.concatenate(found[0]), np.concatenate(found[1]))
