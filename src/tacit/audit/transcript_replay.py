"""Replayed transcripts: what the answers of a fit would have cost on a neighbouring table, against what was paid.

A fit is run on one table. Its solver is a function of the noised answers, so on the neighbouring table the same answers
would have led to the same queries. Their exact sums on both tables give the realised μ²,

    Σ over queries of ‖sum on one table - sum on the other‖² / 4^bits,

in exact rationals; where the noise is pure, the realised ε (`answer_laws`). A perturbed minimum, which is no sum, is
compared by the shift of its linear noise and by its Jacobian.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.audit.fits import AuditedFit
from tacit.audit.registry import REPLAYED, find
from tacit.audit.simulated_pairs import random_pair
from tacit.audit.twin_tables import Transcript
from tacit.contract.query import Progress
from tacit.errors import SettingError
from tacit.ledger.with_blocks import uncharged
from tacit.privacy.relation import Relation
from tacit.validate import positive, whole


@dataclass(frozen=True)
class ReplayResult:
    """How much of the budget was realised in the worst of some pairs of tables, and how often it was exceeded."""

    name: str
    relation: Relation
    pairs: int
    exceeded: int
    largest_share: Fraction
    """Largest realised μ² (or ε) of a transcript over what was paid for it."""
    largest_query_share: Fraction
    """The same for a single query."""

    @property
    def refuted(self) -> bool:
        """Whether a transcript cost more than was paid, in total or for one query."""
        return self.exceeded > 0

    def document(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "name": self.name,
            "relation": str(self.relation),
            "pairs": self.pairs,
            "exceeded": self.exceeded,
            "largest_share": float(self.largest_share),
            "largest_query_share": float(self.largest_query_share),
        }


def replay(
    name: str | AuditedFit,
    *,
    mu: float = 1.0,
    pairs: int = 1000,
    relation: str | Relation | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> ReplayResult:
    """Replay transcripts of a fit on random neighbouring tables, the worst pair known first.

    Guarantee: what is compared is exact, so a correct solver and its mechanisms never exceed what was paid.

    Parameters
    ----------
    name
        An estimator or a solver of `tacit.audit.names()`, or a `AuditedFit` of one's own.
    mu
        The budget; for what is pure, its ε.
    pairs
        Pairs of tables. `seed` draws them and the noise.
    relation
        What neighbours are; by default that of the attack of this name.

    Examples
    --------
    >>> found = replay("newton", pairs=3)
    >>> found.exceeded, found.largest_share <= 1
    (0, True)
    """
    mu, pairs = positive("mu", mu), whole("pairs", pairs)
    fit: AuditedFit = name if isinstance(name, AuditedFit) else find(name, REPLAYED)
    chosen = fit.relation if relation is None else Relation.parse(relation)
    rng = np.random.default_rng(whole("seed", seed, 0))
    exceeded, largest, largest_query = 0, Fraction(0), Fraction(0)
    with uncharged("simulated records of an audit"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = fit.plan(mu, chosen)
        if not plan.private:
            raise SettingError("A plan without noise has nothing to compare.")
        shape = chosen, fit.outcome, fit.records, fit.columns
        for number in range(pairs):
            pair = random_pair(rng, *shape) if number else fit.pair(*shape)
            transcript = fit.tables(plan, pair).run(int(rng.integers(2)), int(rng.integers(2**62)))
            whole_share, query_share = shares(transcript)
            exceeded += whole_share > 1 or query_share > 1
            largest, largest_query = max(largest, whole_share), max(largest_query, query_share)
            if progress is not None:
                progress(number + 1, pairs, fit.name)
    return ReplayResult(fit.name, chosen, pairs, exceeded, largest, largest_query)


def shares(transcript: Transcript) -> tuple[Fraction, Fraction]:
    """Realised over paid μ² or ε, of the transcript and of the worst query in it."""
    paid = sum((shift.paid for shift in transcript.shifts), Fraction(0))
    return transcript.realised / paid, max(shift.realised / shift.paid for shift in transcript.shifts)
