"""The words of privacy: relation, event, guarantee, budget. Standard library only."""

from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, Gaussian, Repeated
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.relation import Relation

__all__ = ["Budget", "Event", "Gaussian", "Guarantee", "Relation", "Repeated"]
