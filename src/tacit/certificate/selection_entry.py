"""What a certificate says of a selection: the bound of its scores, how far neighbours can be apart, and its rate."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tacit.contract.query import QueryKind
from tacit.contract.selection_price import SMALLEST_RATE, SelectionPrice, score_range
from tacit.contract.selection_query import SelectionLaw
from tacit.documents.canonical_json import fields_of, require, require_fields
from tacit.privacy.relation import Relation

_SENSITIVITY = fields_of("bound:str range:str")
_NOISE = fields_of("law:str rate:str")
_BOUND = re.compile(r"[1-9][0-9]{0,30}", re.ASCII)
_RATE = re.compile(r"[1-9][0-9]{0,400}(/[1-9][0-9]{0,400})?", re.ASCII)


def stated_selection(
    price: SelectionPrice, kind: QueryKind, relation: Relation
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sensitivity and law of a selection, as strings."""
    sensitivity = {"bound": str(price.bound), "range": str(score_range(kind, price.bound, relation))}
    return sensitivity, {"law": str(price.law), "rate": str(price.rate)}


def read_selection_price(entry: Mapping[str, Any], place: str) -> SelectionPrice:
    """Return the price that an entry states, or refuse it; what follows from the price is compared elsewhere."""
    for name, own in (("sensitivity", _SENSITIVITY), ("noise", _NOISE)):
        require_fields(entry[name], own, f"{place}: {name}")
    bound, law, rate = entry["sensitivity"]["bound"], entry["noise"]["law"], entry["noise"]["rate"]
    require(_BOUND.fullmatch(bound), f"{place}: sensitivity.bound is not a whole number")
    require(law in list(SelectionLaw), f"{place}: noise.law is not one of {', '.join(SelectionLaw)}")
    require(_RATE.fullmatch(rate), f"{place}: noise.rate is not a positive fraction")
    found = Fraction(rate)
    require(SMALLEST_RATE <= found <= 1, f"{place}: noise.rate is not from 2^-52 to 1")
    return SelectionPrice(int(bound), found, SelectionLaw(law))
