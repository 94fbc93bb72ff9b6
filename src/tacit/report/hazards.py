"""What could make a guarantee worth less than it says, and whether it does here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.contract.plan import CHOICES, ONE_RECORD, PREPROCESSING, VALID, cautions
from tacit.documents.canonical_json import quoted
from tacit.documents.signature import Verification
from tacit.privacy.budget import Guarantee
from tacit.report.page import Status
from tacit.text_table import Table

Hazard = tuple[str, Status, str]
HEADERS = ("hazard", "status", "what that means here")
_EXACT = "exact"
WORDS = (
    f"{Status.HELD.capitalize()}: it cannot happen here.",
    f"{Status.ASSUMED.capitalize()}: somebody took for granted that it does not happen, or does no harm.",
    f"{Status.OPEN.capitalize()}: nothing in this release guards against it.",
)


def fit_hazards(
    document: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], guarantee: Guarantee, found: Verification
) -> Table:
    """Hazards of one release, from its certificate."""
    names = {fact["name"]: fact["source"] for fact in document["public"]}
    unit, records = quoted(document["unit"]), document["records"]
    warned = cautions(guarantee.epsilon, guarantee.delta, records["value"], n_is_public=records["which"] == "n")
    hazards: list[Hazard] = [
        ("Too weak a budget", Status.OPEN if warned else Status.HELD, " ".join(warned) or "ε and δ are moderate."),
        _several(names, unit),
        _invalid(names),
        _number(records, unit),
        _read_off(names),
        _declared(names),
        _arithmetic(entries),
        *_sampling(entries),
        *_common(found),
        (
            "Further releases of the same records",
            Status.OPEN,
            "Costs add up, and this document knows of one release. A ledger adds up all of them.",
        ),
    ]
    return Table(HEADERS, tuple((name, str(status), meaning) for name, status, meaning in hazards))


def ledger_hazards(document: Mapping[str, Any], found: Verification, unknown: int) -> Table:
    """Hazards of all that was charged to a ledger."""
    hazards: list[Hazard] = [
        (
            "Further releases of the same records",
            Status.HELD if document["dataset"] is not None else Status.ASSUMED,
            "All releases that went through this ledger are added up. One that did not is not known to it.",
        ),
        (
            "Charges whose answer is not known to have left",
            Status.HELD,
            f"There are {unknown}; they count as if it had left." if unknown else "There are none.",
        ),
        (
            "Premises of the single fits",
            Status.ASSUMED,
            "What the certificate of each fit presupposes must hold; this page does not list it.",
        ),
        *_common(found),
    ]
    return Table(HEADERS, tuple((name, str(status), meaning) for name, status, meaning in hazards))


def _several(names: Mapping[str, str], unit: str) -> Hazard:
    title = f"Several records of one {unit}"
    if ONE_RECORD in names:
        return (
            title,
            Status.ASSUMED,
            f"Each {unit} is assumed to have at most one record. Who has more is protected less.",
        )
    if "max_rows_per_unit" in names or "unit" in names:
        return title, Status.HELD, f"A column names the {unit} of each record, and their number is bounded."
    return title, Status.HELD, "The guarantee is for one record, and says so."


def _invalid(names: Mapping[str, str]) -> Hazard:
    title = "Refusals that tell of a record"
    if VALID in names:
        return (
            title,
            Status.ASSUMED,
            "A table with an invalid record would have been refused. That it was not tells so.",
        )
    return title, Status.HELD, "No content of a record could make the computation fail."


def _number(records: Mapping[str, Any], unit: str) -> Hazard:
    if records["which"] == "n":
        return "The number of records", Status.ASSUMED, "It is taken as public, and is not protected."
    return "The number of records", Status.HELD, f"It is private: whether a {unit} is in the table is protected too."


def _read_off(names: Mapping[str, str]) -> Hazard:
    found = {"classes", "column types", PREPROCESSING, CHOICES}
    read = [name for name, source in names.items() if source == "assumed" and name in found]
    if read:
        what = " and ".join(read)
        return "Facts that were read off the table", Status.ASSUMED, f"Public by assumption: {what}."
    return "Facts that were read off the table", Status.HELD, "Nothing but the names of columns, and n where public."


def _declared(names: Mapping[str, str]) -> Hazard:
    title = "Declarations that were made with a look at the records"
    if "declared" in names.values():
        return (
            title,
            Status.ASSUMED,
            "Bounds, levels and the formula must come from outside the table. No check can tell.",
        )
    return title, Status.HELD, "Nothing was declared."


def _arithmetic(entries: Sequence[Mapping[str, Any]]) -> Hazard:
    kinds = sorted({str(entry["arithmetic"]) for entry in entries})
    if set(kinds) <= {_EXACT}:
        return "Rounding of computers", Status.HELD, "Noise and sums are whole numbers, drawn and added exactly."
    return (
        "Rounding of computers",
        Status.ASSUMED,
        f"Arithmetic: {', '.join(map(quoted, kinds))}. The proof is of real numbers.",
    )


def _sampling(entries: Sequence[Mapping[str, Any]]) -> list[Hazard]:
    if not any(entry["query"] == "batch-gradient" for entry in entries):
        return []
    return [
        (
            "Random samples that must be secret",
            Status.HELD,
            "A part of the protection comes from which records a step read. That was drawn afresh and is not released.",
        )
    ]


def _common(found: Verification) -> list[Hazard]:
    signed = f"Signed by {quoted(found.signer or '')}." if found.signed else "Anybody could have written this file."
    return [
        ("A document that somebody altered", Status.HELD if found.signed else Status.OPEN, signed),
        (
            "Time, memory, and who can read the table",
            Status.OPEN,
            "Not part of any guarantee: protect the machine, and let nobody measure it.",
        ),
    ]
