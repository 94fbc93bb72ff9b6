"""Classical theorems about (epsilon, delta): optimal composition, subsampling, trade-offs."""

from tacit.accounting.classical.optimal import optimal_delta, optimal_epsilon
from tacit.accounting.classical.subsampling import (
    Amplified,
    amplified,
    amplified_by_poisson,
    amplified_without_replacement,
    replaced_by_poisson,
)
from tacit.accounting.classical.textbook import classical_gaussian_sigma, even_split
from tacit.accounting.classical.tradeoff import (
    Approximate,
    Gaussian,
    Profile,
    TradeOff,
    power_at,
)

__all__ = [
    "Amplified",
    "Approximate",
    "Gaussian",
    "Profile",
    "TradeOff",
    "amplified",
    "amplified_by_poisson",
    "amplified_without_replacement",
    "classical_gaussian_sigma",
    "even_split",
    "optimal_delta",
    "optimal_epsilon",
    "power_at",
    "replaced_by_poisson",
]
