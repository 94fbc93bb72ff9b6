r"""Who may spend how much, and what is left: one cap, and sub-budgets for named analysts.

All amounts are exact rationals, costs under the law of the ledger, so they add up without rounding:

.. math:: \text{capacity} = \text{common} + \sum_a \text{granted}_a ,\qquad
    \text{spent}_a \le \text{granted}_a,\quad \text{spent}_{\text{common}} \le \text{common}.

So the sum of all charges is within the capacity, whoever makes them. Names are bookkeeping: a
ledger does not know who calls it, and whoever may write the file may charge under any name.

Only the running total is rounded, to an integer:

.. math:: \text{spent} = \lceil 2^{62} \cdot \text{total} / \text{capacity} \rceil

For every integer N, :math:`\lceil N x \rceil \le N` exactly when :math:`x \le 1`. So the integer
test ``spent <= 2^62`` is the exact test ``total <= capacity``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from tacit.documents import canonical_json
from tacit.errors import BudgetError, CertificateError, LedgerError

require = partial(canonical_json.require, error=LedgerError)
"""Refuse with a message what does not hold, with `LedgerError` unless another `error` is given."""
COMMON = None  # The account of what was granted to nobody.
WHOLE = 2**62  # The whole budget in integer units.
TOLERANCE = Fraction(1, 10**9)
"""Relative excess of a stored capacity over the derived one, for the rounding of other versions."""
_NUMBER = re.compile(r"(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)


def units(total: Fraction, capacity: Fraction) -> int:
    """Integer units of a running total, rounded up: never decreasing in it, and above 0 when it is."""
    return math.ceil(total / capacity * WHOLE)


def read_number(text: object, longest: int, place: str) -> Fraction:
    """Read "a" or "a/b" of at most `longest` characters; the length is checked first."""
    if not isinstance(text, str) or len(text) > longest or not _NUMBER.fullmatch(text):
        raise CertificateError(f'{place} is no exact number; expected digits, "a" or "a/b"')
    try:
        return Fraction(text)
    except ValueError as error:
        # Python can be told to convert shorter numbers only.
        raise CertificateError(f"{place} has too many digits to be read here") from error


@dataclass(frozen=True, slots=True)
class Accounts:
    """The state of all accounts; every change returns a new state or is refused.

    `paused` says why charges are refused: of everybody under `COMMON`, or of an analyst. Guarantee: `total` never
    exceeds `capacity`, which never rises, and an analyst's charges never exceed what was granted. A grant moves budget
    that is left.
    """

    capacity: Fraction
    granted: Mapping[str, Fraction] = field(default_factory=dict)
    spent: Mapping[str | None, Fraction] = field(default_factory=dict)
    paused: Mapping[str | None, str] = field(default_factory=dict)

    @property
    def total(self) -> Fraction:
        """What all charges cost together."""
        return sum(self.spent.values(), Fraction(0))

    def account_of(self, analyst: str | None) -> str | None:
        """Return the account of an analyst; before the first grant all spend the common one."""
        if analyst is None or not self.granted:
            return COMMON
        if analyst not in self.granted:
            raise LedgerError(
                f"nothing was granted to the analyst {analyst!r} in this ledger. Is it misspelt? "
                "Otherwise ask the curator for a grant"
            )
        return analyst

    def left(self, analyst: str | None) -> Fraction:
        """What is left in the account of an analyst, or in the common one."""
        account = self.account_of(analyst)
        common = self.capacity - sum(self.granted.values(), Fraction(0))
        return (common if account is COMMON else self.granted[account]) - self.spent.get(account, 0)

    def require_open(self, analyst: str | None) -> None:
        """Refuse what would be refused at any price: paused charges, and an analyst without a grant."""
        for name in (COMMON, analyst):
            if name in self.paused:
                whose = "this ledger" if name is COMMON else f"the analyst {name!r}"
                raise LedgerError(
                    f"charges of {whose} are paused: {self.paused[name] or 'no reason was given'}. "
                    "Nothing was spent. Its curator can resume them"
                )
        self.account_of(analyst)

    def charged(self, analyst: str | None, cost: Fraction) -> Accounts:
        """Return the accounts after a charge; `BudgetError` where too little is left for it."""
        self.require_open(analyst)
        left = self.left(analyst)
        if cost > left:
            raise BudgetError(
                f"the ledger's budget does not allow this charge: it would take {self._share(cost)}"
                f" of the whole budget, and {self._share(left)} is left. Nothing was spent. Ask for"
                " less, for example with budget=ledger.remaining()"
            )
        account = self.account_of(analyst)
        return replace(self, spent={**self.spent, account: self.spent.get(account, 0) + cost})

    def moved(self, source: str | None, to: str | None, amount: Fraction | None) -> Accounts:
        """Return the accounts after a grant; without an amount all that is left is moved."""
        require(source != to, "a grant moves budget between two accounts; they are the same")
        known = source is COMMON or source in self.granted
        require(known, f"nothing was granted to {source!r}, so nothing can be taken back")
        left = self.left(source)
        amount = left if amount is None else amount
        if amount > left or amount < 0:
            whose = "granted to nobody" if source is COMMON else f"left to {source!r}"
            raise BudgetError(
                f"the grant is larger than what is {whose}: it would take {self._share(amount)} of "
                f"the budget, and {self._share(left)} is left there"
            )
        granted = dict(self.granted)
        for name, change in ((source, -amount), (to, amount)):
            if name is not COMMON:
                granted[name] = granted.get(name, 0) + change
        return replace(self, granted=granted)

    def lowered(self, capacity: Fraction) -> Accounts:
        """Return the accounts under a smaller cap; what is spent or granted must fit into it."""
        require(capacity <= self.capacity, "the budget of a ledger may be lowered, never raised", error=BudgetError)
        if self.capacity - capacity > self.left(COMMON):
            raise BudgetError(
                "the budget cannot be lowered below what is spent or granted already. Take grants "
                "back first, or pause the ledger to stop all charges"
            )
        return replace(self, capacity=capacity)

    def halted(self, analyst: str | None, reason: str | None) -> Accounts:
        """Return the accounts with charges paused for a reason, or resumed (None)."""
        paused = {name: why for name, why in self.paused.items() if name != analyst}
        require(reason is not None or len(paused) < len(self.paused), "charges are not paused there; nothing to resume")
        if reason is not None:
            paused[analyst] = reason
        return replace(self, paused=paused)

    def _share(self, amount: Fraction) -> str:
        return f"{float(amount / self.capacity):.3g}"
