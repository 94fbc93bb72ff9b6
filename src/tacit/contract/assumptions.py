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
