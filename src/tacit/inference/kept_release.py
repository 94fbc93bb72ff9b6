"""A stored fit in the place of a release: what inference reads of a release and of its plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tacit.certificate.certificate import INFINITE
from tacit.certificate.fit_file import StoredFit
from tacit.certificate.stated_parts import SEEDED
from tacit.certificate.stored_inference import StoredInference
from tacit.contract.release import Sandwich
from tacit.contract.released_statistic import ReleasedStatistic
from tacit.design.design import Design
from tacit.losses.loss import Code

CODES: Mapping[str, Code] = MappingProxyType(
    {
        "binomial": Code.LOGISTIC,
        "multinomial": Code.SOFTMAX,
        "gaussian": Code.SQUARED,
        "huber": Code.HUBER,
        "quantile": Code.PINBALL,
        "poisson": Code.POISSON,
        "probit": Code.PROBIT,
        "cloglog": Code.CLOGLOG,
        "gamma": Code.GAMMA,
        "negative-binomial": Code.NEGATIVE_BINOMIAL,
    }
)
"""The loss that a family with intervals minimises."""


@dataclass(frozen=True)
class KeptLoss:
    """Which loss was minimised."""

    code: Code


@dataclass(frozen=True)
class KeptPlan:
    """Public facts of the plan that was run."""

    design: Design
    loss: KeptLoss
    records: int
    unit: str
    private: bool
    signal: float
    intervals_declined: bool = False
    level_only: bool = False


@dataclass(frozen=True)
class KeptRelease:
    """Coefficients and sandwich of a stored fit; they were paid for before it was stored."""

    plan: KeptPlan
    stored: StoredFit
    sandwich: Sandwich
    reproducible: bool

    @classmethod
    def of(cls, stored: StoredFit) -> KeptRelease | None:
        """The release of a fit; None where its file does not hold what inference needs."""
        found = StoredInference.read(stored.further, len(stored.estimates.terms))
        if found is None:
            return None
        document = stored.certificate.parsed
        why = document["why_not_private"]
        loss = KeptLoss(CODES[stored.family])
        plan = KeptPlan(
            stored.design, loss, document["records"]["value"], document["unit"], why != INFINITE, found.signal
        )
        return cls(plan, stored, found.sandwich, why == SEEDED)

    @property
    def statistics(self) -> tuple[ReleasedStatistic, ...]:
        """Statistics that were paid for."""
        return tuple(self.stored.statistics.values())

    def coefficients(self) -> NDArray[np.float64]:
        """Coefficients on the user's scale, the intercept first; one column a class if several."""
        return self.stored.coefficients
