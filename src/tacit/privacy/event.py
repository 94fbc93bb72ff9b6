"""Events: the facts a guarantee is computed from.

An event says what was released, in exact numbers, and never what it costs: the price is the
business of an accountant. The meaning of an event never changes, so a stored one can be priced
again by a later, tighter accountant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import TypeAlias

from tacit.errors import CertificateError, SettingError

# 1536 bits are at most 463 digits, so a fraction is written in at most 927 characters.
LARGEST_BITS = 1536
LONGEST_NUMBER = 1024
LONGEST_LABEL = 200
DEEPEST_NESTING = 16

_NUMBER = re.compile(r"(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """An integer vector released with Gaussian noise, rounded to the integers.

    The exact vector moves by at most ``sqrt(squared_sensitivity)`` in Euclidean norm between
    neighbouring tables. Each coordinate gets independent N(0, variance) noise and is rounded to
    an integer, which is post-processing of the real Gaussian mechanism with
    ``mu^2 = squared_sensitivity / variance``.

    Guarantee
    ---------
    - `mu_squared` is an exact rational, with no rounding anywhere.
    - Floats are refused: a float that was rounded before it came here could understate the cost.

    Parameters
    ----------
    squared_sensitivity
        Square of the L2 sensitivity, at least 0.
    variance
        Variance of the noise per coordinate, above 0.
    label
        What was released, in at most 200 printable characters.

    Examples
    --------
    >>> Gaussian(squared_sensitivity=9, variance=36).mu_squared
    Fraction(1, 4)
    """

    squared_sensitivity: Fraction | int
    variance: Fraction | int
    label: str = ""

    def __post_init__(self) -> None:
        for name in ("squared_sensitivity", "variance"):
            object.__setattr__(self, name, _exact(name, getattr(self, name)))
        if self.squared_sensitivity < 0:
            raise SettingError("squared_sensitivity is negative; expected a number of at least 0")
        if self.variance <= 0:
            raise SettingError(
                "variance is not positive; expected a number above 0. "
                "A release without noise has no Gaussian event"
            )
        _require_line(self.label)

    @property
    def mu_squared(self) -> Fraction:
        """Square of the Gaussian differential privacy parameter."""
        return Fraction(self.squared_sensitivity) / Fraction(self.variance)


@dataclass(frozen=True, slots=True)
class Repeated:
    """The same event several times, each with fresh noise, possibly chosen adaptively.

    Guarantee
    ---------
    - An accountant prices ``Repeated(event, k)`` exactly as k copies of the event.

    Parameters
    ----------
    event
        What happened each time.
    times
        How often, at least 1.

    Examples
    --------
    >>> Repeated(Gaussian(1, 100), times=20).times
    20
    """

    event: Event
    times: int

    def __post_init__(self) -> None:
        times = _exact("times", self.times)
        if not isinstance(times, int) or times < 1:
            raise SettingError("times is not a count; expected an integer of at least 1")
        object.__setattr__(self, "times", times)
        inner, depth = self.event, 1
        while isinstance(inner, Repeated):
            inner, depth = inner.event, depth + 1
        if not isinstance(inner, Gaussian):
            raise SettingError(
                f"a {type(inner).__name__} cannot be repeated; expected an event: Gaussian or "
                "Repeated"
            )
        if depth > DEEPEST_NESTING:
            raise SettingError(
                f"Repeated is nested more than {DEEPEST_NESTING} deep; multiply the counts instead"
            )


Event: TypeAlias = Gaussian | Repeated


def to_json(event: Event) -> dict[str, object]:
    """Write an event as a dictionary of strings, ready for JSON.

    The field ``event`` tags the kind; numbers are exact strings, ``"a"`` or ``"a/b"`` in lowest
    terms.

    Guarantee
    ---------
    - ``from_json(to_json(event)) == event`` for every event.

    Examples
    --------
    >>> to_json(Gaussian(1, Fraction(3, 2)))
    {'event': 'gaussian', 'squared_sensitivity': '1', 'variance': '3/2', 'label': ''}
    """
    match event:
        case Gaussian():
            return {
                "event": "gaussian",
                "squared_sensitivity": str(event.squared_sensitivity),
                "variance": str(event.variance),
                "label": event.label,
            }
        case Repeated():
            return {
                "event": "repeated",
                "inner": to_json(event.event),
                "times": str(event.times),
            }
        case _:
            raise SettingError(
                f"a {type(event).__name__} is not an event; expected Gaussian or Repeated"
            )


def from_json(document: object) -> Event:
    """Read an event that `to_json` wrote.

    Guarantee
    ---------
    - Anything that `to_json` could not have written is refused with `CertificateError`: unknown
      tags, missing or unknown fields, numbers that are no exact strings in lowest terms, numbers
      and nestings beyond the bounds of an event.
    - What is accepted has one spelling: ``to_json(from_json(document)) == document``.

    Raises
    ------
    CertificateError
        If the document is not an event.

    Examples
    --------
    >>> from_json({"event": "gaussian", "squared_sensitivity": "1", "variance": "4", "label": ""})
    Gaussian(squared_sensitivity=1, variance=4, label='')
    """
    return _read(document, depth=0)


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
    if not isinstance(tag, str) or tag not in _READERS:
        known = ", ".join(f'"{name}"' for name in _READERS)
        raise CertificateError(
            f"unknown event {repr(tag)[:60]}; this version knows {known}. "
            "A newer version may have written it: verify it with that one"
        )
    try:
        return _READERS[tag](document, depth)
    except SettingError as error:
        raise CertificateError(f'event "{tag}": {error}') from error


def _read_gaussian(document: Mapping[object, object], depth: int) -> Event:
    del depth
    _require_fields(document, {"event", "squared_sensitivity", "variance", "label"})
    label = document["label"]
    if not isinstance(label, str):
        raise CertificateError('event "gaussian": label is not text')
    return Gaussian(
        squared_sensitivity=_read_number(document, "squared_sensitivity"),
        variance=_read_number(document, "variance"),
        label=label,
    )


def _read_repeated(document: Mapping[object, object], depth: int) -> Event:
    _require_fields(document, {"event", "inner", "times"})
    times = _read_number(document, "times")
    if not isinstance(times, int):
        raise CertificateError('event "repeated": times is not an integer')
    return Repeated(event=_read(document["inner"], depth + 1), times=times)


_READERS: Mapping[str, Callable[[Mapping[object, object], int], Event]] = {
    "gaussian": _read_gaussian,
    "repeated": _read_repeated,
}


def _require_fields(document: Mapping[object, object], expected: set[str]) -> None:
    found = set(document)
    if found != expected:
        # Sorted by text, because the keys of a foreign document need not be comparable.
        wrong = sorted(repr(name)[:60] for name in found ^ expected)
        raise CertificateError(
            f"an event has missing or unknown fields: {', '.join(wrong[:5])}; "
            f"expected exactly {', '.join(sorted(expected))}"
        )


def _read_number(document: Mapping[object, object], name: str) -> Fraction | int:
    text = document[name]
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


def _require_line(label: object) -> None:
    if not isinstance(label, str) or len(label) > LONGEST_LABEL or not label.isprintable():
        raise SettingError(
            f"label is not a line of text; expected at most {LONGEST_LABEL} printable characters"
        )


def _exact(name: str, value: object) -> Fraction | int:
    """Return an exact number of bounded size, integers as ``int``."""
    exact: Fraction | int
    if isinstance(value, bool):
        raise SettingError(f"{name} is a bool; expected an int or a Fraction")
    if isinstance(value, Integral):
        exact = int(value)
    elif isinstance(value, Fraction):
        exact = value.numerator if value.denominator == 1 else value
    else:
        raise SettingError(
            f"{name} is a {type(value).__name__}; expected an int or a Fraction, "
            "because the cost is computed from exact numbers"
        )
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > LARGEST_BITS:
        raise SettingError(f"{name} has more than {LARGEST_BITS} bits; expected a smaller number")
    return exact
