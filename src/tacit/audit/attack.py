"""An attack: two neighbouring worlds, what is claimed of them, and a score that tells them apart.

To audit something new, write a function from μ and a seed to `Worlds`, and enter it as an `Attack` in `registry.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tacit.accounting import gaussian
from tacit.accounting.composition import Composition
from tacit.audit.bounds import Floats
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

DELTA = 1e-5
"""δ at which ε is stated where an attack has to choose one."""


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
