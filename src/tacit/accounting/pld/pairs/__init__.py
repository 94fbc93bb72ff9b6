"""Dominating pairs of distributions, described by the law of their privacy loss."""

from tacit.accounting.pld.pairs.discrete import DiscreteGaussianPair
from tacit.accounting.pld.pairs.normal import GaussianPair, ObjectivePerturbation
from tacit.accounting.pld.pairs.pair import DIRECTIONS, Direction, Pair
from tacit.accounting.pld.pairs.profile import Profile
from tacit.accounting.pld.pairs.pure import ExponentialPair, LaplacePair, RandomisedResponse
from tacit.accounting.pld.pairs.sampled import PoissonGaussian, WithoutReplacementGaussian

__all__ = [
    "DIRECTIONS",
    "Direction",
    "Pair",
    "GaussianPair",
    "LaplacePair",
    "RandomisedResponse",
    "DiscreteGaussianPair",
    "PoissonGaussian",
    "WithoutReplacementGaussian",
    "ExponentialPair",
    "ObjectivePerturbation",
    "Profile",
]
