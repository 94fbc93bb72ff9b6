import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.accounting.composition import mu_squared_of
from tacit.certificate.certificate import FORMAT, INFINITE, Certificate
from tacit.certificate.stated_parts import SEEDED
from tacit.contract.plan import Penalty, Plan, PublicFact, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.contract.sensitivity import price_for
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.documents.canonical_json import canonical, digest_of
from tacit.errors import BudgetError, CertificateError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.gradient import Gradient
from tacit.solvers.noisy_steps import Descent

BUDGET = Budget(epsilon=1.0, delta=1e-6)
FACTS = (
    PublicFact("n", 1000, "assumed"),
    PublicFact("bounds", (np.float64(0.0), math.inf), "declared"),
    PublicFact("classes", np.array(["no", "yes"]), "assumed"),
)

Path = tuple[str | int, ...]


def make_plan(relation: Relation = Relation.REPLACE_ONE, budget: Budget = BUDGET) -> Plan:
    response = Binary("y", (0, 1))
    design = matrix_design(["a", "b"], response, bounds=(0, 1), row_norm=None, intercept=True)
    steps = []
    for kind, times in ((QueryKind.SECOND_MOMENTS, 2), (QueryKind.GRADIENT, 20)):
        price = None
        if not budget.is_infinite:
            share = mu_squared_of(budget) / 2 / times
            price = price_for(kind, share, relation, records=1000, width=3)
        steps.append(Step(kind, price, times, Purpose.GRADIENT))
    return Plan(
        solver=Gradient(Descent(20, 1.0, 0.0, None, "average")),
        loss=classification.LOGISTIC,
        design=design,
        records=1000,
        relation=relation,
        unit="patient",
        budget=budget,
        steps=tuple(steps),
        penalty=Penalty(),
        facts=FACTS,
    )


def issue(plan: Plan, *, reproducible: bool = False) -> Certificate:
    return Certificate.issue(Release(plan, np.array([0.5, -1.0, 2.0]), reproducible))


ISSUED = issue(make_plan())


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        yield path, value
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def with_leaf(document: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed = json.loads(json.dumps(document))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed  # type: ignore[no-any-return]


def altered(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return math.nextafter(value, math.inf)
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")
        case _:
            return "something"


def forged(document: dict[str, Any]) -> Certificate:
    """What a forger makes who knows how the digest is computed."""
    return Certificate.from_json(json.dumps({**document, "digest": digest_of(document)}))


def test_a_round_trip_keeps_every_bit() -> None:
    again = Certificate.from_json(ISSUED.to_json())
    assert again == ISSUED
    assert Certificate.from_json(ISSUED.to_json(indent=None).encode()) == ISSUED
    assert again.check().consistent


def test_the_fields_are_as_documented() -> None:
    document = ISSUED.document
    assert document["format"] == FORMAT
    assert (document["private"], document["why_not_private"]) == (True, None)
    assert (document["relation"], document["unit"]) == ("replace-one", "patient")
    assert (document["solver"], document["loss"]) == ("gradient", "logistic")
    assert document["records"] == {"which": "n", "value": 1000}
    assert document["public"][1] == {"name": "bounds", "value": [0.0, "inf"], "source": "declared"}
    assert document["public"][2]["value"] == ["no", "yes"]
    assert document["budget"] == {"epsilon": 1.0, "delta": 1e-6, "mu": None, "rho": None}
    assert set(document["versions"]) == {"tacit", "python", "numpy", "numba"}
    assert document["signature"] is None
    gradient = document["events"][1]
    bound, bits = int(gradient["sensitivity"]["bound"]), gradient["noise"]["bits"]
    assert int(gradient["sensitivity"]["squared"]) == 4 * bound**2
    assert int(gradient["noise"]["variance"]) == 4**bits
    assert (gradient["query"], gradient["times"]) == ("gradient", 20)
    assert gradient["arithmetic"] == "exact"
    assert list(json.loads(ISSUED.to_json()))[:2] == ["format", "private"]


def test_the_total_agrees_with_an_independent_computation() -> None:
    document = ISSUED.document
    square = sum(
        Fraction(entry["times"]) * int(entry["sensitivity"]["squared"]) / int(entry["noise"]["variance"])
        for entry in document["events"]
    )
    total = document["total"]
    assert total["mu_squared"] == str(square)
    with mpmath.workdps(40):
        mu = mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator)
        assert mu <= total["mu"] <= mu * (1 + mpmath.mpf("1e-15"))

        def delta(epsilon: float) -> Any:
            first = mpmath.ncdf(-epsilon / mu + mu / 2)
            return first - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)

        # At the stated epsilon the true delta is within the stated one, and only just.
        assert delta(total["epsilon"]) <= total["delta"]
        assert delta(total["epsilon"] * (1 - 1e-6)) > total["delta"]
    assert total["epsilon"] <= 1.0 + 1e-9


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("budget", [BUDGET, Budget(mu=0.3, delta=1e-5), Budget(rho=0.05, delta=1e-9)])
def test_every_relation_and_currency_is_issued_and_checked(relation: Relation, budget: Budget) -> None:
    certificate = issue(make_plan(relation, budget))
    guarantee = Certificate.from_json(certificate.to_json()).rederive()
    assert guarantee == make_plan(relation, budget).guarantee()
    which = certificate.document["records"]["which"]
    assert which == ("n" if relation.n_is_public else "n_at_least")


def test_the_digest_is_the_same_for_the_same_release() -> None:
    assert issue(make_plan()).digest == ISSUED.digest
    assert issue(make_plan(Relation.ZERO_OUT)).digest != ISSUED.digest
    shuffled = dict(reversed(ISSUED.document.items()))
    assert Certificate.from_json(json.dumps(shuffled, indent=7)) == ISSUED


def test_every_altered_field_is_found() -> None:
    document = ISSUED.document
    places = list(leaves(document))
    assert len(places) > 50
    for path, value in places:
        changed = with_leaf(document, path, altered(value))
        with pytest.raises(CertificateError):
            Certificate.from_json(json.dumps(changed)).check()


def test_every_missing_and_every_added_field_is_found() -> None:
    document = ISSUED.document
    objects = [document, *(document[name] for name in ("total", "records", "budget", "versions"))]
    objects += [*document["events"], *document["public"]]
    for item in objects:
        for name in list(item):
            value = item.pop(name)
            with pytest.raises(CertificateError):
                Certificate(canonical(document))
            item[name] = value
        item["further"] = 1
        with pytest.raises(CertificateError, match="further"):
            Certificate(canonical(document))
        del item["further"]
    assert Certificate(canonical(document)) == ISSUED


FREE = {*"unit solver loss public versions records digest signature released".split()}  # noqa: SIM905


def test_a_forger_who_recomputes_the_digest_cannot_touch_the_proof() -> None:
    """Every number that the total rests on is bound to the others, digest or no digest."""
    document = ISSUED.document
    tried = 0
    for path, value in leaves(document):  # a little more epsilon, a larger budget are harmless
        tolerated = path in {("total", "epsilon"), ("total", "mu"), ("budget", "epsilon")}
        if path[0] in FREE or (path[-1] == "label" and len(path) == 3) or tolerated:
            continue
        tried += 1
        with pytest.raises(CertificateError):
            forged(with_leaf(document, path, altered(value))).check()
    assert tried > 30


def lower(name: str, factor: float) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["total"][name] *= factor

    return change


def relabel_relation(document: dict[str, Any]) -> None:
    document["relation"] = "zero-out"


def hide_relation(document: dict[str, Any]) -> None:
    document["relation"] = "add-remove"
    document["records"]["which"] = "n_at_least"


def drop_event(document: dict[str, Any]) -> None:
    del document["events"][0]


def fewer_times(document: dict[str, Any]) -> None:
    document["events"][1]["times"] = 19
    document["events"][1]["event"]["times"] = "19"


def claim_noise_was_not_needed(document: dict[str, Any]) -> None:
    document["events"][0].update(event=None, sensitivity=None, noise=None)


def shrink_budget(document: dict[str, Any]) -> None:
    document["budget"]["epsilon"] = 0.999


def other_delta(document: dict[str, Any]) -> None:
    document["total"]["delta"] = 1e-5


def seeded_but_private(document: dict[str, Any]) -> None:
    document["why_not_private"] = SEEDED


def private_at_infinity(document: dict[str, Any]) -> None:
    document["budget"].update(epsilon="inf", delta=None)


def guarantee_without_privacy(document: dict[str, Any]) -> None:
    document.update(private=False, why_not_private=SEEDED)


def total_as_text(document: dict[str, Any]) -> None:
    document["total"]["epsilon"] = "0.5"


def unreadable_unit(document: dict[str, Any]) -> None:
    document["unit"] = "row\x1b[2J"


def unknown_query(document: dict[str, Any]) -> None:
    document["events"][0]["query"] = "median"


def endless_count(document: dict[str, Any]) -> None:
    document["events"][0]["times"] = 10**400


def float_count(document: dict[str, Any]) -> None:
    document["events"][0]["times"] = 2.0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lower("epsilon", 1 - 1e-12), "total.epsilon"),
        (lower("epsilon", 1 + 1e-8), "total.epsilon"),
        (lower("mu", 1 - 1e-12), "total.mu"),
        (lower("mu", 1 + 1e-8), "total.mu"),
        (relabel_relation, "sensitivity|event"),
        (hide_relation, "sensitivity|event"),
        (drop_event, "total.mu_squared"),
        (fewer_times, "total.mu_squared"),
        (claim_noise_was_not_needed, "without noise"),
        (shrink_budget, "budget"),
        (other_delta, "total.delta"),
        (seeded_but_private, "why_not_private"),
        (private_at_infinity, "why_not_private"),
        (guarantee_without_privacy, "private is false"),
        (total_as_text, "total.epsilon"),
        (unreadable_unit, "unit"),
        (unknown_query, "query"),
        (endless_count, "times"),
        (float_count, "times"),
    ],
)
def test_a_forgery_is_named(change: Callable[[dict[str, Any]], None], named: str) -> None:
    document = ISSUED.document
    change(document)
    with pytest.raises(CertificateError, match=named):
        forged(document).check()


def test_an_unsigned_certificate_is_said_to_be_consistent_only() -> None:
    found = ISSUED.check()
    assert (found.consistent, found.signed, found.signer) == (True, False, None)
    assert "Only consistency was checked" in found.statement
    assert "nobody vouches" in found.statement
    assert "replace-one, per patient" in found.statement
    with pytest.raises(CertificateError, match="signature is missing"):
        ISSUED.check("ab" * 32)


def test_t15_a_fixed_seed_marks_the_certificate_not_private() -> None:
    certificate = issue(make_plan(), reproducible=True)
    document = certificate.document
    assert (document["private"], document["why_not_private"]) == (False, SEEDED)
    assert document["total"] == {"epsilon": "inf", "delta": 1.0, "mu": "inf", "mu_squared": "inf"}
    assert certificate.rederive().infinite
    statement = certificate.check().statement
    assert "No guarantee is stated: noise from a fixed seed" in statement
    assert "ε" not in statement
    assert not certificate.private


@pytest.mark.parametrize("reproducible", [False, True])
@pytest.mark.parametrize("budget", [Budget(epsilon=math.inf), Budget(mu=math.inf)])
def test_an_infinite_epsilon_marks_the_certificate_not_private(budget: Budget, reproducible: bool) -> None:
    certificate = issue(make_plan(budget=budget), reproducible=reproducible)
    document = json.loads(certificate.to_json())
    assert (document["private"], document["why_not_private"]) == (False, INFINITE)
    assert document["total"]["epsilon"] == "inf"
    assert [entry["event"] for entry in document["events"]] == [None, None]
    assert "Infinity" not in certificate.text
    assert INFINITE in Certificate.from_json(certificate.to_json()).check().statement


def test_a_private_plan_with_an_answer_without_noise_gets_no_certificate() -> None:
    plan = make_plan()
    bare = replace(plan, steps=(*plan.steps, Step(QueryKind.GRADIENT, None, 1, Purpose.GRADIENT)))
    with pytest.raises(CertificateError, match="no noise"):
        issue(bare)
    doubled = replace(plan, steps=plan.steps * 2)
    with pytest.raises(CertificateError, match="more than the budget"):
        issue(doubled)
    without_delta = replace(plan, budget=Budget(mu=0.2))
    with pytest.raises(BudgetError, match="delta"):
        issue(without_delta)


numbers = st.floats(allow_nan=False, allow_infinity=False)
junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), numbers, st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), value=junk)
def test_any_junk_anywhere_is_refused_or_harmless(data: st.DataObject, value: Any) -> None:
    """Whatever replaces a field, digest recomputed: refused, or the guarantee is unchanged."""
    document = ISSUED.document
    guarantee = ISSUED.rederive()
    path = data.draw(st.sampled_from([path for path, _ in leaves(document)]))
    cut = data.draw(st.integers(min_value=1, max_value=len(path)))
    try:
        found = forged(with_leaf(document, path[:cut], value)).rederive()
    except CertificateError:
        return
    assert found.infinite or replace(found, unit=guarantee.unit) == guarantee
