"""The arithmetic that an answer's proof is about: exact integers, floats with a bounded error, or real numbers."""

from __future__ import annotations

from tacit.contract.block_price import DepthPrice
from tacit.contract.plan import Step
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import GammaPrice, PurePrice

REAL, BOUNDED, EXACT = "real-number proof", "bounded-float", "exact"
_COMPUTED = frozenset({QueryKind.MINIMUM, QueryKind.NOISY_MINIMUM, QueryKind.DIRECTION, QueryKind.NETWORK_GRADIENT})
"""Answers computed in floats, which have their proven error inside the sensitivity."""


def arithmetic_of(step: Step) -> str:
    """The arithmetic of a step's proof. Noise of Gamma norm, and draws from posteriors, are proven over the reals."""
    if isinstance(step.price, GammaPrice | PurePrice | DepthPrice) or step.kind is QueryKind.POSTERIOR:
        return REAL
    return BOUNDED if step.kind in _COMPUTED else EXACT
