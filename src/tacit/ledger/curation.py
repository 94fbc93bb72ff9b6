"""What a curator does with a ledger besides charging: grants, a lower cap, pauses, refusals.

Every act is an entry of the chain, with its reason. Nothing here ever makes more room: grants move
it, the cap falls, pauses hold it back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from tacit.errors import LedgerError
from tacit.ledger.chain import Chain
from tacit.ledger.charge import Purpose
from tacit.ledger.entry import Entry
from tacit.ledger.terms import Terms
from tacit.privacy.budget import Budget


class Curation(ABC):
    """The curator's part of a ledger."""

    _purpose: Purpose

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """The terms that the ledger began with."""

    @abstractmethod
    def _append(self, draft: Callable[[Chain], Entry]) -> None:
        """Write the entry that follows from the newest state."""

    def grant(
        self,
        to: str | None,
        budget: Budget | None = None,
        *,
        source: str | None = None,
        reason: str = "",
    ) -> None:
        """Move room of the budget to an analyst, from another one or from what is common.

        From the first grant on, an analyst spends what was granted to that name and no more, and
        charges without a name spend what is granted to nobody.

        Parameters
        ----------
        to, source
            Names of analysts; None for the common room.
        budget
            How much: a budget of that worth. None moves all that `source` has left.
        reason
            Why, in at most 200 printable characters.

        Raises
        ------
        BudgetError
            If `source` has not that much left.

        Examples
        --------
        >>> from tacit.ledger import Ledger
        >>> ledger = Ledger(budget=Budget(epsilon=3, delta=1e-6))
        >>> ledger.grant("ana", Budget(epsilon=1, delta=1e-6))
        >>> ledger.grant("ben", source="ana", reason="ana has left")
        >>> ledger.remaining(analyst="ana") is None
        True
        """
        self._append(lambda chain: chain.draft_grant(source, to, budget, reason))

    def lower(self, budget: Budget, reason: str) -> None:
        """Lower the budget of the dataset; it can never be raised again.

        Raises
        ------
        BudgetError
            If it is more than the budget in force, or less than what is spent or granted.
        """
        self._append(lambda chain: chain.draft_lower(budget, reason))

    def pause(self, reason: str, *, analyst: str | None = None) -> None:
        """Refuse all charges, or those of one analyst, until `resume`."""
        self._append(lambda chain: chain.draft_pause(analyst, reason))

    def resume(self, reason: str, *, analyst: str | None = None) -> None:
        """Let charges go on that were paused."""
        self._append(lambda chain: chain.draft_pause(analyst, reason, resume=True))

    def note_refusal(
        self, *, label: str, formula: str | None = None, file: str | None = None
    ) -> None:
        """Write down that a table was refused because of a record; the error may then be raised.

        Raises
        ------
        LedgerError
            If the ledger was not opened for curators: nobody else is told of a record.
        """
        if self.terms.refusals != "curator":
            raise LedgerError(
                "in this ledger no record can make a fit fail. A curator who wants such errors "
                'begins one with refusals="curator"'
            )
        purpose = self._purpose.described(label, formula, file)
        self._append(lambda chain: chain.draft_refusal(purpose))
