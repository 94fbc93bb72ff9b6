"""JSON documents: read strictly, spelled canonically, and their digests.

A stranger may have written what is read: everything that costs time is bounded before anything is computed from it. The
canonical spelling has sorted keys, no white space, ASCII escapes, shortest floats, no NaN and no bare infinity. The
digest is the SHA-256 of those bytes, without the fields ``digest`` and ``signature``.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.errors import CertificateError, InputError
from tacit.files import LARGEST_FILE, read_bytes

LARGEST_DOCUMENT = LARGEST_FILE
MOST_VALUES = 2**21  # Values in one document, counted by the marks that separate them.
LONGEST_NUMBER = 1024  # Characters of one number: far more than a float needs, and read in no time.
DEEPEST_DOCUMENT = 24

FieldTypes = Mapping[str, tuple[type, ...]]
"""Fields of an object and the types that each may have; `object` lets any value pass."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_TYPES = {kind.__name__: kind for kind in (str, int, float, bool, list, dict, object)} | {"None": type(None)}
LONGEST_QUOTED = 60
_WORD = re.compile(r"[A-Za-z0-9]+([-_][A-Za-z0-9]+)*", re.ASCII)
_MARKS = frozenset('"\\“”„‟«»″‶＂ʺ˝״〝〞')  # The mark itself, the one that escapes it, and what looks like the mark.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that count as printable and show nothing: fillers, joiners, variation selectors."""


def fields_of(spelled: str) -> FieldTypes:
    """Return the fields that a text spells as "name:type", with several types as "name:float|None"."""
    pairs = (field.split(":") for field in spelled.split())
    return {name: tuple(_TYPES[kind] for kind in kinds.split("|")) for name, kinds in pairs}


SQLITE = b"SQLite format 3"
"""What the file of a ledger begins with."""


def require(holds: object, message: str, error: type[InputError] = CertificateError) -> None:
    """Refuse with a message what does not hold."""
    if not holds:
        raise error(message)


def parse_document(text: str | bytes, largest: int = LARGEST_DOCUMENT) -> dict[str, Any]:
    """Read a JSON object of bounded size and depth, without duplicates, NaN or overflow."""
    require(len(text) <= largest, f"the document has more than {largest} characters")
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        require(sum(map(decoded.count, ",[{")) <= MOST_VALUES, f"the document has more than {MOST_VALUES} values")
        document: dict[str, Any] = json.loads(
            decoded,
            object_pairs_hook=_distinct,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=lambda text: int(_short(text)),
        )
    except CertificateError:
        raise
    except (ValueError, RecursionError) as error:
        if text[: len(SQLITE)] in {SQLITE, SQLITE.decode()}:
            raise CertificateError(
                "this is the file of a ledger, not a certificate: use `tacit ledger verify`"
            ) from error
        raise CertificateError(
            "the document cannot be read as JSON; expected a fit or a certificate that Tacit wrote"
        ) from error
    require(isinstance(document, dict), "the document is not an object; expected { … }")
    _require_shallow(document)
    return document


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file that holds one JSON object, as `parse_document` does."""
    content = read_bytes(path, LARGEST_DOCUMENT, CertificateError)
    try:
        return parse_document(content)
    except CertificateError as error:
        raise CertificateError(f"{os.fspath(path)!r}: {error}") from error


def require_fields(document: object, layout: FieldTypes, place: str) -> None:
    """Refuse anything but an object with exactly these fields of these types."""
    if not isinstance(document, dict):
        raise CertificateError(f"{place} is not an object; expected {', '.join(layout)}")
    wrong = sorted(set(document) ^ set(layout))
    require(not wrong, f"{place}: fields missing or unknown: {', '.join(map(quoted, wrong[:5]))}")
    for name, types in layout.items():
        found = type(document[name])
        # bool is an int to isinstance, and 1 is not true.
        if types != (object,) and found not in types:
            raise CertificateError(f"{place}: {name} has the wrong type {found.__name__}")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    require(len(document) == len(pairs), "a field occurs twice in the document")
    return document


def _refuse_constant(name: str) -> Any:
    raise CertificateError(f'{name} is not allowed in the document; infinity is written "inf"')


def _finite(text: str) -> float:
    number = float(_short(text))
    require(not math.isinf(number), "a number in the document is too large for float64")
    return number


def _short(text: str) -> str:
    # Before it is converted: the time for that grows with the square of the length.
    require(len(text) <= LONGEST_NUMBER, f"a number has more than {LONGEST_NUMBER} characters")
    return text


def _require_shallow(document: dict[str, Any]) -> None:
    level: list[Any] = [document]
    for _ in range(DEEPEST_DOCUMENT):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend((*item, *item.values()))
            elif isinstance(item, list):
                inner.extend(item)
            elif isinstance(item, str) and _SURROGATE.search(item):
                raise CertificateError("the document holds half a character (a lone surrogate)")
        level = inner
    require(not level, f"the document is nested more than {DEEPEST_DOCUMENT} deep")


def canonical(document: Mapping[str, Any]) -> str:
    """Return the one spelling of a document of plain data."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the digest; order of keys and white space of a file do not matter, everything else does."""
    digested = {key: document[key] for key in document if key not in ("digest", "signature")}
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
    return float(value) if isinstance(value, float) and math.isfinite(value) else _text(value)


def _text(value: object) -> str:
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def quoted(text: str, longest: int = LONGEST_QUOTED, *, bare: bool = True) -> str:
    r"""Return a foreign text as a reader may see it: in quotes, but for one plain word if `bare`.

    Guarantee: What stands between the marks holds no mark, no line break, and no character that controls a terminal,
    turns the direction of the text or is invisible: those are written as escapes. At most `longest` characters of the
    text are shown.
    """
    if bare and len(text) <= longest and _WORD.fullmatch(text):
        return text
    shown = "".join(map(_shown, text[:longest]))
    return f'"{shown}{"…" if len(text) > longest else ""}"'


def _shown(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable() and character not in _MARKS and not _INVISIBLE.match(character):
        return character
    return character.encode("unicode_escape").decode("ascii")
