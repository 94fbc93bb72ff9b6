"""Events: the facts a guarantee is computed from.

An event says what was released, in exact numbers, and never what it costs: the price is the
business of an accountant. The meaning of an event never changes, so a stored one can be priced
again by a later, tighter accountant. The kinds live in `noise`, `promise`, `sampling` and
`structure`; this module is where they are imported from.
"""

from tacit.privacy.black_box_events import Approximate, BoundedRange, Pure
from tacit.privacy.codec import LONGEST_NUMBER, from_json, to_json
from tacit.privacy.composite_events import (
    Composed,
    Law,
    NegativeBinomial,
    PoissonRuns,
    RandomStopping,
    Repeated,
)
from tacit.privacy.event_base import DEEPEST_NESTING, LARGEST_BITS, LONGEST_LABEL, Event
from tacit.privacy.noise_events import (
    DiscreteGaussian,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    Votes,
)
from tacit.privacy.sampling_events import (
    PoissonSampled,
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
