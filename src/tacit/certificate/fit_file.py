"""The file of a fit, to report it and to predict: JSON, never pickle, so that no code is run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.certificate import certificate as certificates
from tacit.certificate.certificate import Certificate, first_fingerprint_of
from tacit.certificate.stated_model import require_family
from tacit.certificate.stated_parts import fingerprint_of
from tacit.certificate.stored_inference import StoredInference
from tacit.contract.release import Release
from tacit.contract.released_statistic import ReleasedStatistic
from tacit.design.design import Design
from tacit.design.factor import Indicator, LabelCell, Numeric
from tacit.design.feature_map import Custom, FeatureMap
from tacit.design.response import FAMILIES
from tacit.documents import canonical_json
from tacit.documents.canonical_json import FieldTypes, canonical, digest_of, fields_of, plain, require
from tacit.documents.dataclass_json import from_plain, to_plain
from tacit.documents.signature import Verification
from tacit.errors import CertificateError, InputError, SettingError
from tacit.files import write_text

FORMAT = "tacit-fit/3"
SECOND = "tacit-fit/2"  # The format of 0.1.0: its certificate covers the terms, and neither family nor design.

_SECOND_LAYOUT = fields_of("format:str family:str terms:list design:dict certificate:dict digest:str")
_ADDED = fields_of("scatter:dict|None covariance:list|None reliability:dict further:dict")
_LAYOUTS: Mapping[str, FieldTypes] = {FORMAT: {**_SECOND_LAYOUT, **_ADDED}, SECOND: _SECOND_LAYOUT}
_CERTIFICATES = {FORMAT: certificates.FORMAT, SECOND: certificates.FIRST}
"""The format of the certificate inside; any other could cover less than the fit's format says."""
_OUTSIDE = frozenset({"format", "certificate", "digest"})
STATISTICS = "statistics"  # The part of `further` that holds statistics of the fit.
LARGEST_COVARIANCE = 512  # Coefficients beyond which the covariance is not stored: it would fill the file.


@dataclass(frozen=True)
class Term:
    """One coefficient on the user's scale; what was not asked for in the plan is None."""

    name: str
    coef: float
    std_err: float | None = None
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        for name in ("coef", "std_err", "lower", "upper"):
            value = getattr(self, name)
            object.__setattr__(self, name, value if value is None else float(value))
        given = [value for value in (self.std_err, self.lower, self.upper) if value is not None]
        numbers = math.isfinite(self.coef) and not any(map(math.isnan, given))
        require(numbers, "a coefficient is not a finite number, or its interval is NaN")
        require(self.std_err is None or self.std_err >= 0, "a standard error is negative")
        ordered = self.lower is None or self.upper is None or self.lower <= self.upper
        require(ordered, "an interval has its ends reversed")


@dataclass(frozen=True)
class Scatter:
    """Variances of the coefficients by where they come from, and their degrees of freedom."""

    sampling: tuple[float, ...]
    privacy: tuple[float, ...]
    degrees: tuple[float, ...]


@dataclass(frozen=True)
class Reliability:
    """What may be said of the intervals; not `offered` where they would mean nothing."""

    offered: bool = True
    statement: str | None = None
    terms: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Estimates:
    """The stored coefficients; `scatter` is None unless intervals are offered, `covariance` is the lower triangle."""

    terms: tuple[Term, ...]
    scatter: Scatter | None = None
    covariance: tuple[tuple[float, ...], ...] | None = None
    reliability: Reliability = Reliability()

    def __post_init__(self) -> None:
        count, scatter, labels = len(self.terms), self.scatter, self.reliability.terms
        counts = [] if labels is None else [len(labels)]
        if scatter is not None:
            counts += map(len, (scatter.sampling, scatter.privacy, scatter.degrees))
        rows = None if self.covariance is None else [len(row) for row in self.covariance]
        complete = set(counts) <= {count} and rows in (None, list(range(1, count + 1)))
        require(complete, "scatter, covariance or statements are not one for each term")
        require(_is_finite(self.covariance or ()), "the covariance of the fit is not finite")

    def document(self) -> dict[str, Any]:
        """The parts of a fit file, as plain data; infinity is "inf"."""
        return dict(plain(to_plain(self)))

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Estimates:
        """Read back the parts of a fit file, spelled exactly as `document` spells them."""
        estimates = from_plain(cls, dict(document), "the fit")
        numbers = () if estimates.scatter is None else vars(estimates.scatter).values()
        nan = any(math.isnan(number) for row in numbers for number in row)
        require(not nan, "a variance of the fit is not a number")
        require(canonical(estimates.document()) == canonical(document), "a number of the fit is not spelled as a float")
        return estimates


def triangle_of(matrix: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...] | None:
    """Return the lower triangle of a covariance that can be stored, None of any other."""
    rows = tuple(tuple(row[: place + 1]) for place, row in enumerate(matrix))
    return rows if _is_finite(rows) and len(rows) <= LARGEST_COVARIANCE else None


def _is_finite(rows: Sequence[Sequence[float]]) -> bool:
    return all(math.isfinite(number) for row in rows for number in row)


@dataclass(frozen=True, repr=False)
class StoredFit:
    """A fit as it is stored: the design, the coefficients and the certificate.

    Guarantee: ``read`` after ``write`` gives an equal fit, to the last bit of every number. A file that was altered,
    cut short or never was a fit raises `CertificateError`; a file that cannot be read or written raises `FileError`.
    Whenever writing fails, the file is what it was before. The certificate is for this fit alone: its digest covers
    every part of the file that predictions, summaries and reports use, except the parts that `not_covered` names.

    `further` are parts that a later version added: covered, and stored unchanged. `format` is that
    of the file it was read from, in which it is also written.
    """

    design: Design
    family: str
    estimates: Estimates
    certificate: Certificate
    further: Mapping[str, Any] = field(default_factory=dict)
    format: str = FORMAT

    def __post_init__(self) -> None:
        named = (term.name for term in self.estimates.terms)
        # One by one: the names that a forged design has together may fill the memory.
        same = all(one == other for one, other in zip_longest(named, self.design.each_term()))
        require(same, "the terms of the fit are not the columns of its design")
        require(self.family in FAMILIES, f"unknown family {self.family[:60]!r}; expected {', '.join(FAMILIES)}")
        fitting = type(self.design.response) is FAMILIES[self.family].response
        require(fitting, "the response of the fit is not of its family's kind")
        require_family(self.certificate.parsed, self.family, len(self.design.response.classes))
        # Labels that JSON can hold: numpy's scalars as Python's.
        object.__setattr__(self, "design", Design.from_json(self.design.to_json()))
        require_design(self.design)
        numbers = [n for each in self.statistics.values() for n in (each.value, each.noise, each.bound)]
        require(all(math.isfinite(n) and n >= 0 for n in numbers), "a statistic of the fit is not a number from 0")

    @classmethod
    def from_release(
        cls,
        release: Release,
        family: str = "binomial",
        estimates: Estimates | Sequence[Term] | None = None,
        certificate: Certificate | None = None,
    ) -> StoredFit:
        """Make the fit of a release; `certificate` is its own, if it was signed meanwhile."""
        if estimates is None:
            estimates = [Term(*row) for row in release.estimates()]
        if not isinstance(estimates, Estimates):
            estimates = Estimates(tuple(estimates))
        design = Design.from_json(release.plan.design.to_json())
        further = further_parts(release)
        issued = Certificate.issue(release, covered=_parts(family, estimates, design, further))
        if certificate is not None and certificate.digest != issued.digest:
            raise SettingError(
                "this certificate was issued for another release, or for less than the whole fit; "
                "sign the one of the fit itself"
            )
        return cls(design, family, estimates, certificate or issued, further)

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Coefficients on the user's scale, the intercept first; one column a class if several."""
        flat = np.array([term.coef for term in self.estimates.terms], dtype=np.float64)
        return flat if self.design.outputs == 1 else flat.reshape(self.design.outputs, -1).T

    @property
    def statistics(self) -> dict[str, ReleasedStatistic]:
        """Statistics of the fit that were paid for, by name."""
        found = from_plain(tuple[ReleasedStatistic, ...], self.further.get(STATISTICS, []), "the statistics of the fit")
        return {each.name: each for each in found}

    @property
    def terms(self) -> list[dict[str, Any]]:
        """The terms as plain data: name, coef, std_err, lower, upper."""
        return [asdict(term) for term in self.estimates.terms]

    def __repr__(self) -> str:
        return f"<StoredFit {self.family}: {len(self.estimates.terms):,} terms>"

    @property
    def document(self) -> dict[str, Any]:
        """The plain data, digest included."""
        parts = _parts(self.family, self.estimates, self.design, self.further)
        document = {
            "format": self.format,
            **{name: part for name, part in parts.items() if name in _LAYOUTS[self.format]},
            "certificate": self.certificate.document,
        }
        return {**document, "digest": digest_of(document)}

    @property
    def not_covered(self) -> tuple[str, ...]:
        """Parts of the file that the certificate, and so its signature, does not cover."""
        return tuple(sorted(set(_LAYOUTS[self.format]) - _OUTSIDE - set(self.certificate.covers)))

    def check(self, public_key: str | os.PathLike[str] | None = None) -> Verification:
        """Verify the certificate, and say which parts of the file it does not cover."""
        found = self.certificate.check(public_key)
        missing = self.not_covered
        extent = "It covers everything in the file that predictions and summaries use."
        if missing:
            extent = (
                f"It does not cover the {' and the '.join(missing)} in the file: what predictions "
                "use of them (classes, bounds, levels, columns) may have been altered, and no "
                "check can tell. Fit again with this version to have them covered."
            )
        return replace(found, statement=f"{found.statement} {extent}", not_covered=missing)

    def to_json(self, indent: int | None = 2) -> str:
        """Write the fit as JSON; `from_json` reads the same one back."""
        return json.dumps(self.document, indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> StoredFit:
        """Read a fit strictly, and check that its certificate adds up and is for this fit."""
        return from_document(canonical_json.parse_document(text))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the fit to a file, whole or not at all."""
        write_text(path, self.to_json() + "\n")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> StoredFit:
        """Read a fit from a file."""
        return from_document(canonical_json.read_document(path))


def further_parts(release: Release) -> dict[str, Any]:
    """Parts of a fit file beside those that every fit has: what intervals are made of, and statistics."""
    statistics = {STATISTICS: plain(to_plain(release.statistics))} if release.statistics else {}
    return StoredInference.further_parts(release) | statistics


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read the certificate in a file: a certificate alone, or the one inside a stored fit."""
    document = canonical_json.read_document(path)
    return from_document(document).certificate if is_fit(document) else Certificate.of(document)


def is_fit(document: Mapping[str, Any]) -> bool:
    """Whether a document says that it is a stored fit of a known format."""
    return isinstance(document.get("format"), str) and document["format"] in _LAYOUTS


def from_document(document: Mapping[str, Any]) -> StoredFit:
    """Read a fit from plain data strictly, and check that its certificate is for this fit."""
    require(is_fit(document), _why_no_fit(str(document.get("format"))))
    layout = _LAYOUTS[document["format"]]
    canonical_json.require_fields(document, layout, "the stored fit")
    require(digest_of(document) == document["digest"], "digest does not fit: the stored fit was altered")
    certificate = Certificate.of(document["certificate"])
    same = certificate.parsed["format"] == _CERTIFICATES[document["format"]]
    require(same, "the certificate inside is of another format than the fit's")
    certificate.rederive()
    released = certificate.parsed["released"]
    # What the format did not store yet is as where there is none.
    stored = {name: document.get(name, default) for name, default in Estimates(()).document().items()}
    if document["format"] == SECOND:
        estimates = Estimates.read(stored)
        same = first_fingerprint_of([astuple(term) for term in estimates.terms]) == released
        require(same, "the certificate was issued for other coefficients or intervals")
    else:
        parts = {name: document[name] for name in set(layout) - _OUTSIDE}
        require(tuple(sorted(parts)) == certificate.covers, "the certificate is not for all parts of the fit")
        covered = "coefficients, intervals, statements, family, response or design"
        same = fingerprint_of(parts) == released
        require(same, f"the certificate was issued for another fit: its {covered} are others")
        estimates = Estimates.read(stored)
    design, further = Design.from_json(document["design"]), document.get("further", {})
    fit = StoredFit(design, document["family"], estimates, certificate, further, document["format"])
    # Numbers of a design may be read from another spelling than the one that `write` uses.
    require(canonical(fit.document) == canonical(document), "the stored design is not spelled as expected")
    return fit


def _why_no_fit(stated: str) -> str:
    if stated in Certificate.formats:
        return "this is a certificate alone; expected a stored fit"
    if stated.startswith(FORMAT.rstrip("0123456789")):
        return (
            f'this fit was written in another format than "{FORMAT}", by another version of '
            "Tacit; read it with that version, or fit again"
        )
    return f'this is no stored fit; expected the format "{FORMAT}"'


def _parts(family: str, estimates: Estimates, design: Design, further: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that predictions, summaries and reports use, by name."""
    return {"family": family, **estimates.document(), "design": plain(design.to_json()), "further": plain(further)}


def require_design(design: Design) -> None:
    """Refuse a design that contradicts itself, with `CertificateError`."""
    _require_names(design)
    positive = 0.0 < design.feature_norm < math.inf or not design.columns
    require(positive, "feature_norm of the design is not positive and finite")
    for column in (*design.columns, *design.inputs):
        usable = column.lower < column.upper and 0.0 < column.scale < math.inf and math.isfinite(column.center)
        require(usable, "a column of the design has no usable bounds or map")
    try:
        if design.feature_map is None:
            _require_factors(design)
        else:
            _require_map(design, design.feature_map)
    except InputError as error:
        raise CertificateError(str(error)) from error


def _require_factors(design: Design) -> None:
    require(not design.inputs and design.input_norm is None, "the design has inputs and no feature map")
    levels = {name: frozenset(own) for name, own in design.levels.items()}
    require(all(column.factors for column in design.columns), "a column of the design has no factors")
    for factor in (factor for column in design.columns for factor in column.factors):
        declared = not isinstance(factor, Indicator) or factor.level in levels[factor.column]
        require(declared, "an indicator in the design is of an undeclared level")


def _require_names(design: Design) -> None:
    classes = design.response.classes
    for label in classes:
        usable = type(label) in (str, int, float, bool) and label not in (math.inf, -math.inf)
        require(usable, "a class label is neither text nor a finite number")
    # NaN differs from itself.
    distinct = len(set(classes)) == len(classes) and all(label == label for label in classes)  # noqa: PLR0124
    require(distinct, "the class labels are not distinct")
    distinct = all(0 < len(set(levels)) == len(levels) for levels in design.levels.values())
    require(distinct, "a factor of the design has no levels, or one of them twice")
    for name, cell in design.cells.items():
        declared = {None, *design.levels.get(name, ())}
        stands = not isinstance(cell, LabelCell) or {cell.missing, cell.other} <= declared
        require(stands, "what stands for a missing label is an undeclared level")
    require(len(set(design.names)) == design.width, "two columns of the design share a name")


def _require_map(design: Design, feature_map: FeatureMap) -> None:
    names = tuple(column.name for column in design.inputs)
    plain = all(column.factors == (Numeric(column.name),) for column in design.inputs)
    require(names and plain, "the feature map of the design has no inputs")
    bare = not any(column.factors for column in design.columns)
    require(bare, "a column of the design has factors beside a feature map")
    known = (column.name for column in design.columns)
    # One by one: the names that a forged map has together may fill the memory.
    same = all(one == name for one, name in zip_longest(feature_map.names(names), known))
    require(same, "the columns of the design are not those of its feature map")
    norm = 1.0 if design.input_norm is None else design.input_norm
    fits = isinstance(feature_map, Custom) == (design.input_norm is None) and 0.0 < norm < math.inf
    require(fits, "the norm of the inputs does not fit the feature map")
