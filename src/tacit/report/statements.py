"""What a plan costs, what a certificate and a whole ledger guarantee: in words and small tables."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.accounting.objective_perturbation import objective_mu
from tacit.certificate.certificate import Certificate
from tacit.certificate.holdout_certificate import HoldoutCertificate
from tacit.certificate.search_certificate import SearchCertificate
from tacit.contract.plan import LEVEL_ONLY, ONE_RECORD, VALID, Plan, cautions
from tacit.contract.sensitivity import events_of
from tacit.documents.canonical_json import plain, quoted
from tacit.privacy.budget import Guarantee
from tacit.privacy.event import BoundedRange, Gaussian, PerturbedObjective, Pure
from tacit.text_table import Table, rounded

if TYPE_CHECKING:
    from tacit.ledger.joint_certificate import JointCertificate

_ONE_RECORD = {
    "replace-one": "had the record of any one {unit} been a different one",
    "zero-out": "had the record of any one {unit} been blank",
    "add-remove": "had any one {unit} not been in the table, or one more been in it",
}
_ALL_RECORDS = {
    **_ONE_RECORD,
    "replace-one": "had all records of any one {unit} been different ones",
    "zero-out": "had all records of any one {unit} been blank",
}
"""The same where a unit may have several records."""
_SEVERAL = frozenset({"unit", "max_rows_per_unit"})  # Public facts that say so.
_PUBLIC = {
    "columns": "the names of the columns are public",
    "column types": "the types of the columns are public",
    "classes": "the classes, which were read from the labels, are public",
}
"""Assumed facts of fixed names, in plain words."""
_MOST_PREMISES, LONGEST_PREMISE, MOST_ANALYSTS = 20, 200, 50  # Of a text or a table that a person reads.


def plan_table(plan: Plan) -> Table:
    """Steps of a plan, how often each reads the records, and its share of the budget.

    The share is of μ², which adds up; of a perturbed objective, which has no μ, that of the Gaussian noise in it; of a
    selection, the μ² of the same zero-concentrated cost. Where delta is 0 it is of ε.
    """
    costs: dict[str, Fraction] = defaultdict(Fraction)
    passes: Counter[str] = Counter()
    # Steps of one label, as in rounds, are one line.
    for step in plan.steps:
        if step.price is not None:
            passes[step.label] += step.times
            for event in events_of(step.kind, step.price, plan.relation, step.size):
                if isinstance(event, PerturbedObjective):
                    costs[step.label] += step.times * Fraction(objective_mu(event, plan.relation)) ** 2
                elif isinstance(event, Gaussian):
                    costs[step.label] += step.times * event.mu_squared
                elif isinstance(event, BoundedRange):
                    # Its zero-concentrated cost is η²/8, that of Gaussian noise μ²/2.
                    costs[step.label] += step.times * Fraction(event.eta) ** 2 / 4
                elif isinstance(event, Pure):
                    costs[step.label] += step.times * Fraction(event.epsilon)
    total = sum(costs.values(), Fraction(0))
    if total == 0 and passes:
        # Sampled sums have no μ; where they are all there is, one step is the whole.
        total = costs[next(iter(passes))] = Fraction(1)
    rows = [(name, f"{times}", f"{float(costs[name] / total):.0%}") for name, times in passes.items()]
    return Table(("step", "passes", "share of budget"), tuple(rows))


def plan_headline(plan: Plan) -> str:
    """The solver and size of a plan; the declared lower bound where the number is private."""
    least = "at least " if plan.private and not plan.relation.n_is_public else ""
    how = f"{plan.queries} passes over the records" if plan.private else "without noise: not private"
    level = f". {LEVEL_ONLY}" if plan.level_only else ""
    return f"{plan.solver.name} on {least}{plan.records:,} records, {plan.design.width} coefficients, {how}{level}"


def forecast_line(plan: Plan) -> str | None:
    """What the planner expects to lose to privacy, or None where it has no bound."""
    found = plan.forecast
    return None if found is None else f"expected excess loss at most {found.excess_loss:.3g}, if {found.assumption}"


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as plain data; infinity is "inf"."""
    guarantee, forecast = plan.guarantee(), plan.forecast
    return {
        "solver": plan.solver.name,
        "loss": plan.loss.name,
        "records": plan.records,
        "coefficients": list(plan.design.names),
        "steps": [{"query": str(step.kind), "label": step.label, "times": step.times} for step in plan.steps],
        "epsilon": plain(guarantee.epsilon),
        "delta": guarantee.delta,
        # A private plan may have no μ; without privacy it is infinite.
        "mu": plain(guarantee.mu if plan.private else math.inf),
        "relation": str(plan.relation),
        "unit": plan.unit,
        "private": plan.private,
        **{name: getattr(forecast, name, None) for name in ("excess_loss", "assumption")},
    }


def promise(certificate: Certificate | SearchCertificate | HoldoutCertificate) -> str:
    """What the certificate promises, for a reader who has never heard of epsilon, and if what."""
    document = certificate.parsed
    if not document["private"]:
        return f"Nothing is promised: {document['why_not_private']}. Do not publish this fit."
    several = not _SEVERAL.isdisjoint(fact["name"] for fact in document["public"])
    guarantee, records = certificate.rederive(), document["records"]
    odds = odds_of(guarantee, several=several)
    promised = f"Whatever is concluded from these numbers would have been about as likely {odds}."
    warned = cautions(guarantee.epsilon, guarantee.delta, records["value"], n_is_public=records["which"] == "n")
    return " ".join((promised, *warned, *premises(certificate)))


def odds_of(guarantee: Guarantee, *, several: bool) -> str:
    """Say in which case conclusions would have been about as likely, and how nearly so."""
    changes = _ALL_RECORDS if several else _ONE_RECORD
    change = changes[str(guarantee.relation)].format(unit=quoted(guarantee.unit))
    rest = f", plus a probability of {rounded(guarantee.delta, 3, ROUND_CEILING)}" if guarantee.delta > 0.0 else ""
    return f"{change}: at most {_factor(guarantee.epsilon)} times as likely{rest}"


def _factor(epsilon: float) -> str:
    """e^ε, rounded up; beyond a million a power says more than its digits."""
    large = epsilon > math.log(1e6)
    return f"e^{rounded(epsilon, 4, ROUND_CEILING)}" if large else rounded(math.exp(epsilon), 3, ROUND_CEILING)


def premises(certificate: Certificate | SearchCertificate | HoldoutCertificate) -> tuple[str, ...]:
    """Say on which assumed and declared facts the guarantee rests; nothing where there are none."""
    facts, unit = certificate.parsed["public"], quoted(certificate.parsed["unit"])
    assumed = [_premise(fact, unit) for fact in facts if fact["source"] == "assumed"]
    if len(assumed) > _MOST_PREMISES:
        rest = len(assumed) - _MOST_PREMISES
        assumed = [*assumed[:_MOST_PREMISES], f"{rest} more, in the certificate, are true"]
    if any(fact["source"] == "declared" for fact in facts):
        assumed.append("what was declared (bounds, levels, the formula) did not depend on records")
    return (f"This holds if: {'; '.join(assumed)}.",) if assumed else ()


def _premise(fact: Mapping[str, Any], unit: str) -> str:
    name, value = fact["name"], fact["value"]
    fixed = {**_PUBLIC, ONE_RECORD: f"each {unit} has at most one record"}
    if name in fixed:
        return fixed[name]
    if name.startswith("number of "):
        return f"the number of {quoted(name.removeprefix('number of '))} is public"
    # A fact that is true or false is a sentence, such as "each patient has at most one record".
    said = VALID if name == VALID and value is True else quoted(name, LONGEST_PREMISE)
    if isinstance(value, bool):
        return said if value else f"it is not so that {said}"
    return f"{said} is public"


def certificate_table(certificate: Certificate | SearchCertificate | HoldoutCertificate) -> Table:
    """Events of a certificate: what was asked, how often, and the noise over the sensitivity.

    Of a search, those of the winner's trial, and of its refit; of a holdout, its two pure events.
    """
    headers = ("event", "times", "noise / sensitivity")
    if isinstance(certificate, HoldoutCertificate):
        # A pure event of ε has noise of scale sensitivity / ε, or privacy as if it had.
        found = [(event["inner"], event["times"]) for event in certificate.parsed["events"]]
        scales = [rounded(float(1 / Fraction(inner["epsilon"])), 4, ROUND_FLOOR) for inner, _ in found]
        return Table(headers, tuple((it["label"], n, scale) for (it, n), scale in zip(found, scales, strict=True)))
    parts = ("trial_fit", "trial_score", "refit") if isinstance(certificate, SearchCertificate) else ("events",)
    rows = []
    for entry in (entry for part in parts for entry in certificate.parsed[part]):
        multiplier = "none" if entry["event"] is None else noise_multiplier(entry["sensitivity"], entry["noise"])
        rows.append((quoted(entry["label"]), str(entry["times"]), multiplier))
    return Table(headers, tuple(rows))


def noise_multiplier(sensitivity: Mapping[str, str], noise: Mapping[str, str]) -> str:
    """Noise over sensitivity of an entry, rounded down: by their squares, or by scale and bound where those are."""
    squared = Fraction(sensitivity["squared"]) if "squared" in sensitivity else Fraction(sensitivity["bound"]) ** 2
    variance = Fraction(noise["variance"]) if "variance" in noise else Fraction(noise["scale"]) ** 2
    return rounded(math.sqrt(variance / squared), 4, ROUND_FLOOR) if squared else "inf"


def joint_promise(certificate: JointCertificate) -> str:
    """What all charges of a ledger guarantee together, for a reader who knows no epsilon; rounded up."""
    guarantee, document = certificate.rederive(), certificate.parsed
    charges = document["charges"]
    count = "One charge" if len(charges) == 1 else f"All {len(charges)} charges together"
    table = "" if document["dataset"] is None else f" to the table {quoted(document['dataset'])}"
    promised = (
        f"{count}{table}: whatever anybody concludes from all these numbers, put together, would "
        f"have been about as likely {odds_of(guarantee, several=guarantee.unit != 'row')}."
    )
    unknown = sum(charge["release"] is None for charge in charges)
    left = f" Of {unknown} of them no answer is known to have left; they count as if it had." if unknown else ""
    return f"{promised}{left} This holds if what the certificate of each fit presupposes holds."


def analyst_table(certificate: JointCertificate) -> Table:
    """What each analyst's charges guarantee, and all together; lines in brackets are the table's own, and no names."""
    total, found = certificate.rederive(), certificate.by_analyst(MOST_ANALYSTS)
    counts = Counter(charge.get("analyst") for charge in certificate.parsed["charges"])
    rows = [
        ("(not named)" if who is None else quoted(who), f"{counts[who]:,}", rounded(own.epsilon, 6, ROUND_CEILING))
        for who, own in found.items()
    ]
    if len(counts) > len(found):
        rows.append((f"({len(counts) - len(found)} more analysts)", "", ""))
    rows.append(("(together)", f"{counts.total():,}", rounded(total.epsilon, 6, ROUND_CEILING)))
    delta = rounded(total.delta, 3, ROUND_CEILING)
    return Table(("analyst", "charges", f"epsilon at delta {delta}"), tuple(rows))
