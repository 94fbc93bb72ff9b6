"""The page of one release, for a data-protection officer: from its certificate, or from a stored fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from tacit.accounting.composition import compose
from tacit.certificate.certificate import Certificate
from tacit.certificate.fit_file import StoredFit
from tacit.certificate.search_certificate import SearchCertificate
from tacit.documents.canonical_json import plain, quoted
from tacit.documents.signature import Verification
from tacit.privacy.budget import Guarantee
from tacit.privacy.event_json import from_json
from tacit.report.hazards import WORDS, fit_hazards
from tacit.report.odds import delta_in_words, detection_sentence, suspicion_table
from tacit.report.page import Page, Section
from tacit.report.protections import compared, protected, unprotected
from tacit.report.statements import noise_multiplier, promise
from tacit.text_table import Table, columns_of_numbers, rounded

TITLE = "Privacy report of a release"
MOST_ROWS, LONGEST_VALUE = 60, 160
OTHERS = "Other releases of the same records, unless a ledger accounts for them together."
_QUERIES = {
    "gradient": "sum of clipped gradients",
    "batch-gradient": "sum of clipped gradients over a secret random batch",
    "second-moments": "sum of bounded second moments",
    "column-moments": "sums of bounded columns and of their squares",
    "sandwich": "curvature and spread of the scores, bounded",
    "counts": "counts, or sums of values between 0 and 1",
    "means": "sums of bounded statistics",
    "group-means": "counts and bounded sums of groups",
    "perturbed-minimum": "minimum of a randomly tilted objective",
    "damped-direction": "damped Newton direction",
    "noisy-minimum": "minimum with noise added to it",
}


_LABELS = {
    "nominal": "The 95% intervals are nominal: they cover the true value in 93 to 97% of such fits.",
    "conservative": "The 95% intervals are conservative: they cover the true value in 94% of such fits, or more.",
    "approximate": "The 95% intervals are approximate.",
}


def certificate_page(of: Certificate | SearchCertificate | StoredFit, key: str | None = None, name: str = "") -> Page:
    """Lay out what a release guarantees, on what that rests, and how accurate the release is.

    Guarantee: what is stated is derived again from the events. What does not add up raises `CertificateError`.
    """
    stored = of if isinstance(of, StoredFit) else None
    found = of.check(key)
    certificate = of.certificate if isinstance(of, StoredFit) else of
    document = certificate.parsed
    entries = _entries(certificate)
    accuracy = _accuracy(stored)
    last = (accuracy, _facts(document), _small_print(certificate, found))
    if not document["private"]:
        why = quoted(str(document["why_not_private"]), LONGEST_VALUE).strip('"')
        verdict = f"NOT private: {why}. Nothing is promised. Do not publish this release."
        return Page(TITLE, _subject(document, name), verdict, good=False, sections=last, footer=_footer(certificate))
    guarantee = certificate.rederive()
    unit = quoted(guarantee.unit)
    sections = (
        _whom(document, guarantee),
        _meaning(certificate, guarantee, unit),
        Section("What is protected", items=protected(guarantee.relation, unit)),
        Section("What is not protected", items=unprotected(guarantee.relation, unit, others=OTHERS)),
        Section("How: noise in every answer", _mechanism_words(certificate), table=_mechanisms(entries)),
        Section("How the cost adds up", _composition(certificate, guarantee)),
        Section("Hazards, and what is known of each", WORDS, table=fit_hazards(document, entries, guarantee, found)),
        *last,
    )
    verdict = (
        f"Private, with ε = {rounded(guarantee.epsilon, 4, ROUND_CEILING)} and "
        f"{delta_in_words(guarantee.delta)} for every {unit}, if the assumed facts below hold."
    )
    return Page(TITLE, _subject(document, name), verdict, good=True, sections=sections, footer=_footer(certificate))


def _entries(certificate: Certificate | SearchCertificate) -> list[Mapping[str, Any]]:
    parts = ("trial_fit", "trial_score", "refit") if isinstance(certificate, SearchCertificate) else ("events",)
    return [entry for part in parts for entry in certificate.parsed[part]]


def _subject(document: Mapping[str, Any], name: str) -> str:
    what = document.get("solver") or f"private search of {document['estimator']}"
    formula = next((fact["value"] for fact in document["public"] if fact["name"] == "formula"), None)
    model = quoted(str(formula), LONGEST_VALUE) if formula is not None else f"loss {quoted(document['loss'])}"
    return f"{model}, computed by {quoted(what)}" + (f"; from the file {quoted(name, LONGEST_VALUE)}" if name else "")


def _whom(document: Mapping[str, Any], guarantee: Guarantee) -> Section:
    unit, records = quoted(guarantee.unit), document["records"]
    count = f"{records['value']:,}"
    told = f"The table has {count} records." if records["which"] == "n" else f"The table has at least {count} records."
    return Section("Whom it protects", (compared(guarantee.relation, unit), told))


def _meaning(certificate: Certificate | SearchCertificate, guarantee: Guarantee, unit: str) -> Section:
    table = suspicion_table(guarantee)
    rest = (
        f"Suppose somebody suspects something about one {unit}, knows everything about all others, and then reads this "
        "release. The table says what the suspicion can become because of the records of this one. It leaves out an "
        f"event of probability {delta_in_words(guarantee.delta)}."
    )
    return Section(
        "What that means, in odds", (promise(certificate), detection_sentence(guarantee, unit), rest), table=table
    )


def _mechanism_words(certificate: Certificate | SearchCertificate) -> tuple[str, ...]:
    words = (
        "No record leaves. The computation asked the questions below. To each answer random noise was added. The last "
        "column says how many times as large the noise is as what one unit can change in the answer."
    )
    if isinstance(certificate, SearchCertificate):
        return words, "Several settings were tried. The table is of the one that was chosen; all trials are paid for."
    return (words,)


def _mechanisms(entries: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for entry in entries[:MOST_ROWS]:
        multiplier = "none" if entry["event"] is None else noise_multiplier(entry["sensitivity"], entry["noise"])
        law = "none" if entry["noise"] is None else quoted(str(entry["noise"]["law"]), LONGEST_VALUE).strip('"')
        asked = _QUERIES.get(entry["query"], quoted(entry["query"]))
        rows.append((quoted(entry["label"]).strip('"'), asked, f"{entry['times']:,}", law, multiplier))
    if len(entries) > MOST_ROWS:
        rows.append((f"({len(entries) - MOST_ROWS} more, in the certificate)", "", "", "", ""))
    headers = ("for", "what was asked", "times", "noise", "noise over what one unit changes")
    return Table(headers, tuple(rows))


def _composition(certificate: Certificate | SearchCertificate, guarantee: Guarantee) -> tuple[str, ...]:
    if isinstance(certificate, SearchCertificate):
        total = compose([from_json(event) for event in certificate.parsed["events"]], guarantee.relation)
        priced = f"priced by its {quoted(total.price(guarantee.delta).accountant)} accountant"
        return (f"A random number of trials was run and the best one released. The whole search is {priced}.",)
    square = certificate.parsed["total"]["mu_squared"]
    epsilon, delta = (rounded(it, 4, ROUND_CEILING) for it in (guarantee.epsilon, guarantee.delta))
    if square is not None:
        mu = rounded(math.sqrt(Fraction(square)), 4, ROUND_CEILING)
        exactly = f"All noise is Gaussian, so costs add up exactly: the squares of the single μ add up to {mu} squared."
        return exactly, f"That is ε = {epsilon} at δ = {delta}, rounded up. It was computed again for this page."
    return (f"All answers together cost ε = {epsilon} at δ = {delta}, rounded up, computed again for this page.",)


def _accuracy(stored: StoredFit | None) -> Section:
    title = "How accurate the release is"
    if stored is None:
        return Section(
            title, ("A certificate says nothing about accuracy. Make the report of the stored fit for that.",)
        )
    estimates = stored.estimates
    terms = estimates.terms[:MOST_ROWS]
    numbers = columns_of_numbers(
        *([getattr(term, name) for term in terms] for name in ("coef", "std_err", "lower", "upper"))
    )
    rows = [
        (quoted(term.name, LONGEST_VALUE).strip('"'), *row)
        for term, row in zip(terms, zip(*numbers, strict=True), strict=True)
    ]
    if len(estimates.terms) > MOST_ROWS:
        rows.append((f"({len(estimates.terms) - MOST_ROWS} more, in the file)", "", "", "", ""))
    told = estimates.reliability
    words = []
    if told.offered and told.statement is not None:
        words.append(_LABELS.get(told.statement, f"The intervals are {quoted(told.statement)}."))
    if not any(term.std_err is not None for term in terms):
        words.append("No standard errors were paid for: how far the coefficients are off is not known.")
    else:
        words.append("Standard errors contain the error of the noise as well as that of sampling.")
    headers = ("coefficient", "estimate", "standard error", "lower 95%", "upper 95%")
    return Section(title, (*words, *told.notes), table=Table(headers, tuple(rows)))


def _facts(document: Mapping[str, Any]) -> Section:
    rows = [
        (quoted(fact["name"], LONGEST_VALUE).strip('"'), quoted(fact["source"]).strip('"'), _value(fact["value"]))
        for fact in document["public"][:MOST_ROWS]
    ]
    if len(document["public"]) > MOST_ROWS:
        rows.append((f"({len(document['public']) - MOST_ROWS} more, in the certificate)", "", ""))
    assumed = "Assumed facts must be true, and their being public must harm nobody. Nobody checked them."
    declared = "Declared facts must have been chosen without a look at the records."
    table = Table(("fact", "source", "value"), tuple(rows))
    return Section("Facts that were assumed or declared public", (assumed, declared), table=table)


def _value(value: object) -> str:
    if isinstance(value, str):
        return quoted(value, LONGEST_VALUE).strip('"')
    if isinstance(value, Mapping):
        return quoted("; ".join(f"{name}: {_value(it)}" for name, it in value.items()), LONGEST_VALUE).strip('"')
    if isinstance(value, list | tuple):
        return quoted(", ".join(_value(it) for it in value), LONGEST_VALUE).strip('"')
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else quoted(str(plain(value))).strip('"')


def _small_print(certificate: Certificate | SearchCertificate, found: Verification) -> Section:
    versions = certificate.parsed["versions"]
    made = ", ".join(f"{quoted(name)} {quoted(str(number))}" for name, number in versions.items())
    return Section("Checked for this page", (found.statement, f"Made with {made}."))


def _footer(certificate: Certificate | SearchCertificate) -> tuple[str, ...]:
    words = (
        "ε (epsilon) bounds by which factor, e^ε, one unit can change the probability of any conclusion. δ (delta) is "
        "the probability with which this may fail. μ states the same for Gaussian noise."
    )
    return words, f"Digest of the certificate: {certificate.digest}"
