"""Membership in a study from its published means: the q-score of Homer et al. (2008), on simulated genotypes.

A study publishes the mean x̄ of its members' genotypes at many sites. For a person with genotype y and the known means p
of the population the score is

    q(y) = ⟨y - p, x̄ - p⟩.

A member's own genotype is part of x̄, so the score of a member is higher by about ‖y - p‖² / n. With many more sites
than members that is seen for each member. Where the means are released with μ-GDP, every test has
detections ≤ Φ(Φ⁻¹(false alarms) + μ).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field

import numpy as np
from scipy import special, stats

from tacit.audit.bounds import Floats, Scores
from tacit.estimators.regressors import GaussianMean
from tacit.ledger.with_blocks import uncharged
from tacit.privacy.budget import Budget
from tacit.validate import positive, whole

FREQUENCIES = (0.05, 0.5)
"""Of the rarer allele at a site."""
COPIES = 2.0
"""Copies of an allele that a person may have."""
RARE = 1e-6
"""Probability with which the observed curve of a sound release lies above its bound by chance."""


@dataclass(frozen=True)
class MembershipResult:
    """Scores of people who are no members (first) and of members (second); `mu` of the release, None for exact means.

    Guarantee: for a μ-GDP release `within_bound` is false with probability at most 10⁻⁶, up to the dependence of the
    members' scores in one release.
    """

    scores: Scores = field(repr=False)
    members: int
    sites: int
    mu: float | None = None

    @property
    def auc(self) -> float:
        """Probability that a member has a higher score than one who is none."""
        first, second = self.scores.first, self.scores.second
        ranks = stats.rankdata(np.concatenate([first, second]))[len(first) :]
        return float((ranks.sum() - len(second) * (len(second) + 1) / 2) / (len(first) * len(second)))

    @property
    def largest_auc(self) -> float:
        """The most that a μ-GDP release allows: Φ(μ/√2), and 1 for exact means."""
        return 1.0 if self.mu is None else float(special.ndtr(self.mu / math.sqrt(2.0)))

    def bound(self, false_alarms: Floats) -> Floats:
        """The most detections at rates of false alarms."""
        if self.mu is None:
            return np.ones_like(false_alarms)
        return np.asarray(special.ndtr(special.ndtri(false_alarms) + self.mu))

    @property
    def within_bound(self) -> bool:
        """Whether the observed curve is nowhere above the bound by more than both rates may err."""
        alarms, detections = self.scores.roc()
        # Dvoretzky, Kiefer and Wolfowitz: no rate of m people errs by more than this.
        slack = [math.sqrt(math.log(2 / (RARE / 2)) / (2 * len(it))) for it in (self.scores.first, self.scores.second)]
        return bool(np.all(detections - slack[1] <= self.bound(np.clip(alarms + slack[0], 0.0, 1.0))))


def genotypes(rng: np.random.Generator, frequencies: Floats, people: int) -> Floats:
    """Copies of the rarer allele at each site, 0, 1 or 2, independent between sites and people."""
    return rng.binomial(int(COPIES), frequencies, size=(people, len(frequencies))).astype(np.float64)


def q_scores(people: Floats, released: Floats, population: Floats) -> Floats:
    """⟨y - p, x̄ - p⟩ of each person."""
    return np.asarray((people - population) @ (released - population))


def attack_means(
    *, mu: float | None = None, members: int = 100, sites: int = 3000, seed: int | None = None
) -> MembershipResult:
    """Release the means of simulated members, exactly or with μ-GDP, and score them and as many others.

    `seed` draws the people. The noise of a private release is always the operating system's.

    Examples
    --------
    >>> attack_means(seed=1).auc > 0.99
    True
    """
    members, sites = whole("members", members, 2), whole("sites", sites)
    rng = np.random.default_rng(seed)
    frequencies = rng.uniform(*FREQUENCIES, size=sites)
    inside, outside = (genotypes(rng, frequencies, members) for _ in range(2))
    released = inside.mean(axis=0) if mu is None else private_means(inside, positive("mu", mu))
    scores = (q_scores(people, released, COPIES * frequencies) for people in (outside, inside))
    return MembershipResult(Scores(*scores), members, sites, mu)


def private_means(people: Floats, mu: float) -> Floats:
    """Means with μ-GDP under replace-one."""
    model = GaussianMean(budget=Budget(mu=mu), bounds=(0.0, COPIES), solver="gradient")
    with uncharged("simulated records of an attack"), warnings.catch_warnings():
        # Of more columns than records, which is meant here.
        warnings.simplefilter("ignore")
        return np.asarray(model.fit(people).mean_)
