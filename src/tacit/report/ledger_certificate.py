"""What a whole ledger promises, in words and in a small table by analyst."""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_CEILING

from tacit.documents.quoting import quoted
from tacit.inference.text_table import Table, rounded
from tacit.ledger.joint_certificate import JointCertificate
from tacit.report.statements import odds_of

MOST_ANALYSTS = 50
"""Lines of a table that a person reads."""


def joint_promise(certificate: JointCertificate) -> str:
    """What all charges of a ledger guarantee together, for a reader who knows no epsilon.

    Guarantee
    ---------
    - No number is below the one that the certificate was found to add up to.
    """
    guarantee, document = certificate.rederive(), certificate.parsed
    charges = document["charges"]
    several = guarantee.unit != "row"
    count = "One charge" if len(charges) == 1 else f"All {len(charges)} charges together"
    table = "" if document["dataset"] is None else f" to the table {quoted(document['dataset'])}"
    promised = (
        f"{count}{table}: whatever anybody concludes from all these numbers, put together, would "
        f"have been about as likely {odds_of(guarantee, several=several)}."
    )
    sentences = [promised]
    unknown = sum(charge["release"] is None for charge in charges)
    if unknown:
        sentences.append(
            f"Of {unknown} of them no answer is known to have left; they count as if it had."
        )
    sentences.append("This holds if what the certificate of each fit presupposes holds.")
    return " ".join(sentences)


def analyst_table(certificate: JointCertificate) -> Table:
    """What each analyst's charges guarantee by themselves, and all of them together.

    Guarantee
    ---------
    - No analyst can be named as a line of the table's own, which stand in brackets.
    """
    total, found = certificate.rederive(), certificate.by_analyst(MOST_ANALYSTS)
    counts = Counter(charge.get("analyst") for charge in certificate.parsed["charges"])
    rows = [
        (_who(analyst), f"{counts[analyst]:,}", rounded(own.epsilon, 6, ROUND_CEILING))
        for analyst, own in found.items()
    ]
    if len(counts) > len(found):
        rows.append((f"({len(counts) - len(found)} more analysts)", "", ""))
    rows.append(("(together)", f"{counts.total():,}", rounded(total.epsilon, 6, ROUND_CEILING)))
    delta = rounded(total.delta, 3, ROUND_CEILING)
    return Table(("analyst", "charges", f"epsilon at delta {delta}"), tuple(rows))


def _who(analyst: str | None) -> str:
    return "(not named)" if analyst is None else quoted(analyst)
