"""Where events are imported from: every kind, and their JSON.

An event says what was released, in exact numbers. What it costs is the answer of an accountant.
"""

from tacit.privacy.basic_events import (
    DEEPEST_NESTING,
    LARGEST_BITS,
    LONGEST_LABEL,
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    Pure,
    Repeated,
    Votes,
)
from tacit.privacy.event_json import LONGEST_NUMBER, from_json, to_json
from tacit.privacy.sampling_events import (
    Law,
    NegativeBinomial,
    PoissonRuns,
    PoissonSampled,
    RandomStopping,
    SampledWithoutReplacement,
    SampledWithReplacement,
)

__all__ = [
    "Approximate",
    "BoundedRange",
    "Composed",
    "DEEPEST_NESTING",
    "DiscreteGaussian",
    "Event",
    "Gaussian",
    "LARGEST_BITS",
    "LONGEST_LABEL",
    "LONGEST_NUMBER",
    "Laplace",
    "Law",
    "NegativeBinomial",
    "ObjectivePerturbation",
    "PoissonRuns",
    "PoissonSampled",
    "Pure",
    "RandomStopping",
    "Repeated",
    "SampledWithReplacement",
    "SampledWithoutReplacement",
    "Votes",
    "from_json",
    "to_json",
]
