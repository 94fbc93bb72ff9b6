"""The laws of a ledger: what each takes, what is left under it, and that it never changes."""

import os
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.accounting.composition import compose
from tacit.errors import AccountingError, BudgetError, LedgerError, SettingError
from tacit.ledger.chain import Chain
from tacit.ledger.entry import Entry, EntryKind, Terms
from tacit.ledger.law import LedgerLaw, law_of
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    Event,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    PoissonSampled,
    Pure,
)
from tacit.privacy.event_json import to_json

SETTINGS: dict[str, Any] = {"relation": "replace-one", "unit": "row"}
BUDGET = Budget(epsilon=3, delta=1e-6)
OBJECTIVE = ObjectivePerturbation(1, 400, Fraction(1, 100), 1)
SAMPLED = PoissonSampled(Gaussian(1, 9), Fraction(1, 50))
EVENTS: dict[str, Event] = {
    "gdp": Gaussian(1, 400),
    "zcdp": BoundedRange(Fraction(1, 10)),
    "rdp": OBJECTIVE,
    "pure": Laplace(1, 10),
}
LAWS = tuple(EVENTS)


def begun(law: str, path: Path | None = None, **more: Any) -> Ledger:
    budget = Budget(epsilon=3, delta=0) if law == "pure" else BUDGET
    return Ledger(path, budget=budget, law=law, **more)


@pytest.mark.parametrize("law", LAWS)
def test_as_many_fits_as_it_says_and_all_of_them_are_within_the_budget(law: str, tmp_path: Path) -> None:
    ledger, event = begun(law, tmp_path / "a.ledger"), EVENTS[law]
    ledger.commit(ledger.reserve([event], **SETTINGS), "sha256:first")
    more = ledger.status().more_like_last
    assert more is not None
    assert more > 1
    for _ in range(more):
        ledger.reserve([event], **SETTINGS)
    with pytest.raises(BudgetError, match="Nothing was spent"):
        ledger.reserve([event], **SETTINGS)
    total = compose([event] * (more + 1), "replace-one").epsilon(ledger.terms.delta)
    stated = ledger.guarantee()
    assert stated is not None
    assert total == stated.epsilon <= 3.0
    again = Ledger(tmp_path / "a.ledger", law=law)
    assert again.verify().charges == more + 1
    assert again.terms.document()["law"] == law
    found = again.certificate().check()
    assert "All charges add up" in found.statement
    assert again.certificate().rederive().epsilon == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("epsilon", [0.02, 1.0, 30.0])
def test_what_is_left_can_be_spent_and_granted(law: str, epsilon: float) -> None:
    ledger = Ledger(budget=Budget(epsilon=epsilon, delta=0 if law == "pure" else 1e-7), law=law, analyst="ana")
    tiny: Event = Pure(Fraction(1, 10**6)) if law == "pure" else Gaussian(1, 10**8)
    ledger.reserve([tiny], **SETTINGS)
    remaining, left = ledger.remaining(), ledger.status().left
    assert remaining is not None
    assert left is not None
    ledger.grant("ben", left)
    ledger.grant(None, source="ben")
    ledger.grant("ana", remaining)
    if law == "pure":
        assert remaining == left
        ledger.reserve([Pure(Fraction(remaining.epsilon or 0))], **SETTINGS)
    else:
        ledger.reserve([Gaussian(Fraction(remaining.mu or 0) ** 2, 1)], **SETTINGS)
    assert ledger.verify().charges == 2
    spent = ledger.guarantee()
    assert spent is not None
    assert spent.epsilon <= epsilon


@pytest.mark.parametrize("law", LAWS)
def test_budgets_are_granted_lowered_and_paused_under_every_law(law: str) -> None:
    ledger, delta = begun(law), 0 if law == "pure" else 1e-6
    ledger.grant("ana", Budget(epsilon=0.5, delta=delta))
    event = EVENTS[law]
    assert ledger.status(analyst="ana").left is not None
    ledger.lower(Budget(epsilon=2.5, delta=delta), "less")
    with pytest.raises(BudgetError, match="never raised"):
        ledger.lower(Budget(epsilon=3, delta=delta), "more")
    ledger.reserve([event], **SETTINGS)
    ledger.pause("audit")
    with pytest.raises(LedgerError, match="paused"):
        ledger.reserve([event], **SETTINGS)
    assert ledger.verify().charges == 1
    assert ledger.certificate().check().statement


@pytest.mark.parametrize(
    ("law", "event"),
    [
        ("gdp", OBJECTIVE),
        ("gdp", Laplace(1, 10)),
        ("gdp", SAMPLED),
        ("zcdp", OBJECTIVE),
        ("zcdp", SAMPLED),
        ("pure", Gaussian(1, 10**9)),
        ("pure", OBJECTIVE),
    ],
)
def test_what_a_law_cannot_price_is_refused_by_name_and_rdp_takes_it(law: str, event: Event) -> None:
    ledger = begun(law)
    with pytest.raises(AccountingError, match=rf'law="{law}" cannot price {type(event).__name__}.*law="rdp"'):
        ledger.reserve([event], **SETTINGS)
    assert ledger.charges() == ()
    taker = begun("rdp")
    taker.reserve([event], **SETTINGS)
    assert taker.certificate().check().statement


def test_a_leak_is_taken_by_no_law() -> None:
    leak = Approximate(Fraction(1, 100), Fraction(1, 10**9))
    for law in LAWS:
        with pytest.raises(AccountingError, match="no law takes it"):
            begun(law).reserve([leak], **SETTINGS)


def test_mixed_events_add_up_in_one_ledger() -> None:
    ledger, events = begun("rdp"), [OBJECTIVE, SAMPLED, Laplace(1, 10), Gaussian(1, 400), BoundedRange(Fraction(1, 9))]
    for event in events:
        ledger.reserve([event], **SETTINGS)
    costs = [charge.cost for charge in ledger.charges()]
    together = LedgerLaw("rdp", ledger.terms.order).cost(events, ledger.certificate().rederive().relation)
    assert float(sum(costs)) == pytest.approx(float(together), rel=1e-9)
    document = ledger.certificate().document
    assert document["total"]["mu"] is None
    assert (document["law"], document["order"]) == ("rdp", 9.0)


def test_the_law_of_a_file_never_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    begun("rdp", path, order=12.0)
    for other in ({"law": "gdp"}, {"law": "pure"}, {"order": 9.0}):
        with pytest.raises(LedgerError, match="is kept for"):
            Ledger(path, **other)
    assert Ledger(path, law="rdp", order=12.0, budget=BUDGET).terms.order == 12.0
    assert Ledger(path).terms.law == "rdp"


def test_a_file_without_a_law_of_its_own_is_as_it_was() -> None:
    assert "order" not in Terms(BUDGET).document()
    assert Terms(BUDGET).document()["law"] == "gdp"
    ledger = Ledger(budget=BUDGET)
    ledger.reserve([Gaussian(1, 400)], **SETTINGS)
    document = ledger.certificate().document
    assert document["format"] == "tacit-ledger-certificate/2"
    assert "law" not in document
    assert "cost" not in document["charges"][0]


def test_a_pure_budget_begins_a_pure_ledger() -> None:
    ledger = Ledger(budget=Budget(epsilon=1, delta=0))
    assert (ledger.terms.law, ledger.terms.delta) == ("pure", 0.0)
    for _ in range(10):
        ledger.reserve([Laplace(1, 10)], **SETTINGS)
    assert ledger.remaining() is None
    total = ledger.guarantee()
    assert total is not None
    assert (total.epsilon, total.delta) == (1.0, 0.0)
    assert Ledger(budget=Budget(epsilon=1), law="pure").terms.budget == Budget(epsilon=1, delta=0)
    assert str(Ledger(budget=Budget(epsilon=1, delta=0)).status()) == "about ε = 1 at δ = 0"


@pytest.mark.parametrize(
    ("budget", "law", "order", "error"),
    [
        (BUDGET, "pure", None, BudgetError),
        (Budget(mu=1), "pure", None, BudgetError),
        (Budget(mu=1), "rdp", None, BudgetError),
        (Budget(rho=1), "rdp", None, BudgetError),
        (Budget(mu=1), "zcdp", None, BudgetError),
        (Budget(epsilon=1, delta=0), "gdp", None, BudgetError),
        (Budget(epsilon=1, delta=0), "rdp", None, BudgetError),
        (Budget(epsilon=1, delta=1e-6), "rdp", 2.0, BudgetError),
        (BUDGET, "renyi", None, SettingError),
        (BUDGET, "gdp", 3.0, SettingError),
        (BUDGET, "rdp", 1.0, SettingError),
    ],
)
def test_terms_that_no_law_can_hold_are_refused(
    budget: Budget, law: str, order: float | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Ledger(budget=budget, law=law, order=order)


@pytest.mark.parametrize("law", ["zcdp", "rdp", "pure"])
def test_a_cost_below_that_of_the_events_is_refused(law: str) -> None:
    """Whoever rewrites a file with new hashes cannot lower what a charge costs, but an older price may be higher."""
    ledger = begun(law)
    ledger.reserve([EVENTS[law]], **SETTINGS)
    opened, charge = Entry.follow(None, EntryKind.OPEN, 0, ledger.terms.document()), ledger.charges()[0]
    for factor, holds in ((Fraction(1), True), (Fraction(2), True), (Fraction(1, 2), False), (Fraction(0), False)):
        document = {
            "events": [to_json(event) for event in charge.events],
            **SETTINGS,
            **charge.document(),
            "cost": str(charge.cost * factor),
        }
        chain = Chain([opened])
        if holds:
            assert chain.draft(EntryKind.RESERVE, document).spent > 0
        else:
            with pytest.raises(LedgerError, match="below that of its events"):
                chain.draft(EntryKind.RESERVE, document)


def test_the_order_is_a_function_of_the_budget() -> None:
    assert law_of(BUDGET, "rdp", None) == law_of(BUDGET, "rdp", None)
    assert law_of(Budget(epsilon=1, delta=1e-6), "rdp", None)[1].order == 22.0


@pytest.mark.parametrize("law", LAWS)
def test_t44_a_charge_outlives_the_process_that_made_it(law: str, tmp_path: Path) -> None:
    ledger = begun(law, tmp_path / "a.ledger")
    child = os.fork()
    if child == 0:
        try:
            ledger.reserve([EVENTS[law]], **SETTINGS)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    again = Ledger(tmp_path / "a.ledger")
    assert again.verify().charges == 1
    assert [charge.cost for charge in again.charges()] == [again.price([EVENTS[law]], "replace-one")]
    assert again.certificate().check().statement


def test_what_delta_alone_allows_is_left_in_mu() -> None:
    ledger = Ledger(budget=Budget(epsilon=0.01, delta=0.1), law="zcdp")
    status = ledger.status()
    assert status.left is None
    assert status.remaining is not None
    assert str(status).startswith("about μ = ")
    ledger.reserve([Gaussian(Fraction(status.remaining.mu or 0) ** 2, 1)], **SETTINGS)
