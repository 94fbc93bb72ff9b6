"""The result of an audit: what was claimed, what the attack showed, and the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from scipy import special

from tacit.accounting import gaussian
from tacit.accounting.composition import Composition
from tacit.audit.attack import Subject
from tacit.audit.bounds import Scores
from tacit.display import Displayed
from tacit.privacy.relation import Relation


@dataclass(frozen=True, repr=False)
class AuditResult(Displayed):
    """What an attack showed of a claim; each lower bound holds with the stated confidence.

    Guarantee: where the claim is true, `refuted` is wrong with probability at most 1 - confidence.

    Attributes
    ----------
    mu_claimed
        The claimed μ. Of what has no μ: that of a Gaussian release with the same least FPR + FNR.
    mu_lower
        Lower bound on μ.
    epsilon_claimed, epsilon_lower
        The claimed ε at `delta`, and a lower bound on it that holds for mechanisms of any kind.
    epsilon_of_mu_lower
        ε of a Gaussian release with `mu_lower`, at `delta`: a lower bound where the mechanism is Gaussian. None for a
        pure claim.
    delta
        δ of the two ε; 0 for a pure claim.
    """

    name: str
    subject: Subject
    claim: Composition
    relation: Relation
    mu_claimed: float
    mu_lower: float
    epsilon_claimed: float
    epsilon_lower: float
    delta: float
    confidence: float
    runs: int
    seed: int | None = None
    scores: Scores = field(repr=False, kw_only=True)

    @property
    def epsilon_of_mu_lower(self) -> float | None:
        """ε of a Gaussian release with `mu_lower`, at `delta`; None at δ = 0, where it has none."""
        return gaussian.epsilon(self.mu_lower, self.delta) if self.delta else None

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted: by μ where it is one about μ, otherwise by ε at δ."""
        if self.claim.mu is not None:
            return self.mu_lower > self.mu_claimed
        return self.epsilon_lower > self.epsilon_claimed

    @property
    def statement(self) -> str:
        """The verdict in a sentence."""
        level = f"{self.confidence:.6g}"
        if self.claim.mu is not None:
            bound = f"μ ≥ {floored(self.mu_lower)} at confidence {level}"
            claim = f"μ = {self.mu_claimed:.6g}"
        else:
            bound = f"ε ≥ {floored(self.epsilon_lower)} at confidence {level}"
            claim = f"ε = {self.epsilon_claimed:.6g} at δ = {self.delta:g}"
        if self.refuted:
            return f"The claim {claim} is refuted: the attack shows {bound}."
        return f"The claim {claim} stands: the attack shows {bound}. That it stands is no proof."

    def document(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "name": self.name,
            "subject": str(self.subject),
            "relation": str(self.relation),
            "mu_claimed": self.mu_claimed,
            "mu_lower": self.mu_lower,
            "epsilon_claimed": self.epsilon_claimed,
            "epsilon_lower": self.epsilon_lower,
            "epsilon_of_mu_lower": self.epsilon_of_mu_lower,
            "delta": self.delta,
            "confidence": self.confidence,
            "runs": self.runs,
            "refuted": self.refuted,
            "statement": self.statement,
        }

    def __str__(self) -> str:
        """The verdict, with what was attacked."""
        return f"{self.name} ({self.subject}), {self.runs} runs per world. {self.statement}"


def equivalent_mu(claim: Composition) -> float:
    """μ of the Gaussian release with the same δ at ε = 0, which is 1 minus the least FPR + FNR; rounded up."""
    variation = min(claim.delta(0.0), 1.0 - 2.0**-53)
    return math.nextafter(2.0 * float(special.ndtri((1.0 + variation) / 2.0)) * (1.0 + 1e-12), math.inf)


def floored(value: float) -> str:
    """A number with three decimals, rounded down."""
    return f"{math.floor(value * 1000) / 1000:.3f}"
