"""The page of a ledger or of its certificate, for a data-protection officer: what was spent, by whom and on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any

from tacit.accounting.composition import compose
from tacit.documents.canonical_json import quoted
from tacit.ledger.joint_certificate import JointCertificate
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event_json import from_json
from tacit.report.hazards import WORDS, ledger_hazards
from tacit.report.odds import delta_in_words, detection_sentence, suspicion_table
from tacit.report.page import Page, Section
from tacit.report.protections import compared, protected, unprotected
from tacit.report.statements import MOST_ANALYSTS, analyst_table, joint_promise
from tacit.text_table import Table, rounded

TITLE = "Privacy report of a ledger"
MOST_CHARGES, LONGEST_VALUE = 200, 120
OTHERS = "Releases of the same records that did not go through this ledger."


def ledger_page(ledger: Ledger, name: str = "") -> Page:
    """Lay out what all charges guarantee together, and what is left of the budget.

    Guarantee: file, chain and amounts are verified first; what does not hold raises `LedgerError`.
    """
    checked, status = ledger.verify(), ledger.status()
    whose = "nobody" if ledger.analyst is None else quoted(ledger.analyst)
    part = f" of what is granted to {whose}" if status.granted else ""
    words = f"The budget is {status.budget}. Left{part}: {status}.", *_paused(ledger)
    budget = Section("Budget", words, table=_grants(ledger))
    last = Section("Checked for this page", (checked.statement,))
    footer = (f"Head of the chain: {checked.head}",)
    if not ledger.charges():
        verdict = "Nothing has been charged yet: nothing was released through this ledger."
        return Page(TITLE, _of(ledger.terms.dataset, name), verdict, good=True, sections=(budget, last), footer=footer)
    page = joint_page(ledger.certificate(), name=name)
    parts = tuple(budget if part.title == budget.title else part for part in page.sections[:-1])
    return replace(page, sections=(*parts, last), footer=footer)


def joint_page(certificate: JointCertificate, key: str | None = None, name: str = "") -> Page:
    """Lay out what the certificate of a ledger states.

    Guarantee: what is stated is derived again from the events. What does not add up raises `CertificateError`.
    """
    found, total = certificate.check(key), certificate.rederive()
    document, unit = certificate.parsed, quoted(total.unit)
    charges = document["charges"]
    unknown = sum(charge["release"] is None for charge in charges)
    meaning = (joint_promise(certificate), detection_sentence(total, unit))
    sections = (
        Section("Whom it protects", (compared(total.relation, unit),)),
        Section("What that means, in odds", meaning, table=suspicion_table(total)),
        Section("What is protected", items=protected(total.relation, unit)),
        Section("What is not protected", items=unprotected(total.relation, unit, others=OTHERS)),
        Section("Budget", (f"The budget is {Budget(**document['budget'])}. All charges are within it.",)),
        Section("Who spent it", table=analyst_table(certificate)),
        Section("What was released", table=_charges(charges, total)),
        Section("Hazards, and what is known of each", WORDS, table=ledger_hazards(document, found, unknown)),
        Section("Checked for this page", (found.statement,)),
    )
    count = "One charge" if len(charges) == 1 else f"All {len(charges)} charges together"
    verdict = (
        f"{count}: private, with ε = {rounded(total.epsilon, 4, ROUND_CEILING)} and "
        f"{delta_in_words(total.delta)} for every {unit}, if the premises of each fit hold."
    )
    footer = (f"Digest of the certificate: {certificate.digest}",)
    return Page(TITLE, _of(document["dataset"], name), verdict, good=True, sections=sections, footer=footer)


def _of(dataset: str | None, name: str) -> str:
    table = "no named table" if dataset is None else f"the table {quoted(dataset, LONGEST_VALUE)}"
    return f"budget for {table}" + (f"; from the file {quoted(name, LONGEST_VALUE)}" if name else "")


def _paused(ledger: Ledger) -> tuple[str, ...]:
    return tuple(
        f"{'All charges are' if who is None else f'Charges of {quoted(who)} are'} paused: {quoted(why, LONGEST_VALUE)}."
        for who, why in ledger.status().paused.items()
    )


def _grants(ledger: Ledger) -> Table | None:
    """What each analyst was granted, and what is left of it; parts of the whole budget, rounded down."""
    granted = ledger.status().granted
    rows = [
        (quoted(name), rounded(whole, 3, ROUND_FLOOR), rounded(left, 3, ROUND_FLOOR), str(ledger.status(analyst=name)))
        for name, (whole, left) in sorted(granted.items())[:MOST_ANALYSTS]
    ]
    if len(granted) > len(rows):
        rows.append((f"({len(granted) - len(rows)} more analysts)", "", "", ""))
    return Table(("analyst", "granted", "left of the budget", "that is"), tuple(rows)) if rows else None


def _charges(charges: Sequence[Mapping[str, Any]], total: Guarantee) -> Table:
    rows = []
    for charge in charges[:MOST_CHARGES]:
        alone = compose([from_json(event) for event in charge["events"]], total.relation).epsilon(total.delta)
        what = ": ".join(filter(None, (charge["label"], charge.get("formula")))) or "not said"
        analyst = charge.get("analyst")
        rows.append(
            (
                quoted(charge["time"][:19].replace("T", " "), LONGEST_VALUE).strip('"'),
                "not named" if analyst is None else quoted(analyst),
                quoted(what, LONGEST_VALUE).strip('"'),
                rounded(alone, 4, ROUND_CEILING),
                "yes" if charge["release"] is not None else "not known",
            )
        )
    if len(charges) > MOST_CHARGES:
        rows.append((f"({len(charges) - MOST_CHARGES} more, in the ledger)", "", "", "", ""))
    delta = rounded(total.delta, 3, ROUND_CEILING)
    return Table(("when (UTC)", "who", "what", f"ε alone, at δ = {delta}", "answer left"), tuple(rows))
