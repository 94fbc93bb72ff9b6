"""Every kind of event, and events as JSON: one tag per kind, exact numbers as strings.

An event says what was released, in exact numbers. What it costs is the answer of an accountant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from tacit.errors import CertificateError, SettingError
from tacit.privacy.basic_events import (
    DEEPEST_NESTING,
    LARGEST_BITS,
    LONGEST_LABEL,
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    Pure,
    Repeated,
    Votes,
)
from tacit.privacy.sampling_events import (
    Law,
    NegativeBinomial,
    PoissonRuns,
    PoissonSampled,
    RandomStopping,
    SampledWithoutReplacement,
    SampledWithReplacement,
)

__all__ = [
    "Approximate",
    "BoundedRange",
    "Composed",
    "DEEPEST_NESTING",
    "DiscreteGaussian",
    "Event",
    "Gaussian",
    "LARGEST_BITS",
    "LONGEST_LABEL",
    "LONGEST_NUMBER",
    "Laplace",
    "Law",
    "NegativeBinomial",
    "ObjectivePerturbation",
    "PoissonRuns",
    "PoissonSampled",
    "Pure",
    "RandomStopping",
    "Repeated",
    "SampledWithReplacement",
    "SampledWithoutReplacement",
    "Votes",
    "from_json",
    "to_json",
]

LONGEST_NUMBER = 1024
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)


# Both tables are part of the stored format.
_TAGS: Mapping[str, type[Event]] = {
    "gaussian": Gaussian,
    "repeated": Repeated,
    "composed": Composed,
    "laplace": Laplace,
    "pure": Pure,
    "approximate": Approximate,
    "bounded-range": BoundedRange,
    "discrete-gaussian": DiscreteGaussian,
    "objective-perturbation": ObjectivePerturbation,
    "votes": Votes,
    "poisson-sampled": PoissonSampled,
    "sampled-without-replacement": SampledWithoutReplacement,
    "sampled-with-replacement": SampledWithReplacement,
    "random-stopping": RandomStopping,
}
_LAWS: Mapping[str, type[Law]] = {"negative-binomial": NegativeBinomial, "poisson": PoissonRuns}


def to_json(event: Event) -> dict[str, object]:
    """Write an event as a dictionary of strings, ready for JSON.

    ``event`` is the kind, ``inner`` an event inside; numbers are ``"a"`` or ``"a/b"``.

    Guarantee
    ---------
    - ``from_json(to_json(event)) == event`` for every event.

    Examples
    --------
    >>> to_json(Gaussian(1, Fraction(3, 2)))
    {'event': 'gaussian', 'squared_sensitivity': '1', 'variance': '3/2', 'label': ''}
    """
    for tag, kind in _TAGS.items():
        if type(event) is kind:
            written: dict[str, object] = {"event": tag}
            for field in fields(kind):  # type: ignore[arg-type]
                value = getattr(event, field.name)
                written[_spelling(field.name)] = _write(value)
            return written
    raise SettingError(
        f"a {type(event).__name__} is not an event; expected one of "
        + ", ".join(kind.__name__ for kind in _TAGS.values())
    )


def from_json(document: object) -> Event:
    """Read an event that `to_json` wrote.

    Guarantee
    ---------
    - Anything that `to_json` could not have written is refused with `CertificateError`: unknown
      tags, missing or unknown fields, numbers that are no exact strings in lowest terms, numbers
      and nestings beyond the bounds of an event.
    - What is accepted has one spelling: ``to_json(from_json(document)) == document``.

    Examples
    --------
    >>> from_json({"event": "gaussian", "squared_sensitivity": "1", "variance": "4", "label": ""})
    Gaussian(squared_sensitivity=1, variance=4, label='')
    """
    return _read(document, depth=0)


def _spelling(name: str) -> str:
    # "event" is taken by the tag.
    return "inner" if name == "event" else name


def _write(value: object) -> object:
    match value:
        case str():
            return value
        case Event():
            return to_json(value)
        case tuple():
            return [to_json(event) for event in value]
        case NegativeBinomial() | PoissonRuns():
            tag = next(tag for tag, law in _LAWS.items() if isinstance(value, law))
            return {"law": tag} | {it.name: str(getattr(value, it.name)) for it in fields(value)}
        case _:
            return str(value)


def _read(document: object, depth: int) -> Event:
    if depth > DEEPEST_NESTING:
        raise CertificateError(
            f"events are nested more than {DEEPEST_NESTING} deep; expected what to_json writes"
        )
    if not isinstance(document, Mapping):
        raise CertificateError(
            f'an event is written as a {type(document).__name__}; expected an object with "event"'
        )
    tag = document.get("event")
    if not isinstance(tag, str) or tag not in _TAGS:
        known = ", ".join(f'"{name}"' for name in _TAGS)
        raise CertificateError(
            f"unknown event {repr(tag)[:60]}; this version knows {known}. "
            "A newer version may have written it: verify it with that one"
        )
    kind = _TAGS[tag]
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    _require_fields(document, {"event", *map(_spelling, names)})
    values = {name: _read_field(document[_spelling(name)], name, tag, depth) for name in names}
    try:
        return kind(**values)
    except SettingError as error:
        raise CertificateError(f'event "{tag}": {error}') from error


def _read_field(value: object, name: str, tag: str, depth: int) -> Any:
    match name:
        case "label":
            if not isinstance(value, str):
                raise CertificateError(f'event "{tag}": {name} is not text')
            return value
        case "event":
            return _read(value, depth + 1)
        case "events":
            if not isinstance(value, list):
                raise CertificateError(f'event "{tag}": {name} is not a list of events')
            return tuple(_read(event, depth + 1) for event in value)
        case "law":
            return _read_law(value)
        case _:
            return _read_number(value, name)


def _read_law(document: object) -> Law:
    tag = document.get("law") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(tag, str) or tag not in _LAWS:
        known = ", ".join(f'"{name}"' for name in _LAWS)
        raise CertificateError(f"unknown law of runs; this version knows {known}")
    kind = _LAWS[tag]
    names = [field.name for field in fields(kind)]
    _require_fields(document, {"law", *names})
    numbers: dict[str, Any] = {name: _read_number(document[name], name) for name in names}
    try:
        return kind(**numbers)
    except SettingError as error:
        raise CertificateError(f'law "{tag}": {error}') from error


def _require_fields(document: Mapping[object, object], expected: set[str]) -> None:
    found = set(document)
    if found != expected:
        # Sorted by text, because the keys of a foreign document need not be comparable.
        wrong = sorted(repr(name)[:60] for name in found ^ expected)
        raise CertificateError(
            f"an event has missing or unknown fields: {', '.join(wrong[:5])}; "
            f"expected exactly {', '.join(sorted(expected))}"
        )


def _read_number(text: object, name: str) -> Fraction | int:
    if not isinstance(text, str) or len(text) > LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise CertificateError(
            f'{name} is not an exact number; expected a string "a" or "a/b" of digits, '
            f"at most {LONGEST_NUMBER} characters"
        )
    value = Fraction(text)
    # Two spellings of one fact would have two digests.
    if str(value) != text:
        raise CertificateError(f"{name} is not in lowest terms; expected the reduced fraction")
    return value.numerator if value.denominator == 1 else value
