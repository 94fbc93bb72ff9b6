"""The kinds of a response whose classes were not declared.

Private: the response. What is returned is assumed public, and the certificate says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.encoding.labels import REMEMBERED, NormalForm, normal_form
from tacit.rows.sources.source import Source, names_read, require_columns, require_records

MOST = 1000
"""Kinds beyond which a response is taken for a number or a name rather than for a class."""
LONGEST = 1000
"""Letters of a label beyond which it is no class."""
_LABELS = (np.generic, Decimal, date, Enum)
"""Types whose labels are classes as they are, like plain ones; others are their text."""


def read_classes(source: Source, column: str, *, most: int = MOST, fewest: int = 2) -> list[Any]:
    """The labels of a response, smallest first (numbers by value, before text).

    Labels are told apart by their normal form; missing ones are no class, nor are those that are
    longer than 1000 letters or cannot be written. Reading stops at the first label of one kind more
    than `most`. Fewer than `fewest` records are refused as too few; it is 0 where their number is
    private.

    Guarantee
    ---------
    - The answer does not depend on the order of the records.
    - No message contains a label or the number of labels found, nor, where `fewest` is 0, does one
      tell of the number of records.
    - Whatever a label is, no other error than these is raised.
    """
    require_columns(names_read(source), [column])
    spellings: dict[NormalForm, Any] = {}
    length = 0
    for batch in source.batches(65_536, numeric=(), labels=(column,)):
        length += batch.length
        for label in _distinct(batch.labels(column)):
            form = normal_form(label)
            if form is not None and _writable(form):
                kind = type(label)
                own = label if kind in REMEMBERED or issubclass(kind, _LABELS) else str(form)
                spellings[form] = min(own, spellings.get(form, own), key=_spelling)
            if len(spellings) > most:
                raise DataError(
                    f"The response {column!r} has more than {most} kinds of labels. Declare those "
                    "that count with classes=…; records with another label are then invalid rows. "
                    "If it holds amounts rather than classes, use a regression."
                )
    require_records(length, fewest)
    if len(spellings) < 2:
        raise DataError(
            f"The response {column!r} needs two kinds of labels or more and has fewer. Declare "
            "them with classes=…"
        )
    return [spellings[form] for form in sorted(spellings, key=_order)]


def _distinct(labels: NDArray[Any]) -> Iterable[Any]:
    if labels.dtype.kind in "biuf":
        return np.unique(labels).tolist()  # type: ignore[no-any-return]
    plain = labels.tolist()
    # By type too: 1 and 1.0 are equal, and the first to come must not stand for the other.
    known = {(type(label), label): label for label in plain if type(label) in REMEMBERED}
    return [*known.values(), *(label for label in plain if type(label) not in REMEMBERED)]


def _writable(form: Decimal | str) -> bool:
    text = str(form)
    # Half of a pair of surrogates has no bytes.
    return len(text) <= LONGEST and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _spelling(label: object) -> tuple[int, str, str]:
    kind = type(label)
    text = str(label) if kind in REMEMBERED else str(normal_form(label))
    return len(text), text, kind.__name__


def _order(form: NormalForm) -> tuple[bool, Decimal, str]:
    if isinstance(form, Decimal):
        return False, form, ""
    return True, Decimal(0), str(form)
