"""What a ledger says of itself: what was spent, what is left, whether it holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.accounting import gaussian
from tacit.ledger.price import capacity_of
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
    remaining
        What is left, as a budget in mu, rounded down; None where nothing is.
    left
        The same as epsilon at the ledger's delta.
    more_like_last
        How many more charges as the last one there is room for; None before the first.
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
    """Read off a chain what is spent and left."""
    accounts, delta = chain.accounts, chain.terms.delta
    room = accounts.left(analyst)
    mu = root_down(room)
    last = chain.charges[-1].cost if chain.charges else None
    return Status(
        chain.budget,
        chain.guarantee() if chain.charges else None,
        Budget(mu=mu, delta=delta) if mu > 0.0 else None,
        _epsilon_of(mu, room, delta),
        None if last is None else math.floor(room / last) if last else None,
        {
            name: (
                float(whole / accounts.capacity),
                float(accounts.left(name) / accounts.capacity),
            )
            for name, whole in accounts.granted.items()
        },
        accounts.paused,
    )


def check_of(chain: Chain, unfinished: int) -> Check:
    """Say what a whole chain holds; after it, so many bytes of the file are no entry."""
    unreleased = sum(charge.release is None for charge in chain.charges)
    guarantee = chain.guarantee() if chain.charges else None
    spent = "Nothing was charged yet." if guarantee is None else f"All charges: {guarantee}."
    cut_short = (
        f" The last {unfinished} bytes are an entry that was cut short and never acknowledged; the "
        "next charge removes them."
        if unfinished
        else ""
    )
    refused = f" {chain.refusals} tables were refused." if chain.refusals else ""
    return Check(
        chain.length,
        len(chain.charges),
        unreleased,
        chain.head_hash,
        guarantee,
        f"The ledger holds: {chain.length} entries, {len(chain.charges)} charges, {unreleased} of "
        f"them without a release.{refused} {spent}{cut_short}",
    )


def root_down(square: Fraction) -> float:
    """Return the largest float whose exact square is at most the given one."""
    # 2^-1074 squared is 2^-2148: finer than any float's square.
    shift = 1100
    root = Fraction(math.isqrt(math.floor(square * 4**shift)), 2**shift)
    result = float(root)
    while Fraction(result) ** 2 > square:
        result = math.nextafter(result, 0.0)
    return result


def _epsilon_of(mu: float, room: Fraction, delta: float) -> Budget | None:
    """The epsilon at this delta that a room is worth, rounded down; None where it is nothing."""
    epsilon = gaussian.epsilon(mu, delta) if mu > 0.0 else 0.0
    while epsilon > 0.0:
        budget = Budget(epsilon=epsilon, delta=delta)
        if capacity_of(budget) <= room:
            return budget
        epsilon *= 1.0 - 2.0**-40
    return None
