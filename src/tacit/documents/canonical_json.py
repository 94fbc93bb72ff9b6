"""Canonical JSON: the one spelling of a document, and its digest.

The canonical spelling has sorted keys, no white space, every character beyond ASCII escaped, floats
in their shortest spelling, no NaN and no bare infinity. The digest is the SHA-256 of those bytes,
without the fields ``digest`` and ``signature``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.documents.reading import LONGEST_NUMBER

_UNDIGESTED = frozenset({"digest", "signature"})


def canonical(document: Mapping[str, Any]) -> str:
    """Return the one spelling of a document of plain data."""
    return json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical spelling, without ``digest`` and ``signature``.

    Guarantee
    ---------
    - The order of the keys and the white space of a file do not matter; everything else does.
    """
    digested = {name: value for name, value in document.items() if name not in _UNDIGESTED}
    return "sha256:" + hashlib.sha256(canonical(digested).encode("ascii")).hexdigest()


def plain(value: Any) -> Any:
    """Return a public fact as plain data: numpy's types unwrapped, infinities as ``"inf"``."""
    if type(value) is str:
        return _text(value)
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {_text(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        # In digits a longer one could be neither written nor read.
        return int(value) if value.bit_length() <= LONGEST_NUMBER else hex(value)
    # A type unknown to JSON is described: a certificate that cannot be written helps nobody.
    finite = isinstance(value, float) and math.isfinite(value)
    return float(value) if finite else _text(value)


def _text(value: object) -> str:
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
