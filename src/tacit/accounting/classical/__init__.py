"""The classical theorems as functions: composition, calibration, subsampling, trade-offs."""

from tacit.accounting.classical.calibration import classical_gaussian_sigma
from tacit.accounting.classical.composition import (
    advanced,
    advanced_heterogeneous,
    advanced_split,
    basic,
    even_split,
)
from tacit.accounting.classical.forecast import (
    Forecast,
    forecast_poisson,
    forecast_without_replacement,
)
from tacit.accounting.classical.group import group_approximate, group_gaussian, group_profile
from tacit.accounting.classical.optimal import optimal_delta, optimal_epsilon
from tacit.accounting.classical.subsampling import (
    Amplified,
    amplified_by_poisson,
    amplified_with_replacement,
    amplified_without_replacement,
    replaced_by_poisson,
)
from tacit.accounting.classical.tradeoff import (
    Approximate,
    Gaussian,
    Profile,
    TradeOff,
    inverse_at,
    power_at,
    symmetrised,
)

__all__ = [
    "Amplified",
    "Approximate",
    "Forecast",
    "Gaussian",
    "Profile",
    "TradeOff",
    "advanced",
    "advanced_heterogeneous",
    "advanced_split",
    "amplified_by_poisson",
    "amplified_with_replacement",
    "amplified_without_replacement",
    "basic",
    "classical_gaussian_sigma",
    "even_split",
    "forecast_poisson",
    "forecast_without_replacement",
    "group_approximate",
    "group_gaussian",
    "group_profile",
    "inverse_at",
    "optimal_delta",
    "optimal_epsilon",
    "power_at",
    "replaced_by_poisson",
    "symmetrised",
]
