"""What a ledger says of itself: what was spent, what is left, whether it holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.accounting import gaussian
from tacit.ledger.exact_amounts import capacity_of, root_down
from tacit.privacy.budget import Budget, Guarantee

if TYPE_CHECKING:
    from tacit.ledger.chain import Chain


@dataclass(frozen=True)
class Status:
    """What was spent and what is left, for one analyst or for what is granted to nobody.

    Guarantee
    ---------
    - A charge of `remaining`, or of `left` at its delta, is accepted if nobody charges before it.
    - `more_like_last` further charges as the last one would be accepted, and not one more.

    Parameters
    ----------
    budget
        The budget in force for the dataset.
    spent
        What all charges of the ledger guarantee together; None before the first.
    remaining, left
        What is left, rounded down, in mu and as epsilon at the ledger's delta; None if nothing is.
    granted
        Of each analyst with a grant, the share of the budget that was granted and that is left.
    paused
        Why charges are refused, by analyst; under None for all.
    """

    budget: Budget
    spent: Guarantee | None
    remaining: Budget | None
    left: Budget | None
    more_like_last: int | None
    granted: Mapping[str, tuple[float, float]]
    paused: Mapping[str | None, str]

    def __str__(self) -> str:
        """Say in words what is left."""
        if self.left is None or self.left.epsilon is None:
            return "nothing is left"
        text = f"about ε = {self.left.epsilon:.4g} at δ = {self.left.delta:g}"
        if self.more_like_last is not None:
            fits = "fit" if self.more_like_last == 1 else "fits"
            text += f", or {self.more_like_last} more {fits} like the last"
        return text


@dataclass(frozen=True)
class Check:
    """What `Ledger.verify` found: how many entries and charges, the last hash, and so in words."""

    entries: int
    charges: int
    unreleased: int
    head: str
    guarantee: Guarantee | None
    statement: str


def status_of(chain: Chain, analyst: str | None) -> Status:
    """Compute from a chain what is spent and left."""
    accounts, delta = chain.accounts, chain.terms.delta
    left = accounts.left(analyst)
    mu = root_down(left)
    last = chain.charges[-1].cost if chain.charges else None
    shares = {
        name: (float(whole / accounts.capacity), float(accounts.left(name) / accounts.capacity))
        for name, whole in accounts.granted.items()
    }
    return Status(
        budget=chain.budget,
        spent=chain.guarantee(),
        remaining=Budget(mu=mu, delta=delta) if mu > 0.0 else None,
        left=_epsilon_of(mu, left, delta),
        more_like_last=math.floor(left / last) if last else None,
        granted=shares,
        paused=accounts.paused,
    )


def check_of(chain: Chain, unfinished: int) -> Check:
    """State what a whole chain holds; after it, so many bytes of the file are no entry."""
    unreleased = sum(charge.release is None for charge in chain.charges)
    guarantee = chain.guarantee()
    statement = (
        f"The ledger holds: {chain.length} entries, {len(chain.charges)} charges, {unreleased} of "
        "them without a release."
    )
    if chain.refusals:
        statement += f" {chain.refusals} tables were refused."
    statement += " Nothing was charged yet." if guarantee is None else f" All charges: {guarantee}."
    if unfinished:
        statement += (
            f" The last {unfinished} bytes are an entry that was cut short and never acknowledged; "
            "the next charge removes them."
        )
    return Check(
        chain.length, len(chain.charges), unreleased, chain.head_hash, guarantee, statement
    )


def _epsilon_of(mu: float, left: Fraction, delta: float) -> Budget | None:
    """The epsilon at this delta that is left, rounded down; None where it is nothing."""
    epsilon = gaussian.epsilon(mu, delta) if mu > 0.0 else 0.0
    while epsilon > 0.0:
        budget = Budget(epsilon=epsilon, delta=delta)
        if capacity_of(budget) <= left:
            return budget
        epsilon *= 1.0 - 2.0**-40
    return None
