"""One budget for several fits: what a ledger accepts, keeps and refuses."""

import errno
import math
import os
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.accounting.composition import compose, mu_squared_of
from tacit.errors import BudgetError, FileError, InputError, LedgerError
from tacit.ledger.entry import Reservation
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, Pure

BUDGET = Budget(mu=1.0)
TENTH = (Gaussian(1, 10),)


def charge(ledger: Ledger, events: tuple[Gaussian, ...] = TENTH, **settings: Any) -> Reservation:
    return ledger.reserve(events, **{"relation": "replace-one", "unit": "row", **settings})


@pytest.fixture(params=["memory", "file"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    return Ledger(None if request.param == "memory" else tmp_path / "clinic.db", budget=BUDGET)


def test_t34_ten_tenths_are_the_budget(ledger: Ledger) -> None:
    for _ in range(10):
        charge(ledger)
    assert ledger.remaining() is None
    with pytest.raises(BudgetError, match="Nothing was spent"):
        charge(ledger, (Gaussian(1, 10**300),))
    assert len(ledger.charges()) == 10


@pytest.mark.parametrize("budget", [Budget(epsilon=1, delta=1e-6), Budget(rho=0.1), BUDGET])
def test_t34_what_remains_can_be_spent(budget: Budget) -> None:
    ledger = Ledger(budget=budget)
    charge(ledger, (Gaussian(1, 7**9),))
    rest = ledger.remaining()
    assert rest is not None
    square = mu_squared_of(rest)
    # The charge of the whole rest is accepted, and less than a float's rounding is left over.
    charge(ledger, (Gaussian(square.numerator, square.denominator),))
    left = ledger.terms.capacity - sum((item.cost for item in ledger.charges()), Fraction(0))
    assert 0 <= left < Fraction(1, 2**51) * ledger.terms.capacity


def test_a_charge_is_kept_until_its_release(ledger: Ledger) -> None:
    first, second = charge(ledger, label="descent"), charge(ledger, label="moments")
    ledger.commit(second, "sha256:abc")
    kept = ledger.charges()
    assert [(item.label, item.release) for item in kept] == [("descent", None), ("moments", "sha256:abc")]
    assert all(item.events == TENTH for item in kept)
    assert ledger.verify().unreleased == 1
    ledger.commit(first, "sha256:def")
    assert ledger.verify().unreleased == 0


def test_t47_an_answer_is_paid_for_once_and_known_by_its_digest(ledger: Ledger) -> None:
    reservation = charge(ledger)
    ledger.commit(reservation, "sha256:abc")
    with pytest.raises(LedgerError, match="committed before"):
        ledger.commit(reservation, "sha256:other")
    assert ledger.charges()[0].release == "sha256:abc"
    with pytest.raises(LedgerError, match="no such reservation"):
        Ledger(budget=BUDGET).commit(reservation, "sha256:abc")


def test_the_guarantee_is_the_joint_one(ledger: Ledger) -> None:
    assert ledger.guarantee() is None
    charge(ledger)
    charge(ledger, (Gaussian(1, 5), Gaussian(1, 20)))
    guarantee = ledger.guarantee()
    assert guarantee is not None
    expected = compose([*TENTH, Gaussian(1, 5), Gaussian(1, 20)])
    assert guarantee.epsilon == expected.epsilon(1e-6)
    assert guarantee.mu == expected.mu


def test_t46_one_budget_for_every_user_of_the_dataset(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    first = Ledger(path, budget=BUDGET, dataset="clinic 2024")
    second = Ledger(path, dataset="clinic 2024")
    for _ in range(5):
        charge(first)
        charge(second)
    for ledger in (first, second, Ledger(path, dataset="clinic 2024")):
        with pytest.raises(BudgetError):
            charge(ledger)
    assert first.charges() == second.charges()


def test_a_ledger_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    charge(Ledger(path, budget=BUDGET))
    again = Ledger(str(path), budget=BUDGET)
    assert again.terms.budget == BUDGET.with_delta(1e-6)
    assert len(again.charges()) == 1
    assert "clinic.db" in repr(again)


@pytest.mark.parametrize(
    "terms",
    [
        {"dataset": "school 2024"},
        {"budget": Budget(mu=2.0)},
        {"budget": Budget(mu=1.0, delta=1e-5)},
        {"relation": "add-remove"},
        {"unit": "patient"},
    ],
)
def test_a_ledger_kept_under_other_terms_is_refused(tmp_path: Path, terms: Any) -> None:
    path = tmp_path / "clinic.db"
    charge(Ledger(path, budget=BUDGET, dataset="clinic 2024"))
    with pytest.raises(LedgerError, match="this ledger is kept for"):
        Ledger(path, **terms)


def test_a_label_cannot_be_claimed_afterwards(tmp_path: Path) -> None:
    Ledger(tmp_path / "clinic.db", budget=BUDGET)
    with pytest.raises(LedgerError, match="none in particular"):
        Ledger(tmp_path / "clinic.db", dataset="clinic 2024")


@pytest.mark.parametrize("change", [{"relation": "zero-out"}, {"unit": "patient"}])
def test_charges_of_other_neighbours_are_refused(ledger: Ledger, change: dict[str, Any]) -> None:
    charge(ledger)
    with pytest.raises(LedgerError, match="do not add up"):
        charge(ledger, **change)
    assert len(ledger.charges()) == 1


def test_a_release_without_privacy_is_refused(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="without privacy"):
        charge(ledger, private=False)
    with pytest.raises(LedgerError, match="without events"):
        charge(ledger, ())
    assert ledger.verify().entries == 1


def test_events_that_its_filter_cannot_take_are_refused(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="cannot price Pure"):
        ledger.reserve([*TENTH, Pure(1)], relation="replace-one", unit="row")
    assert ledger.verify().entries == 1


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        (None, {}),
        ("new.db", {}),
        (None, {"budget": Budget(epsilon=math.inf)}),
        (None, {"budget": 3}),
        (None, {"budget": BUDGET, "dataset": ""}),
        (None, {"budget": BUDGET, "relation": "neighbour"}),
        ("", {"budget": BUDGET}),
        ("none/new.db", {"budget": BUDGET}),
        ("zero\0byte", {"budget": BUDGET}),
        (7, {"budget": BUDGET}),
    ],
)
def test_bad_input_is_refused_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Any, settings: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        Ledger(path, **settings)
    assert list(tmp_path.iterdir()) == []


def test_no_name_of_a_file_is_special(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "a?mode=memory", "50%41 #x.db"):
        charge(Ledger(name, budget=BUDGET))
        assert (tmp_path / name).is_file()
        assert len(Ledger(name).charges()) == 1


def test_an_older_copy_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    ledger = Ledger(path, budget=BUDGET)
    old = path.read_bytes()
    charge(ledger)
    ledger.charges()
    path.write_bytes(old)
    for use in (lambda: charge(ledger), ledger.verify, ledger.charges):
        with pytest.raises(LedgerError, match="gone or altered"):
            use()


def test_a_lost_file_is_not_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    ledger = Ledger(path, budget=BUDGET)
    path.unlink()
    with pytest.raises(FileError, match="no such file"):
        charge(ledger)
    assert not path.exists()


def test_a_ledger_can_be_read_where_it_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "clinic.db"
    charge(Ledger(path, budget=BUDGET))
    real = os.open

    def read_only(name: Any, flags: int, *mode: int, **named: Any) -> int:
        # Permissions do not bind every user, so the system's answer is given here.
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(name, flags, *mode, **named)

    monkeypatch.setattr(os, "open", read_only)
    ledger = Ledger(path)
    assert ledger.verify().charges == 1
    with pytest.raises(LedgerError, match="cannot be used"):
        charge(ledger)
    assert [file.name for file in tmp_path.iterdir()] == ["clinic.db"]


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    accepted: list[Reservation] = []

    def spend() -> None:
        for _ in range(5):
            try:
                accepted.append(charge(ledger))
            except BudgetError:
                continue

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == len({item.sequence for item in accepted}) == 10
