"""The base of both certificates, of a fit and of a ledger: JSON with a digest and a signature."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from tacit.documents import canonical_json
from tacit.documents.canonical_json import FieldTypes, canonical, digest_of, parse_document, require, require_fields
from tacit.documents.quoting import quoted
from tacit.documents.signature import Verification, require_signature, vouched
from tacit.errors import CertificateError, InputError
from tacit.privacy.budget import Guarantee

TOLERANCE = Fraction(1, 10**9)
"""Relative excess of a stated total over the derived one: another version may round otherwise."""


@dataclass(frozen=True, repr=False)
class Document:
    """A guarantee as plain data with a digest; two are equal where their canonical JSON is.

    Guarantee
    ---------
    - What exists is laid out as its format is documented; anything else was refused with `CertificateError`, before
      anything was computed from it.
    """

    text: str

    formats: ClassVar[Mapping[str, FieldTypes]] = {}
    """Fields by format, the newest first, in the order in which a person reads them."""
    inner: ClassVar[Mapping[str, FieldTypes]] = {}
    """Fields of the objects inside, the same in every format."""
    largest: ClassVar[int] = canonical_json.LARGEST_DOCUMENT
    most_events: ClassVar[int] = 0
    """Events in one document, those inside others included."""

    def __post_init__(self) -> None:
        self._take(parse_document(self.text, self.largest))

    def _take(self, document: dict[str, Any]) -> None:
        stated = document.get("format")
        if not isinstance(stated, str) or stated not in self.formats:
            found = repr(stated)[:60] if "format" in document else "missing"
            raise CertificateError(f'format is {found}; expected "{next(iter(self.formats))}"')
        require_fields(document, self.formats[stated], "the certificate")
        for name, layout in self.inner.items():
            require_fields(document[name], layout, name)
        text = canonical(document)
        require(len(text) <= self.largest, f"the document has more than {self.largest} characters")
        # Between bare quotation marks this can only be the name of a field.
        require(text.count('"event":') <= self.most_events, f"there are more than {self.most_events} events")
        self._require(document)
        if document["signature"] is not None:
            require_signature(document["signature"])
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "_parsed", document)

    @abstractmethod
    def _require(self, document: Mapping[str, Any]) -> None:
        """Refuse what is not laid out as expected inside of the other fields."""

    @abstractmethod
    def _derive(self, document: Mapping[str, Any]) -> Guarantee:
        """Derive the guarantee and compare it with what is stated."""

    @abstractmethod
    def _found(self, guarantee: Guarantee) -> str:
        """Say what was derived; the unit of the guarantee is quoted where it needs to be."""

    @classmethod
    def made(cls, document: Mapping[str, Any]) -> Self:
        """Return the document of these fields with its digest, checked by its own reader."""
        unsigned = {**document, "signature": None}
        made = cls(canonical({**unsigned, "digest": digest_of(unsigned)}))
        made.rederive()
        return made

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """Take plain data that `parse_document` read."""
        taken = object.__new__(cls)
        taken._take(document)
        return taken

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a document, strictly; whether it adds up is for `check` to say."""
        return cls.of(parse_document(text, cls.largest))

    def to_json(self, indent: int | None = 2) -> str:
        """Write the document as JSON; `from_json` reads the same one back."""
        document = self.parsed
        ordered = {name: document[name] for name in self.formats[document["format"]]}
        return json.dumps(ordered, indent=indent, ensure_ascii=False, allow_nan=False)

    @property
    def document(self) -> dict[str, Any]:
        """A copy of the plain data."""
        return dict(json.loads(self.text))

    @property
    def parsed(self) -> Mapping[str, Any]:
        """The plain data itself, to be read only."""
        parsed: Mapping[str, Any] = vars(self)["_parsed"]
        return parsed

    @property
    def digest(self) -> str:
        """The digest that the document states."""
        return str(self.parsed["digest"])

    @property
    def covers(self) -> tuple[str, ...]:
        """The parts of a stored fit that the digest covers."""
        return ()

    def with_signature(self, signature: Mapping[str, str] | None) -> Self:
        """Return the document with this signature in place of the one it had."""
        return type(self)(canonical({**self.parsed, "signature": signature}))

    def rederive(self) -> Guarantee:
        """Derive the guarantee from the events; refuse what is stated if it is another one."""
        return self._guarantee

    @cached_property
    def _guarantee(self) -> Guarantee:
        fits = digest_of(self.parsed) == self.digest
        require(fits, "digest does not fit: the certificate was altered after it was issued")
        try:
            return self._derive(self.parsed)
        except CertificateError:
            raise
        except (InputError, ArithmeticError, ValueError) as error:
            raise CertificateError(f"the certificate does not add up: {error}") from error

    def check(self, public_key: str | os.PathLike[str] | None = None) -> Verification:
        """Verify offline; `public_key` (64 hexadecimal digits, or their file) is who must sign."""
        guarantee = self.rederive()
        found = self._found(replace(guarantee, unit=quoted(guarantee.unit)))
        return replace(vouched(self.parsed, found, public_key), covers=self.covers)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(digest={self.digest!r})"


def require_total(total: Mapping[str, Any], derived: Mapping[str, float | None]) -> None:
    """Refuse stated numbers that are below the derived ones, or beyond them by the tolerance."""
    for name, value in derived.items():
        stated = total[name]
        # None is no number, and is refused like a wrong one.
        if value is None or stated is None:
            raise CertificateError(f"total.{name} is not a number")
        require(value <= stated <= value * (1.0 + float(TOLERANCE)), f"total.{name} is not what the events add up to")
