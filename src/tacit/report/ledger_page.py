"""The page of a ledger, for a data-protection officer: the budget, what was spent, by whom and on what."""

from __future__ import annotations

from decimal import ROUND_CEILING
from typing import Any

from tacit.accounting.composition import compose
from tacit.documents.canonical_json import quoted
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Guarantee
from tacit.report.hazards import WORDS, ledger_hazards
from tacit.report.odds import delta_in_words, detection_sentence, suspicion_table
from tacit.report.page import Page, Section
from tacit.report.protections import compared, protected, unprotected
from tacit.report.statements import analyst_table, joint_promise
from tacit.text_table import Table, rounded

TITLE = "Privacy report of a ledger"
MOST_CHARGES, LONGEST_VALUE = 200, 120
OTHERS = "Releases of the same records that did not go through this ledger."


def ledger_page(ledger: Ledger, name: str = "") -> Page:
    """Lay out what all charges guarantee together, and what is left of the budget.

    Guarantee: file, chain and amounts are verified first; what does not hold raises `LedgerError`.
    """
    checked = ledger.verify()
    terms, status, charges = ledger.terms, ledger.status(), ledger.charges()
    dataset = "no named table" if terms.dataset is None else f"the table {quoted(terms.dataset, LONGEST_VALUE)}"
    of = f"budget for {dataset}" + (f"; from the file {quoted(name, LONGEST_VALUE)}" if name else "")
    budget = Section("Budget", (f"The budget is {status.budget}. Left: {status}.", *_paused(ledger)))
    last = Section("Checked for this page", (checked.statement,))
    footer = (f"Head of the chain: {checked.head}",)
    if not charges:
        verdict = "Nothing has been charged yet: nothing was released through this ledger."
        return Page(TITLE, of, verdict, good=True, sections=(budget, last), footer=footer)
    certificate = ledger.certificate()
    total, found = certificate.rederive(), certificate.check()
    unit = quoted(total.unit)
    sections = (
        Section("Whom it protects", (compared(total.relation, unit),)),
        Section(
            "What that means, in odds",
            (joint_promise(certificate), detection_sentence(total, unit)),
            table=suspicion_table(total),
        ),
        Section("What is protected", items=protected(total.relation, unit)),
        Section("What is not protected", items=unprotected(total.relation, unit, others=OTHERS)),
        budget,
        Section("Who spent it", table=analyst_table(certificate)),
        Section("What was released", table=_charges(charges, total)),
        Section(
            "Hazards, and what is known of each",
            WORDS,
            table=ledger_hazards(certificate.parsed, found, checked.unreleased),
        ),
        last,
    )
    verdict = (
        f"All {len(charges)} charges together: private, with ε = {rounded(total.epsilon, 4, ROUND_CEILING)} and "
        f"{delta_in_words(total.delta)} for every {unit}, if the premises of each fit hold."
    )
    return Page(TITLE, of, verdict, good=True, sections=sections, footer=footer)


def _paused(ledger: Ledger) -> tuple[str, ...]:
    return tuple(
        f"{'All charges are' if who is None else f'Charges of {quoted(who)} are'} paused: {quoted(why, LONGEST_VALUE)}."
        for who, why in ledger.status().paused.items()
    )


def _charges(charges: Any, total: Guarantee) -> Table:
    rows = []
    for charge in charges[:MOST_CHARGES]:
        alone = compose(charge.events, total.relation).epsilon(total.delta)
        what = ": ".join(filter(None, (charge.label, charge.formula))) or "not said"
        rows.append(
            (
                quoted(charge.time[:19].replace("T", " "), LONGEST_VALUE).strip('"'),
                "not named" if charge.analyst is None else quoted(charge.analyst),
                quoted(what, LONGEST_VALUE).strip('"'),
                rounded(alone, 4, ROUND_CEILING),
                "yes" if charge.release is not None else "not known",
            )
        )
    if len(charges) > MOST_CHARGES:
        rows.append((f"({len(charges) - MOST_CHARGES} more, in the ledger)", "", "", "", ""))
    delta = rounded(total.delta, 3, ROUND_CEILING)
    return Table(("when (UTC)", "who", "what", f"ε alone, at δ = {delta}", "answer left"), tuple(rows))
