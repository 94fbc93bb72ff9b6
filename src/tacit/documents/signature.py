"""The base of both certificates, of a fit and of a ledger: JSON with a digest and an Ed25519 signature over it."""

from __future__ import annotations

import json
import os
import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from tacit.display import Displayed, Shown
from tacit.documents.canonical_json import (
    LARGEST_DOCUMENT,
    FieldTypes,
    canonical,
    digest_of,
    parse_document,
    quoted,
    require,
    require_fields,
)
from tacit.errors import CertificateError, FileError, InputError, SettingError
from tacit.files import read_bytes
from tacit.privacy.budget import Guarantee

TOLERANCE = Fraction(1, 10**9)
"""Relative excess of a stated total over the derived one: another version may round otherwise."""
ALGORITHM = "ed25519"
PREFIX = b"tacit-certificate/1 ed25519\x00"
"""Separates these signatures from every other use of the same key; the same for every format."""
LARGEST_KEY_FILE = 4096

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_PUBLIC_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)
_SIGNATURE = re.compile(r"[0-9a-f]{128}", re.ASCII)
_PRIME = 2**255 - 19
_ORDER_EIGHT = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER = frozenset({0, 1, _PRIME - 1, _ORDER_EIGHT, _PRIME - _ORDER_EIGHT})
"""The y of the eight points of small order; y is that of the point and of its negative."""


@dataclass(frozen=True, repr=False)
class Verification(Displayed):
    """What was found: that it adds up, who signed it, and which parts of a fit it covers or not."""

    consistent: bool
    signed: bool
    signer: str | None
    statement: str
    covers: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()

    def _shown(self) -> Shown:
        facts = {"Adds up": "yes" if self.consistent else "no", "Signed by": self.signer or "nobody"}
        facts |= {"Not covered": ", ".join(self.not_covered)} if self.not_covered else {}
        return Shown("Verification", tuple(facts.items()), notes=(self.statement,))


@dataclass(frozen=True, repr=False)
class Document(Displayed):
    """A guarantee as plain data with a digest; two are equal where their canonical JSON is.

    Guarantee: What exists is laid out as its format is documented; anything else was refused with `CertificateError`,
    before anything was computed from it.
    """

    text: str

    formats: ClassVar[Mapping[str, FieldTypes]] = {}
    """Fields by format, the newest first, in the order in which a person reads them."""
    inner: ClassVar[Mapping[str, FieldTypes]] = {}
    """Fields of the objects inside, the same in every format."""
    largest: ClassVar[int] = LARGEST_DOCUMENT
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

    def _shown(self) -> Shown:
        try:
            stated = str(self.rederive())
        except CertificateError as error:
            stated = str(error)
        signed = "yes, by whom check() says" if self.parsed.get("signature") else "no"
        facts = (("Guarantee", stated), ("Signed", signed), ("Digest", self.digest))
        return Shown(type(self).__name__, facts)


Signed = TypeVar("Signed", bound=Document)


def require_total(total: Mapping[str, Any], derived: Mapping[str, float | None]) -> None:
    """Refuse stated numbers that are below the derived ones, or beyond them by the tolerance."""
    for name, value in derived.items():
        stated = total[name]
        # None or "inf" is no number, and is refused like a wrong one.
        if value is None or not isinstance(stated, int | float):
            raise CertificateError(f"total.{name} is not a number")
        require(value <= stated <= value * (1.0 + float(TOLERANCE)), f"total.{name} is not what the events add up to")


def new_key(path: str | os.PathLike[str]) -> str:
    """Make a private key at `path` and its public key at `path` + ``.pub``; return the latter.

    The private key is unencrypted PKCS #8 in PEM, the public key one line of 64 hexadecimal digits. Guarantee: Only the
    owner may read the private key (mode 0600), from the moment the file exists. An existing file is never overwritten.
    """
    ed25519, serialization, _ = _signing_library()
    key = ed25519.Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = str(key.public_key().public_bytes_raw().hex())
    target = Path(path)
    # The public file first: a private key whose public half could not be written is of no use.
    public_path = target.with_name(target.name + ".pub")
    _write_new(public_path, f"{public}\n".encode("ascii"), mode=0o644)
    try:
        _write_new(target, private, mode=0o600)
    except FileError:
        public_path.unlink()
        raise
    return public


def read_public_key(text_or_path: str | os.PathLike[str]) -> str:
    """Return a public key given as 64 hexadecimal digits or as the file that `new_key` wrote."""
    text = os.fspath(text_or_path).strip().lower()
    if not _PUBLIC_KEY.fullmatch(text):
        text = read_bytes(text_or_path, LARGEST_KEY_FILE).decode("ascii", "replace").strip().lower()
    if not _PUBLIC_KEY.fullmatch(text):
        raise FileError(
            "this is not a public key; expected 64 hexadecimal digits, or the file ending in .pub "
            "that was written beside the private key"
        )
    return text


def sign(certificate: Signed, key_path: str | os.PathLike[str]) -> Signed:
    """Return a certificate that adds up with a new signature over its digest, by an unencrypted Ed25519 key in PEM."""
    certificate.rederive()
    ed25519, serialization, exceptions = _signing_library()
    path, text = Path(key_path), read_bytes(key_path, LARGEST_KEY_FILE)
    try:
        key = serialization.load_pem_private_key(text, password=None)
    except (ValueError, TypeError, exceptions.UnsupportedAlgorithm) as error:
        raise FileError(f"{path} is not a private key in PEM without a password; make one with new_key") from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise FileError(f"{path} is a key of another kind; expected an Ed25519 key")
    public, value = key.public_key().public_bytes_raw().hex(), key.sign(_message(certificate.digest)).hex()
    return certificate.with_signature({"algorithm": ALGORITHM, "public_key": public, "value": value})


def verify(digest: str, signature: Mapping[str, Any]) -> str:
    """Check a signature over a digest against the key it names, spelled as in RFC 8032; return that key, of whomever.

    A key of small order, under which signatures can be made without a private key, is refused.
    """
    require_signature(signature)
    ed25519, _, exceptions = _signing_library()
    public_key = str(signature["public_key"])
    # The sign of x is the highest bit; a point of small order is one with either sign.
    y = int.from_bytes(bytes.fromhex(public_key), "little") % 2**255
    sound = y not in _SMALL_ORDER and y < _PRIME
    require(sound, f"the key {public_key} is no key of anybody: it fits signatures that nobody made")
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature["value"]), _message(digest))
    except (exceptions.InvalidSignature, ValueError) as error:
        raise CertificateError(
            f"the signature does not fit: key {public_key} did not sign this digest. "
            "The certificate or its signature was altered"
        ) from error
    return public_key


def vouched(document: Mapping[str, Any], found: str, public_key: str | os.PathLike[str] | None) -> Verification:
    """Say who signed a document that was `found` to add up; refuse it unless by `public_key`."""
    if document["signature"] is None:
        require(public_key is None, "signature is missing; expected one by the key you gave")
        unsigned = "Only consistency was checked: it is unsigned, and nobody vouches for it."
        return Verification(True, False, None, f"{found} {unsigned}")
    signer = verify(document["digest"], document["signature"])
    whose = "whose owner you must know."
    if public_key is not None:
        require(read_public_key(public_key) == signer, f"signature is by key {signer}, which is not the one you gave")
        whose = "the one you gave: its owner vouches for it."
    return Verification(True, True, signer, f"{found} Signed by key {signer}, {whose}")


def require_signature(signature: object) -> None:
    """Refuse what is not laid out as a signature, whoever made it."""
    shape = {"algorithm": re.compile(ALGORITHM), "public_key": _PUBLIC_KEY, "value": _SIGNATURE}
    if not isinstance(signature, Mapping) or set(signature) != set(shape):
        raise CertificateError("signature is not laid out as expected: null, or algorithm, public_key and value")
    expected = f'"{ALGORITHM}", 64 and 128 lower-case hexadecimal digits'
    for name, pattern in shape.items():
        fits = isinstance(signature[name], str) and pattern.fullmatch(signature[name])
        require(fits, f"signature.{name} cannot be read; expected {expected}")


def _message(digest: str) -> bytes:
    require(_DIGEST.fullmatch(digest), 'digest cannot be read; expected "sha256:" and 64 lower-case digits')
    return PREFIX + bytes.fromhex(digest.removeprefix("sha256:"))


def _signing_library() -> tuple[Any, Any, Any]:
    # Deferred: an optional extra, which nobody who does not sign needs.
    try:
        from cryptography import exceptions
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise SettingError(
            "signatures need the library cryptography, which is not installed. Run: pip install tacit[sign]"
        ) from error
    return ed25519, serialization, exceptions


def _write_new(path: Path, content: bytes, *, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
        except OSError:
            path.unlink(missing_ok=True)
            raise
    except FileExistsError as error:
        raise FileError(
            f"{path} exists and is not overwritten: what it signed could no longer be renewed. Choose another name"
        ) from error
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from error
