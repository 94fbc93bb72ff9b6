"""Premises of a guarantee that nobody declared: names of the assumed public facts, and their words.

A premise is listed in the certificate as a public fact whose source is "assumed", and is read aloud
beside the guarantee.
"""

from __future__ import annotations

from collections.abc import Collection

VALID = "every record is valid"
"""A fit that refuses invalid records has told, by not refusing, that there are none."""
ONE_RECORD = "each unit has at most one record"
"""Where no column says whose a record is, nothing bounds how many are one unit's."""

_RECORDS = frozenset({"row", "record"})
"""Units that are records themselves."""


def needs_one_record(unit: str, *, column: bool) -> bool:
    """Whether a guarantee for this unit assumes that a unit has one record.

    Examples
    --------
    >>> needs_one_record("patient", column=False), needs_one_record("patient", column=True)
    (True, False)
    >>> needs_one_record("row", column=False)
    False
    """
    return not column and unit not in _RECORDS


def premise_of(names: Collection[str]) -> str | None:
    """What must hold for the unit of a guarantee, by the names of the public facts."""
    return "each has at most one record" if ONE_RECORD in names else None


def premise_sentence(names: Collection[str], unit: str) -> str:
    """Every premise in one sentence, for the reader of a certificate; "" where there is none.

    Examples
    --------
    >>> premise_sentence([ONE_RECORD, VALID], "patient")
    'This assumes that each patient has at most one record and that every record is valid.'
    """
    texts = []
    if ONE_RECORD in names:
        texts.append(f"that each {unit} has at most one record")
    if VALID in names:
        texts.append(f"that {VALID}")
    return f"This assumes {' and '.join(texts)}." if texts else ""
