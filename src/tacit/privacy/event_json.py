"""Events as JSON: one tag per kind, exact numbers as strings."""

import functools
import re
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from tacit.errors import CertificateError, SettingError
from tacit.privacy import event as events
from tacit.privacy.event import DEEPEST_NESTING, Event, RunCountLaw

LONGEST_NUMBER = 1024
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)

# The tags are part of the stored format.
_KINDS: Mapping[str, Mapping[str, type[Any]]] = {
    "event": {
        "gaussian": events.Gaussian,
        "repeated": events.Repeated,
        "composed": events.Composed,
        "laplace": events.Laplace,
        "pure": events.Pure,
        "approximate": events.Approximate,
        "bounded-range": events.BoundedRange,
        "discrete-gaussian": events.DiscreteGaussian,
        "objective-perturbation": events.ObjectivePerturbation,
        "softmax-perturbation": events.SoftmaxPerturbation,
        "votes": events.Votes,
        "poisson-sampled": events.PoissonSampled,
        "sampled-without-replacement": events.SampledWithoutReplacement,
        "sampled-with-replacement": events.SampledWithReplacement,
        "random-stopping": events.RandomStopping,
    },
    "law": {"negative-binomial": events.NegativeBinomial, "poisson": events.PoissonRuns},
}
# The key "event" is taken by the tag.
_SPELLING = {"event": "inner"}


def to_json(event: Event) -> dict[str, object]:
    """Write an event as a dictionary of strings, ready for JSON.

    ``event`` is the kind, ``inner`` an event inside; numbers are ``"a"`` or ``"a/b"``.

    Guarantee: ``from_json(to_json(event)) == event`` for every event.

    Examples
    --------
    >>> to_json(events.Gaussian(1, Fraction(3, 2)))
    {'event': 'gaussian', 'squared_sensitivity': '1', 'variance': '3/2', 'label': ''}
    """
    return _written(event, "event")


def from_json(document: object) -> Event:
    """Read an event that `to_json` wrote.

    Guarantee: anything that `to_json` could not have written is refused with `CertificateError`: unknown tags, missing
    or unknown fields, numbers that are no exact strings in lowest terms, numbers and nestings beyond the bounds of an
    event. What is accepted has one spelling: ``to_json(from_json(document)) == document``.
    """
    event: Event = _read(document, "event", depth=0)
    return event


def _written(item: Any, what: str) -> dict[str, object]:
    for tag, kind in _KINDS[what].items():
        if type(item) is kind:
            values = {it.name: getattr(item, it.name) for it in fields(kind)}
            return {what: tag} | {_SPELLING.get(name, name): _write(it) for name, it in values.items()}
    known = ", ".join(kind.__name__ for kind in _KINDS[what].values())
    raise SettingError(f"a {type(item).__name__} is not an {what}; expected one of {known}")


def _write(value: object) -> object:
    if isinstance(value, tuple):
        return [to_json(event) for event in value]
    if isinstance(value, Event | RunCountLaw):
        return _written(value, "event" if isinstance(value, Event) else "law")
    return str(value)


@functools.cache
def _spellings(kind: Any) -> dict[str, str]:
    """Keys in a document, by the names of the fields."""
    return {it.name: _SPELLING.get(it.name, it.name) for it in fields(kind)}


def _read(document: object, what: str, depth: int) -> Any:
    """Read an event, or the law of the runs inside one."""
    if depth > DEEPEST_NESTING:
        raise CertificateError(f"events are nested more than {DEEPEST_NESTING} deep; expected what to_json writes")
    if not isinstance(document, Mapping):
        raise CertificateError(f'{what}: written as a {type(document).__name__}; expected an object with "{what}"')
    tag, kinds = document.get(what), _KINDS[what]
    if not isinstance(tag, str) or tag not in kinds:
        known = ", ".join(f'"{name}"' for name in kinds)
        newer = "A newer version may have written it: verify it with that one"
        raise CertificateError(f"unknown {what} {repr(tag)[:60]}; this version knows {known}. {newer}")
    kind: Any = kinds[tag]
    spellings = _spellings(kind)
    expected = {what, *spellings.values()}
    if document.keys() != expected:
        # Sorted by text, because the keys of a foreign document need not be comparable.
        wrong = sorted(repr(name)[:60] for name in set(document) ^ expected)
        fault, exactly = ", ".join(wrong[:5]), ", ".join(sorted(expected))
        raise CertificateError(f"an event has missing or unknown fields: {fault}; expected exactly {exactly}")
    try:
        return kind(*(_read_field(name, document[key], depth) for name, key in spellings.items()))
    except SettingError as error:
        raise CertificateError(f'{what} "{tag}": {error}') from error


def _read_field(name: str, value: object, depth: int) -> Any:
    if name == "label":
        return value
    if name in _KINDS:
        return _read(value, name, depth + 1)
    if name == "events":
        if not isinstance(value, list):
            raise CertificateError(f"{name} is not a list of events")
        return tuple(_read(event, "event", depth + 1) for event in value)
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER or not _NUMBER.fullmatch(value):
        expected = f'a string "a" or "a/b" of digits, at most {LONGEST_NUMBER} characters'
        raise CertificateError(f"{name} is not an exact number; expected {expected}")
    number = Fraction(value)
    # Two spellings of one fact would have two digests.
    if str(number) != value:
        raise CertificateError(f"{name} is not in lowest terms; expected the reduced fraction")
    return number.numerator if number.denominator == 1 else number
