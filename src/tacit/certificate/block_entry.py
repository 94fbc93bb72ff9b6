"""What a certificate says of answers about blocks that are drawn: medians, and deep points."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tacit.contract.block_price import BlockPrice, ChoicePrice, DepthPrice
from tacit.contract.query import QueryKind
from tacit.documents.canonical_json import fields_of, require, require_fields

_RATIO = re.compile(r"[1-9][0-9]{0,400}(/[1-9][0-9]{0,400})?", re.ASCII)
_FIELDS = {
    QueryKind.BLOCK_MEDIAN: (fields_of("score:str"), fields_of("law:str rate:str")),
    QueryKind.BLOCK_DEPTH: (fields_of("distance:str depth:str"), fields_of("law:str test:str rate:str shell:str")),
}


def stated_block_price(price: BlockPrice) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sensitivity and noise of such an answer: one block moves a score, a distance or a depth by 1."""
    if isinstance(price, ChoicePrice):
        return {"score": "1"}, {"law": "exponential mechanism", "rate": str(price.rate)}
    noise = {"law": "stability test and depth", "test": str(price.test), "rate": str(price.rate)}
    return {"distance": "1", "depth": "1"}, {**noise, "shell": str(price.shell)}


def read_block_price(entry: Mapping[str, Any], kind: QueryKind, place: str) -> BlockPrice:
    """Return the price that an entry states, or refuse it; what follows from the price is compared elsewhere."""
    for name, own in zip(("sensitivity", "noise"), _FIELDS[kind], strict=True):
        require_fields(entry[name], own, f"{place}: {name}")

    def number(name: str) -> Fraction:
        text = entry["noise"][name]
        require(_RATIO.fullmatch(text), f"{place}: noise.{name} is not a positive fraction")
        return Fraction(text)

    if kind is QueryKind.BLOCK_MEDIAN:
        return ChoicePrice(number("rate"))
    price = DepthPrice(number("test"), number("rate"), number("shell"))
    require(price.shell <= 1, f"{place}: noise.shell is not a probability")
    return price
