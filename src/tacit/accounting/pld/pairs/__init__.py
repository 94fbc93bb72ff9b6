"""Dominating pairs of distributions, described by the distribution of their privacy loss."""

from tacit.accounting.pld.pairs.bounded_loss import (
    ExponentialPair,
    LaplacePair,
    RandomisedResponse,
    ReplacedLaplace,
    ReplacedResponse,
)
from tacit.accounting.pld.pairs.gaussian import (
    DiscreteGaussianPair,
    GaussianPair,
    ObjectivePerturbation,
    PoissonGaussian,
    WithoutReplacementGaussian,
)
from tacit.accounting.pld.pairs.pair import DIRECTIONS, Direction, Pair, Profile
from tacit.accounting.pld.pairs.sampled import FixedSizePair, PoissonPair

__all__ = [
    "DIRECTIONS",
    "Direction",
    "DiscreteGaussianPair",
    "ExponentialPair",
    "FixedSizePair",
    "GaussianPair",
    "LaplacePair",
    "ObjectivePerturbation",
    "Pair",
    "PoissonGaussian",
    "PoissonPair",
    "Profile",
    "RandomisedResponse",
    "ReplacedLaplace",
    "ReplacedResponse",
    "WithoutReplacementGaussian",
]
