"""The words of privacy: relation, event, guarantee, budget. Standard library only."""

from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    NegativeBinomial,
    ObjectivePerturbation,
    PoissonRuns,
    PoissonSampled,
    Pure,
    RandomStopping,
    Repeated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Votes,
)
from tacit.privacy.relation import Relation

__all__ = [
    "Approximate",
    "BoundedRange",
    "Budget",
    "Composed",
    "DiscreteGaussian",
    "Event",
    "Gaussian",
    "Guarantee",
    "Laplace",
    "NegativeBinomial",
    "ObjectivePerturbation",
    "PoissonRuns",
    "PoissonSampled",
    "Pure",
    "RandomStopping",
    "Relation",
    "Repeated",
    "SampledWithReplacement",
    "SampledWithoutReplacement",
    "Votes",
]
