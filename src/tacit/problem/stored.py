"""The stored fit: what is kept on disk of a release, enough to report it and to predict.

JSON, never pickle: reading one runs no code. A file is written whole or not at all.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import CertificateError, FileError, InputError, SettingError
from tacit.problem import certificate as certificates
from tacit.problem.cell import LabelCell
from tacit.problem.certificate import Certificate
from tacit.problem.design import Column, Design, Indicator, Numeric
from tacit.problem.factor import require_declared
from tacit.problem.family import FAMILIES
from tacit.problem.feature_map import Custom
from tacit.problem.release import Release, fingerprint_of
from tacit.problem.signature import (
    LARGEST_DOCUMENT,
    Layout,
    canonical,
    digest_of,
    parse_document,
    plain,
    require_fields,
)

FORMAT = "tacit-fit/2"
"""Raised with every change of what is kept; 2 has kinds of responses, weights, offsets, units."""

_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_LAYOUT: Layout = {
    "format": (str,),
    "family": (str,),
    "terms": (list,),
    "design": (dict,),
    "certificate": (dict,),
    "digest": (str,),
}
_OPTIONAL = (float, str, NoneType)
_TERM: Layout = {
    "name": (str,),
    "coef": (float,),
    "std_err": _OPTIONAL,
    "lower": _OPTIONAL,
    "upper": _OPTIONAL,
}


@dataclass(frozen=True)
class Term:
    """One coefficient on the user's scale; what was not asked for in the plan is None."""

    name: str
    coef: float
    std_err: float | None = None
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        """Keep the numbers as floats, or refuse them."""
        for field in ("coef", "std_err", "lower", "upper"):
            value = getattr(self, field)
            object.__setattr__(self, field, value if value is None else float(value))
        given = [value for value in (self.std_err, self.lower, self.upper) if value is not None]
        if not math.isfinite(self.coef) or any(math.isnan(value) for value in given):
            raise CertificateError("a coefficient is not a finite number, or its interval is NaN")
        if self.std_err is not None and self.std_err < 0:
            raise CertificateError("a standard error is negative")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise CertificateError("an interval has its ends reversed")


@dataclass(frozen=True)
class StoredFit:
    """A fit as it is kept: the design, the coefficients and the certificate.

    Guarantee
    ---------
    - ``read`` after ``write`` gives an equal fit, to the last bit of every number.
    - A file that was altered, cut short or never was a fit raises `CertificateError`; a file that
      cannot be read or written raises `FileError`.
    - Whenever writing fails, the file is what it was before.

    Parameters
    ----------
    design
        A record's way to a row, so that new records are prepared as the old ones were.
    family
        One of `tacit.problem.family.FAMILIES`.
    estimates
        One per coefficient, in the order of ``design.terms``.
    certificate
        What the release guarantees.
    """

    design: Design
    family: str
    estimates: tuple[Term, ...]
    certificate: Certificate

    def __post_init__(self) -> None:
        """Refuse terms that are not the design's, and a design that maps nothing."""
        if tuple(term.name for term in self.estimates) != self.design.terms:
            raise CertificateError("the terms of the fit are not the columns of its design")
        if self.family not in FAMILIES:
            known = ", ".join(FAMILIES)
            raise CertificateError(f"unknown family {self.family[:60]!r}; expected {known}")
        if not isinstance(self.design.response, FAMILIES[self.family].response):
            raise CertificateError("the response of the fit is not of its family's kind")
        object.__setattr__(self, "design", _unwrapped(self.design))
        _require_design(self.design)

    @classmethod
    def from_release(
        cls,
        release: Release,
        family: str = "binomial",
        estimates: Sequence[Term] | None = None,
        certificate: Certificate | None = None,
    ) -> StoredFit:
        """Keep a release.

        Parameters
        ----------
        release
            What left the wall.
        family
            What the loss is the negative log-likelihood of.
        estimates
            The coefficients with their standard errors and intervals, where they were paid for.
        certificate
            The release's certificate if it was signed meanwhile; otherwise it is issued.
        """
        design = release.plan.design
        if estimates is None:
            estimates = [Term(*row) for row in release.estimates()]
        issued = Certificate.issue(release, [astuple(term) for term in estimates])
        if certificate is not None and certificate.digest != issued.digest:
            raise SettingError("this certificate was issued for another release; pass its own")
        return cls(design, family, tuple(estimates), certificate or issued)

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Coefficients on the user's scale, the intercept first; one column a class if several."""
        flat = np.array([term.coef for term in self.estimates], dtype=np.float64)
        return flat if self.design.outputs == 1 else flat.reshape(self.design.outputs, -1).T

    @property
    def terms(self) -> list[dict[str, Any]]:
        """The estimates as plain data: name, coef, std_err, lower, upper."""
        return [asdict(term) for term in self.estimates]

    @property
    def document(self) -> dict[str, Any]:
        """The plain data, digest included."""
        document = {
            "format": FORMAT,
            "family": self.family,
            "terms": plain(self.terms),
            "design": plain(self.design.to_json()),
            "certificate": self.certificate.document,
        }
        return {**document, "digest": digest_of(document)}

    def to_json(self, indent: int | None = 2) -> str:
        """Write the fit as JSON; `from_json` reads the same one back."""
        return json.dumps(self.document, indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> StoredFit:
        """Read a fit strictly, and check that its certificate adds up."""
        return _from_document(parse_document(text))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the fit to a file, whole or not at all."""
        write_text(path, self.to_json() + "\n")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> StoredFit:
        """Read a fit from a file."""
        return cls.from_json(read_bytes(path))


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read the certificate in a file: a certificate alone, or the one inside a stored fit."""
    document = parse_document(read_bytes(path))
    if document.get("format") == FORMAT:
        return _from_document(document).certificate
    return Certificate(canonical(document))


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file of bounded size."""
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(LARGEST_DOCUMENT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is no name of a file"
        raise FileError(f"{os.fspath(path)!r} cannot be read: {reason}") from error
    if len(content) > LARGEST_DOCUMENT:
        raise CertificateError(f"the file is larger than {LARGEST_DOCUMENT} bytes")
    return content


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Replace a file by this text, or leave it as it was.

    Guarantee
    ---------
    - At no time does the name lead to a part of the text.
    - A failure leaves no further file behind.
    """
    content = text.encode("utf-8")
    if len(content) > LARGEST_DOCUMENT:
        raise FileError(f"the text is larger than {LARGEST_DOCUMENT} bytes, and no reader takes it")
    try:
        # Through a link to the file it names: a link is not to be replaced by a file.
        target = Path(path).resolve()
        # Beside the target, because only within one file system is a replacement atomic.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".tacit-") as folder:
            draft = Path(folder) / "draft"
            with draft.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(draft, target)  # noqa: PTH105 (the name under which it is known as atomic)
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "its name is no name of a file"
        raise FileError(f"{os.fspath(path)!r} cannot be written: {reason}") from error


def _from_document(document: Mapping[str, Any]) -> StoredFit:
    if document.get("format") != FORMAT:
        if document.get("format") == certificates.FORMAT:
            raise CertificateError("this is a certificate alone; expected a stored fit")
        if str(document.get("format")).startswith(FORMAT.rstrip("0123456789")):
            raise CertificateError(
                f'this fit was kept in another format than "{FORMAT}", by another version of '
                "Tacit; read it with that version, or fit again"
            )
        raise CertificateError(f'this is no stored fit; expected the format "{FORMAT}"')
    require_fields(document, _LAYOUT, "the stored fit")
    if digest_of(document) != document["digest"]:
        raise CertificateError("digest does not fit: the stored fit was altered after it was kept")
    certificate = Certificate(canonical(document["certificate"]))
    certificate.rederive()
    for term in document["terms"]:
        require_fields(term, _TERM, "a term")
    try:
        design = Design.from_json(document["design"])
    except OverflowError as error:
        raise CertificateError("a number in the stored design is too large") from error
    estimates = tuple(
        Term(**{name: _number(name, value) for name, value in term.items()})
        for term in document["terms"]
    )
    if fingerprint_of([astuple(term) for term in estimates]) != certificate.document["released"]:
        raise CertificateError("the certificate was issued for other coefficients or intervals")
    fit = StoredFit(design, document["family"], estimates, certificate)
    # The design's reader is lenient; what it had to convert is not what `write` wrote.
    if canonical(fit.document) != canonical(document):
        raise CertificateError("the stored design is not spelled as expected")
    return fit


def _number(name: str, value: Any) -> Any:
    if name == "name" or not isinstance(value, str):
        return value
    if value not in _INFINITE:
        raise CertificateError(f'{name} of a term is not a number; expected one, "inf" or "-inf"')
    return _INFINITE[value]


def _unwrapped(design: Design) -> Design:
    """Return the design with labels that JSON can hold, numpy's scalars as Python's."""
    return Design.from_json(design.to_json())


def _require_labels(classes: tuple[Any, ...]) -> None:
    for label in classes:
        if type(label) not in (str, int, float, bool) or label in (math.inf, -math.inf):
            raise CertificateError("a class label is neither text nor a finite number")
    if len(set(classes)) < len(classes) or any(label != label for label in classes):  # noqa: PLR0124
        raise CertificateError("the class labels are not distinct")


def _require_design(design: Design) -> None:
    _require_labels(design.response.classes)
    if len(set(design.names)) != design.width:
        raise CertificateError("two columns of the design share a name")
    if not 0.0 < design.feature_norm < math.inf and design.columns:
        raise CertificateError("feature_norm of the design is not positive and finite")
    if any(not 0 < len(set(levels)) == len(levels) for levels in design.levels.values()):
        raise CertificateError("a factor of the design has no levels, or one of them twice")
    for column in (*design.columns, *design.inputs):
        usable = column.lower < column.upper and 0.0 < column.scale < math.inf
        if not (usable and math.isfinite(column.center)):
            raise CertificateError("a column of the design has no usable bounds or map")
    _require_cells(design)
    if design.feature_map is not None:
        _require_map(design)
        return
    if design.inputs or design.input_norm is not None:
        raise CertificateError("the design has inputs and no feature map")
    for column in design.columns:
        _require_factors(column, design)


def _require_factors(column: Column, design: Design) -> None:
    if not column.factors:
        raise CertificateError("a column of the design has no factors")
    for factor in column.factors:
        try:
            require_declared(factor, design.levels, design.cells)
        except InputError as error:
            raise CertificateError(str(error)) from error
        if isinstance(factor, Indicator) and factor.level not in design.levels[factor.column]:
            raise CertificateError("an indicator in the design is of an undeclared level")


def _require_cells(design: Design) -> None:
    for name, cell in design.cells.items():
        levels = (None, *design.levels.get(name, ()))
        if isinstance(cell, LabelCell) and not {cell.missing, cell.other} <= set(levels):
            raise CertificateError("what stands for a missing label is an undeclared level")


def _require_map(design: Design) -> None:
    names = tuple(column.name for column in design.inputs)
    plain = all(column.factors == (Numeric(column.name),) for column in design.inputs)
    if design.feature_map is None or not names or not plain:
        raise CertificateError("the feature map of the design has no inputs")
    if any(column.factors for column in design.columns):
        raise CertificateError("a column of the design has factors beside a feature map")
    try:
        expected = design.feature_map.names(names)
    except InputError as error:
        raise CertificateError(str(error)) from error
    if expected != tuple(column.name for column in design.columns):
        raise CertificateError("the columns of the design are not those of its feature map")
    custom = isinstance(design.feature_map, Custom)
    norm = 1.0 if design.input_norm is None else design.input_norm
    if custom != (design.input_norm is None) or not 0.0 < norm < math.inf:
        raise CertificateError("the norm of the inputs does not fit the feature map")
