"""What a certificate says of one step of a plan, and how it is read back.

Everything but a few numbers (bounds, bits, how often) follows from them and the relation, and is
derived again when a certificate is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tacit.contract.plan import Step
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import LARGEST_BITS, AnyPrice, MinimumPrice, Price, events_of
from tacit.documents.canonical_json import canonical
from tacit.documents.reading import FieldTypes, require_fields
from tacit.errors import CertificateError
from tacit.privacy import event as events
from tacit.privacy.event import Composed, Event, Repeated
from tacit.privacy.relation import Relation

LAW = "gaussian rounded to integers"
LARGEST_COUNT = 2**63
BOUNDED_FLOAT = frozenset({QueryKind.MINIMUM, QueryKind.DIRECTION})
"""Answers computed in floats, whose proven error is inside the sensitivity."""

_DIGITS = re.compile(r"0|[1-9][0-9]{0,30}", re.ASCII)
_RATIO = re.compile(r"[1-9][0-9]{0,30}(/[1-9][0-9]{0,30})?", re.ASCII)
_SENSITIVITY: FieldTypes = {"bound": (str,), "squared": (str,)}
_NOISE: FieldTypes = {"law": (str,), "bits": (int,), "variance": (str,)}
_MINIMUM: FieldTypes = {**_SENSITIVITY, "ratio": (str,), "drift": (str,)}
_MINIMUM_NOISE: FieldTypes = {**_NOISE, "drift_bits": (int,)}


def entry_of(step: Step, relation: Relation) -> dict[str, Any]:
    """Everything the certificate says of one step, derived from the few facts that fix it."""
    times, price = int(step.times), step.price
    entry: dict[str, Any] = {"query": str(step.kind), "label": step.label, "times": times}
    arithmetic = "bounded-float" if step.kind in BOUNDED_FLOAT else "exact"
    entry |= {"size": int(step.size), "arithmetic": arithmetic}
    if price is None:
        return {**entry, "event": None, "sensitivity": None, "noise": None}
    found = events_of(step.kind, price, relation, step.size)
    event = found[0] if len(found) == 1 else Composed(found)
    squared = found[0].squared_sensitivity  # type: ignore[attr-defined]
    sensitivity = {"bound": str(price.bound), "squared": str(squared)}
    noise: dict[str, Any] = {"law": LAW, "bits": price.bits, "variance": str(4**price.bits)}
    if isinstance(price, MinimumPrice):
        sensitivity |= {"ratio": str(price.ratio), "drift": str(price.drift.bound)}
        noise["drift_bits"] = price.drift.bits
    return {
        **entry,
        "event": events.to_json(Repeated(event, times)),
        "sensitivity": sensitivity,
        "noise": noise,
    }


def read_entry(entry: Mapping[str, Any], relation: Relation, place: str) -> Event | None:
    """Return the event of an entry; all it states must follow from the relation and the price."""
    if entry["query"] not in list(QueryKind):
        raise CertificateError(f"{place}: unknown query; a newer version may have written it")
    if not 0 <= entry["times"] < LARGEST_COUNT:
        raise CertificateError(f"{place}: times is not a count")
    kind, size = QueryKind(entry["query"]), entry["size"]
    if not 1 <= size < (LARGEST_COUNT if kind is QueryKind.COUNTS else 2):
        raise CertificateError(f"{place}: size is not a number of counts")
    price = None if entry["event"] is None else _read_price(entry, kind, place)
    derived = entry_of(Step(kind, price, entry["times"], entry["label"], size), relation)
    for name, value in derived.items():
        if canonical({name: entry[name]}) != canonical({name: value}):
            raise CertificateError(
                f"{place}: {name} does not follow from the bound, the noise, the count and the "
                f"relation {relation}"
            )
    return None if price is None else events.from_json(entry["event"])


def _read_price(entry: Mapping[str, Any], kind: QueryKind, place: str) -> AnyPrice:
    perturbed = kind is QueryKind.MINIMUM
    sensitivity, noise = entry["sensitivity"], entry["noise"]
    require_fields(sensitivity, _MINIMUM if perturbed else _SENSITIVITY, f"{place}: sensitivity")
    require_fields(noise, _MINIMUM_NOISE if perturbed else _NOISE, f"{place}: noise")
    price = Price(_bound(sensitivity, "bound", place), _bits(noise, "bits", place))
    if not perturbed:
        return price
    if not _RATIO.fullmatch(sensitivity["ratio"]):
        raise CertificateError(f"{place}: sensitivity.ratio is not a positive fraction")
    drift = Price(_bound(sensitivity, "drift", place), _bits(noise, "drift_bits", place))
    return MinimumPrice(price.bound, price.bits, Fraction(sensitivity["ratio"]), drift)


def _bound(sensitivity: Mapping[str, Any], name: str, place: str) -> int:
    if not _DIGITS.fullmatch(sensitivity[name]):
        raise CertificateError(f"{place}: sensitivity.{name} is not a whole number")
    return int(sensitivity[name])


def _bits(noise: Mapping[str, Any], name: str, place: str) -> int:
    if not 0 <= noise[name] <= LARGEST_BITS:
        raise CertificateError(f"{place}: noise.{name} is not from 0 to {LARGEST_BITS}")
    bits: int = noise[name]
    return bits
