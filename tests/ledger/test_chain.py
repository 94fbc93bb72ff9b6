"""The fold accepts what follows from the entries before, and nothing else."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from fractions import Fraction

import pytest

from tacit.documents.canonical_json import canonical
from tacit.errors import BudgetError, LedgerError, SettingError
from tacit.ledger.accounts import WHOLE
from tacit.ledger.chain import Chain
from tacit.ledger.entry import Entry, EntryKind, Purpose, Reservation, Terms
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian
from tacit.privacy.event_json import to_json
from tacit.privacy.relation import Relation

TENTH = Gaussian(1, 10)


def opened(terms: Terms | None = None) -> Chain:
    terms = Terms(Budget(mu=1.0)) if terms is None else terms
    return Chain([Entry.follow(None, EntryKind.OPEN, 0, terms.document())])


def charge_document(events: list[Gaussian], relation: str, unit: str, purpose: Purpose) -> dict[str, object]:
    charged = {"events": [to_json(event) for event in events], "relation": relation, "unit": unit}
    return {**charged, **purpose.document()}


def charge(chain: Chain, event: Gaussian = TENTH, label: str = "") -> Reservation:
    entry = chain.draft(EntryKind.RESERVE, charge_document([event], "replace-one", "row", Purpose(label)))
    chain.accept(entry)
    return Reservation(entry.sequence, entry.hash)


def commit(chain: Chain, reservation: Reservation, release: str) -> Entry:
    document = {"reservation": reservation.sequence, "release": release, "answer": None}
    return chain.draft(EntryKind.COMMIT, document)


def test_ten_tenths_fit_and_no_more() -> None:
    chain = opened()
    for _ in range(10):
        charge(chain)
    assert chain.accounts.total == 1
    with pytest.raises(BudgetError, match=r"0\.1 of the whole budget, and 0 is left"):
        charge(chain)
    with pytest.raises(BudgetError):
        charge(chain, Gaussian(1, 2**1500))
    assert chain.length == 11


def test_the_guarantee_is_that_of_all_events() -> None:
    chain = opened()
    assert chain.guarantee() is None
    for _ in range(5):
        charge(chain)
    guarantee = chain.guarantee()
    assert guarantee is not None
    assert guarantee.mu is not None
    assert 0 <= Fraction(guarantee.mu) ** 2 - Fraction(1, 2) < Fraction(1, 10**15)
    assert guarantee.relation is Relation.REPLACE_ONE


def test_a_commit_follows_its_charge_once() -> None:
    chain = opened()
    first, second = charge(chain, label="a"), charge(chain, label="b")
    chain.accept(commit(chain, second, "sha256:b"))
    assert [item.release for item in chain.charges] == [None, "sha256:b"]
    with pytest.raises(LedgerError, match="committed before"):
        commit(chain, second, "sha256:c")
    with pytest.raises(LedgerError, match="no such reservation"):
        chain.require_reserved(replace(first, hash="0" * 64))
    with pytest.raises(SettingError):
        commit(chain, first, "")
    assert chain.accounts.total == Fraction(1, 5)


@pytest.mark.parametrize(("relation", "unit"), [("zero-out", "row"), ("replace-one", "patient")])
def test_relations_and_units_do_not_mix(relation: str, unit: str) -> None:
    chain = opened()
    charge(chain)
    with pytest.raises(LedgerError, match="do not add up"):
        chain.draft(EntryKind.RESERVE, charge_document([TENTH], relation, unit, Purpose("")))
    declared = opened(Terms(Budget(mu=1.0), None, Relation.REPLACE_ONE, "row"))
    with pytest.raises(LedgerError, match="do not add up"):
        declared.draft(EntryKind.RESERVE, charge_document([TENTH], relation, unit, Purpose("")))


def test_a_charge_has_events_and_a_label() -> None:
    chain = opened()
    with pytest.raises(LedgerError, match="without events"):
        chain.draft(EntryKind.RESERVE, charge_document([], "replace-one", "row", Purpose("")))
    with pytest.raises(SettingError, match="label"):
        chain.draft(EntryKind.RESERVE, charge_document([TENTH], "replace-one", "row", Purpose("a\nb")))


def forged(chain: Chain, kind: EntryKind, spent: int, **body: object) -> Entry:
    return Entry.follow(chain.head, kind, spent, body)


def reserve_body(**change: object) -> dict[str, object]:
    body = {"events": [to_json(TENTH)], "relation": "replace-one", "unit": "row", "label": ""}
    return {**body, **change}


@pytest.mark.parametrize(
    "forge",
    [
        lambda chain: forged(chain, EntryKind.RESERVE, 1, **reserve_body()),
        lambda chain: forged(chain, EntryKind.RESERVE, 1, **reserve_body(extra=1)),
        lambda chain: forged(chain, EntryKind.RESERVE, 1, **reserve_body(events="all")),
        lambda chain: forged(chain, EntryKind.RESERVE, 1, **reserve_body(events=[{"event": "magic"}])),
        lambda chain: forged(chain, EntryKind.RESERVE, 2**62, **reserve_body(events=[to_json(Gaussian(2, 1))])),
        lambda chain: forged(chain, EntryKind.COMMIT, 0, reservation=1, release="x"),
        lambda chain: forged(chain, EntryKind.COMMIT, 0, reservation=[], release="x"),
        lambda chain: forged(chain, EntryKind.RESERVE, 1, **reserve_body(relation="odd")),
        lambda chain: Entry.follow(chain.head, EntryKind.OPEN, 0, Terms(Budget(mu=9)).document()),
        lambda chain: Entry.follow(None, EntryKind.OPEN, 0, Terms(Budget(mu=9)).document()),
        lambda chain: replace(forged(chain, EntryKind.COMMIT, 0), previous="1" * 64),
        lambda chain: replace(forged(chain, EntryKind.COMMIT, 0), sequence=2),
    ],
)
def test_a_forged_entry_is_refused_and_changes_nothing(forge: Callable[[Chain], Entry]) -> None:
    # Every one of them has a hash that fits: what is refused is what it says.
    chain = opened()
    with pytest.raises(LedgerError):
        chain.accept(forge(chain))
    assert (chain.length, chain.accounts.total, chain.charges) == (1, Fraction(0), ())


def test_a_chain_without_terms_has_no_budget() -> None:
    with pytest.raises(LedgerError, match="no first entry"):
        Chain([])
    stray = Entry.follow(None, EntryKind.COMMIT, 0, {})
    with pytest.raises(LedgerError, match="only the first entry opens"):
        Chain([stray])


def test_a_lowered_budget_may_not_be_stated_as_a_higher_one() -> None:
    chain = opened()
    document = {
        "budget": {"epsilon": 100.0, "delta": 1e-6, "mu": None, "rho": None},
        "capacity": "1/2",
        "reason": "less",
    }
    with pytest.raises(LedgerError, match="never raised"):
        chain.accept(Entry.follow(chain.head, EntryKind.LOWER, WHOLE // 2, document))
    assert chain.budget.mu == 1.0


@pytest.mark.parametrize("time", [None, 1])
def test_an_entry_without_a_time_is_refused(time: object) -> None:
    chain = opened()
    drafted = chain.draft(EntryKind.PAUSE, {"analyst": None, "reason": "audit"})
    document = {**drafted.document(), "time": time}
    if time is None:
        del document["time"]
    body = canonical(document)
    fields = {**asdict(drafted), "body": body}
    del fields["hash"]
    digest = hashlib.sha256(canonical(fields).encode("ascii")).hexdigest()
    with pytest.raises(LedgerError, match="has no time"):
        chain.accept(replace(drafted, body=body, hash=digest))
