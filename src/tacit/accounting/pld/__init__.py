"""Privacy-loss distributions: certified numerical composition of dominating pairs."""

from tacit.accounting.pld.composition import Composed, compose
from tacit.accounting.pld.pairs.pair import BelowRoundOff, GridTooLong

__all__ = ["BelowRoundOff", "Composed", "GridTooLong", "compose"]
