"""Rényi curves: upper bounds of divergences at each order, and what they guarantee.

Used where nothing tighter exists (selection, votes, subsampling of arbitrary mechanisms); Gaussian
releases have the exact curve of `tacit.accounting.gaussian`.
"""

from tacit.accounting.renyi.conversion import (
    delta,
    delta_from_values,
    epsilon,
    epsilon_from_values,
    pure_to_zcdp,
    tcdp_to_epsilon,
    zcdp_to_epsilon,
)
from tacit.accounting.renyi.curve import Curve, add, default_orders, group, repeat
from tacit.accounting.renyi.mechanisms import (
    bounded_range,
    gaussian,
    laplace,
    one_signed_objective,
    pure,
    tcdp,
    two_signed_objective,
    zcdp,
)
from tacit.accounting.renyi.poisson_gaussian import poisson_gaussian
from tacit.accounting.renyi.selection import (
    negative_binomial_mean,
    negative_binomial_selection,
    poisson_selection,
)
from tacit.accounting.renyi.subsampling import (
    poisson,
    with_replacement_gaussian,
    without_replacement,
    without_replacement_gaussian,
)

__all__ = [
    "Curve",
    "add",
    "bounded_range",
    "default_orders",
    "delta",
    "delta_from_values",
    "epsilon",
    "epsilon_from_values",
    "gaussian",
    "group",
    "laplace",
    "negative_binomial_mean",
    "negative_binomial_selection",
    "one_signed_objective",
    "poisson",
    "poisson_gaussian",
    "poisson_selection",
    "pure",
    "pure_to_zcdp",
    "repeat",
    "tcdp",
    "tcdp_to_epsilon",
    "two_signed_objective",
    "with_replacement_gaussian",
    "without_replacement",
    "without_replacement_gaussian",
    "zcdp",
    "zcdp_to_epsilon",
]
