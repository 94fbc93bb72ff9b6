"""Privacy-loss distributions: certified numerical composition of dominating pairs."""

from tacit.accounting.pld._signals import BelowRoundOff, GridTooLong
from tacit.accounting.pld.composition import Composed, compose

__all__ = ["BelowRoundOff", "Composed", "GridTooLong", "compose"]
