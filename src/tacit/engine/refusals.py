"""Whom a refusal is for: what is done with invalid records outside a ledger and inside one.

An error about the content of a record is an exact answer about that record, and it is free. Outside
a ledger it goes to the curator, who holds the table. Inside one it would go to whoever fits, so
that there is none, unless the curator opened the ledger for it; then each is logged first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tacit.engine.charging import file_name
from tacit.errors import DataError, FileError, SettingError, TacitError
from tacit.ledger.current_ledger import active_ledger
from tacit.ledger.ledger import Ledger
from tacit.validate import one_of

CHOICES = ("error", "zero")
CURATOR = "curator"


@dataclass(frozen=True)
class Refusals:
    """What happens to invalid records in one fit, and who is told of a refusal first.

    Guarantee
    ---------
    - Inside a ledger, no record is refused for its content, unless its curator allowed it.
    - Where it is allowed, the log of the ledger holds the refusal before it is raised.
    """

    invalid_rows: str
    """ "error" or "zero"."""
    ledger: Ledger | None = None
    """The ledger whose log is told."""
    label: str = ""
    formula: str | None = None
    file: str | None = None

    @classmethod
    def settle(
        cls, wish: str | None, *, label: str = "", formula: str | None = None, data: Any = None
    ) -> Refusals:
        """Decide what invalid records do here and now, before a table is touched.

        Parameters
        ----------
        wish
            "error", "zero", or None: "error" outside a ledger, "zero" inside one.
        label, formula, data
            What is fitted, for the log: of `data` nothing but its path, where it has one.

        Raises
        ------
        SettingError
            If the wish is "error" inside a ledger that was not opened for it.

        Examples
        --------
        >>> Refusals.settle(None).invalid_rows
        'error'
        """
        if wish is not None:
            one_of("invalid_rows", wish, CHOICES)
        ledger = active_ledger()
        if ledger is None or wish != "error":
            return cls(wish or ("error" if ledger is None else "zero"))
        if ledger.terms.refusals != CURATOR:
            raise SettingError(
                'invalid_rows="error" is refused inside a ledger: whether a record is invalid '
                "would be told to whoever fits, exactly and free of charge. Three ways out: use "
                'invalid_rows="zero", which lets invalid records contribute nothing; mend the '
                "table outside the ledger; or, as the curator, begin the ledger with "
                'refusals="curator", which logs every refusal.'
            )
        return cls(wish, ledger, label, formula, file_name(data))

    @contextmanager
    def logged(self) -> Iterator[None]:
        """Log a refusal before it is raised, where there is a ledger to be told."""
        try:
            yield
        except (DataError, FileError):
            if self.ledger is not None:
                self._log(self.ledger)
            raise

    def _log(self, ledger: Ledger) -> None:
        try:
            ledger.note_refusal(label=self.label, formula=self.formula, file=self.file)
        except TacitError as failure:
            # What could not be logged is not told: the refusal is left out of the traceback.
            raise failure from None


def require_declared(what: str, how: str) -> None:
    """Refuse, inside a ledger, what would be read off the records for want of a declaration."""
    if active_ledger() is not None:
        raise SettingError(
            f"Inside a ledger {what} must be declared with {how}: to read them off the records "
            "would be an answer about single records, free of charge."
        )
