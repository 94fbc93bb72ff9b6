"""Privacy-loss distributions: certified numerical composition of dominating pairs."""

from tacit.accounting.pld.calibration import largest_count, largest_rate, smallest_noise
from tacit.accounting.pld.composition import Composed, compose
from tacit.accounting.pld.grid import BelowRoundOff, GridTooLong

__all__ = [
    "BelowRoundOff",
    "Composed",
    "GridTooLong",
    "compose",
    "largest_count",
    "largest_rate",
    "smallest_noise",
]
