r"""An odometer: a running bound of the privacy loss that holds at all times at once.

A filter has a budget from the start. An odometer has none: releases are recorded as they come, and
with probability at least :math:`1 - \delta` the privacy loss is below the reading at every time,
however the releases were chosen. Proof: ``proofs/accounting/odometer.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.accounting.accountants import ACCOUNTANTS, required_delta
from tacit.accounting.concentrated_dp import total_concentrated
from tacit.accounting.event_counts import tally
from tacit.accounting.rounding import float_up
from tacit.errors import AccountingError
from tacit.privacy.event import Event
from tacit.privacy.relation import Relation

# Readings are taken at rhos of this ladder; delta is shared out over its rungs.
_LOWEST_RHO = 2.0**-14
_RATIO = 1.25
_SLACK = 2.0**-44


@dataclass(frozen=True, slots=True)
class Odometer:
    r"""A record of releases of concentrated privacy, chosen as one goes along.

    With :math:`\bar\rho_j = 1.25^j 2^{-14}` the first rung at or above what was spent, and
    :math:`\delta_j = 6\delta/(\pi^2 (j + 1)^2)`, the reading is
    :math:`\bar\rho_j + 2\sqrt{\bar\rho_j \log(1/\delta_j)}`.

    Guarantee
    ---------
    - For each pair of neighbours, with probability at least 1 - delta, no loss ever exceeds the
      reading of its time.
    - Reading changes nothing; recording never lowers a reading.

    Parameters
    ----------
    relation
        Every release is recorded under it.
    spent
        The sum of the rhos so far.

    Examples
    --------
    >>> from tacit.privacy.event import Gaussian
    >>> before = Odometer(Relation.REPLACE_ONE)
    >>> after = before.after([Gaussian(1, 100)])
    >>> before.reading(1e-6), after.reading(1e-6) < 1.0
    (0.0, True)
    """

    relation: Relation
    spent: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation.parse(self.relation))

    def after(
        self, events: Iterable[Event] | Event, relation: Relation | str | None = None
    ) -> Odometer:
        """Return the odometer after releases."""
        if relation is not None and Relation.parse(relation) is not self.relation:
            raise AccountingError(
                f"a release under {relation} cannot be recorded under {self.relation}; guarantees "
                "of different relations are never added"
            )
        counted = tally([events] if isinstance(events, Event) else events, self.relation)
        found = total_concentrated(counted, self.relation)
        if found is None or found.leak > 0.0:
            refusal = ACCOUNTANTS["zcdp"].refusal(counted, self.relation)
            raise AccountingError(f"{refusal}. An odometer adds up rhos and cannot take it")
        return replace(self, spent=self.spent + found.rho)

    def reading(self, delta: float) -> float:
        """Return the bound of the loss so far that holds at all times with 1 - delta."""
        target = required_delta(delta)
        if self.spent == 0:
            return 0.0
        if target == 0.0:
            return math.inf
        spent = float_up(self.spent)
        if spent > 1e300:
            return math.inf
        rung = max(math.ceil(math.log(spent / _LOWEST_RHO) / math.log(_RATIO)), 0)
        while _LOWEST_RHO * _RATIO**rung * (1.0 - _SLACK) < spent:
            rung += 1
        rho = _LOWEST_RHO * _RATIO**rung
        log_inverse = math.log(math.pi**2 / 6.0) + 2.0 * math.log(rung + 1.0) - math.log(target)
        return (rho + 2.0 * math.sqrt(rho * log_inverse)) * (1.0 + _SLACK)
