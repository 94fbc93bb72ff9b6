"""What a certificate says of a sum over a batch: how it was drawn, and what that makes of its price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.sensitivity import LARGEST_BITS
from tacit.documents.canonical_json import fields_of, require, require_fields
from tacit.errors import CertificateError, SettingError

_SENSITIVITY = fields_of("bound:str squared:str sampling:str sample:str population:str")
_NOISE = fields_of("law:str bits:int variance:str")
_LONGEST = 31


def stated_batches(batches: Batches) -> dict[str, str]:
    """How batches are drawn, as strings."""
    return {"sampling": str(batches.sampling), "sample": str(batches.sample), "population": str(batches.population)}


def read_batch_price(entry: Mapping[str, Any], place: str) -> BatchPrice:
    """Return the price that an entry states, or refuse it; what follows from the price is compared elsewhere."""
    for name, own in (("sensitivity", _SENSITIVITY), ("noise", _NOISE)):
        require_fields(entry[name], own, f"{place}: {name}")
    stated, bits = entry["sensitivity"], entry["noise"]["bits"]
    require(0 <= bits <= LARGEST_BITS, f"{place}: noise.bits is not from 0 to {LARGEST_BITS}")
    known = stated["sampling"] in list(Sampling)
    require(known, f"{place}: sensitivity.sampling is not one of {', '.join(Sampling)}")
    for name in ("bound", "sample", "population"):
        require(_is_count(stated[name]), f"{place}: sensitivity.{name} is not a whole number above 0")
    try:
        batches = Batches(Sampling(stated["sampling"]), int(stated["sample"]), int(stated["population"]))
    except SettingError as error:
        raise CertificateError(f"{place}: {error}") from error
    return BatchPrice(int(stated["bound"]), bits, batches)


def _is_count(text: str) -> bool:
    return len(text) <= _LONGEST and text.isascii() and text.isdigit() and str(int(text)) == text != "0"
