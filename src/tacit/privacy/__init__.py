"""The words of privacy: relation, event, guarantee, budget. Standard library only."""

from tacit.privacy.budget import Budget as Budget
from tacit.privacy.budget import Guarantee as Guarantee
from tacit.privacy.event import Approximate as Approximate
from tacit.privacy.event import BoundedRange as BoundedRange
from tacit.privacy.event import Composed as Composed
from tacit.privacy.event import DiscreteGaussian as DiscreteGaussian
from tacit.privacy.event import Event as Event
from tacit.privacy.event import Gaussian as Gaussian
from tacit.privacy.event import Laplace as Laplace
from tacit.privacy.event import NegativeBinomial as NegativeBinomial
from tacit.privacy.event import ObjectivePerturbation as ObjectivePerturbation
from tacit.privacy.event import PoissonRuns as PoissonRuns
from tacit.privacy.event import PoissonSampled as PoissonSampled
from tacit.privacy.event import Pure as Pure
from tacit.privacy.event import RandomStopping as RandomStopping
from tacit.privacy.event import Repeated as Repeated
from tacit.privacy.event import SampledWithoutReplacement as SampledWithoutReplacement
from tacit.privacy.event import SampledWithReplacement as SampledWithReplacement
from tacit.privacy.event import SoftmaxPerturbation as SoftmaxPerturbation
from tacit.privacy.event import Votes as Votes
from tacit.privacy.relation import Relation as Relation
