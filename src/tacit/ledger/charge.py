"""One charge of a ledger: what was paid for, by whom, for which request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.errors import SettingError
from tacit.privacy.event import Event

LONGEST_LINE = 200
LONGEST_FORMULA = 1000

NOTES = {"analyst": LONGEST_LINE, "project": LONGEST_LINE, "formula": LONGEST_FORMULA}
NOTES |= {"file": LONGEST_FORMULA, "key": LONGEST_LINE, "request": LONGEST_LINE}
"""What a charge says besides its price, each None or one line of at most so many characters."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a charge is for, in public words; nothing in it is read from a record.

    Parameters
    ----------
    analyst, project
        Who asks, and for which work. An analyst with a grant is charged to it.
    formula, file
        The model and the name of the table, as they were given.
    key, request
        A key under which the answer is stored, and the digest of what was asked. The same request
        under the same key is answered from the ledger.
    """

    label: str = ""
    analyst: str | None = None
    project: str | None = None
    formula: str | None = None
    file: str | None = None
    key: str | None = None
    request: str | None = None

    def __post_init__(self) -> None:
        require_line("label", self.label, empty=True)
        for name, longest in NOTES.items():
            if getattr(self, name) is not None:
                require_line(name, getattr(self, name), longest=longest)

    def document(self) -> dict[str, str | None]:
        """Return the purpose as plain data."""
        return {"label": self.label, **{name: getattr(self, name) for name in NOTES}}

    def described(
        self, label: str, formula: object, file: object, request: str | None = None
    ) -> Purpose:
        """Return the purpose of one charge: what is fixed already stays, long texts are cut."""
        return replace(
            self,
            label=self.label or label,
            formula=shortened(formula, LONGEST_FORMULA),
            file=shortened(file, LONGEST_FORMULA),
            request=None if self.key is None else request,
        )

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Purpose:
        """Read what `document` wrote; entries of version 0.1 have a label and no more."""
        return cls(document["label"], **{name: document.get(name) for name in NOTES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge(Purpose):
    """What was paid for, when, and whether its answer is known to have left.

    `release` is the digest of the answer; None after an interruption, where the charge stays spent.
    """

    sequence: int
    time: str
    events: tuple[Event, ...]
    cost: Fraction
    release: str | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that is durable, so that its answer may be computed; `Ledger.commit` takes it.

    `answer` is what was stored under the key of the request. It was paid for before: nothing was
    charged now, and there is nothing to compute or to commit.
    """

    sequence: int
    hash: str
    answer: Mapping[str, Any] | None = None


def require_line(
    name: str, value: object, *, empty: bool = False, longest: int = LONGEST_LINE
) -> None:
    """Refuse what is not one line of printable text."""
    line = isinstance(value, str) and len(value) <= longest and value.isprintable()
    if not line or not (empty or str(value).strip()):
        raise SettingError(
            f"{name} is not a line of text; expected at most {longest} printable characters"
        )


def shortened(text: object, longest: int) -> str | None:
    """Return a text as one printable line of at most so many characters; None for nothing.

    Examples
    --------
    >>> shortened("y ~ age", 200), shortened(None, 200), shortened("a" * 10, 5)
    ('y ~ age', None, 'aaaa…')
    """
    if text is None:
        return None
    line = "".join(mark if mark.isprintable() else " " for mark in str(text)).strip()
    return (line if len(line) <= longest else line[: longest - 1] + "…") or None
