"""What a curator decides is an entry of the chain, shared by all and verified like a charge."""

from pathlib import Path
from typing import Any

import pytest

from tacit.errors import BudgetError, LedgerError, SettingError
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian

BUDGET = Budget(mu=1.0)


def charge(ledger: Ledger, variance: int = 10) -> None:
    ledger.reserve([Gaussian(1, variance)], relation="replace-one", unit="row")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clinic.ledger"


def test_grants_hold_for_everybody_who_opens_the_ledger(path: Path) -> None:
    curator = Ledger(path, budget=BUDGET)
    ana, ben = Ledger(path, analyst="ana"), Ledger(path, analyst="ben")
    curator.grant("ana", Budget(mu=0.5), reason="thesis")
    charge(ana)
    charge(ana)
    with pytest.raises(BudgetError):
        charge(ana)
    with pytest.raises(LedgerError, match="nothing was granted"):
        charge(ben)
    curator.grant("ben", source="ana")
    charge(ben, 20)
    with pytest.raises(BudgetError):
        charge(ben, 10**9)
    for _ in range(7):
        charge(curator)
    with pytest.raises(BudgetError):
        charge(curator, 10)
    charge(curator, 20)
    assert curator.remaining() is None
    assert [item.analyst for item in curator.charges()][:3] == ["ana", "ana", "ben"]
    assert Ledger(path).verify().charges == 11


def test_a_lowered_budget_stays_lowered(path: Path) -> None:
    curator = Ledger(path, budget=BUDGET)
    charge(curator)
    curator.lower(Budget(mu=0.5), "the board asked for it")
    again = Ledger(path, budget=BUDGET)
    assert again.budget == Budget(mu=0.5, delta=1e-6)
    assert Ledger(path, budget=Budget(mu=0.5)).budget == again.budget
    charge(again)
    with pytest.raises(BudgetError):
        charge(again)
    for budget in (Budget(mu=0.7), Budget(mu=0.1)):
        with pytest.raises(BudgetError):
            again.lower(budget, "no")
    with pytest.raises(LedgerError, match="delta of a ledger is fixed"):
        again.lower(Budget(mu=0.45, delta=1e-3), "no")
    with pytest.raises(SettingError, match="reason"):
        again.lower(Budget(mu=0.45), "")
    assert again.verify().entries == 4


def test_a_pause_is_for_all_processes_until_it_ends(path: Path) -> None:
    curator, analyst = Ledger(path, budget=BUDGET), Ledger(path)
    curator.pause("an audit is under way")
    with pytest.raises(LedgerError, match="an audit is under way"):
        charge(analyst)
    curator.resume("done")
    charge(analyst)
    assert analyst.verify().charges == 1


def test_a_refusal_is_told_to_curators_alone_and_written_down(path: Path) -> None:
    with pytest.raises(LedgerError, match="no record can make a fit fail"):
        Ledger(budget=BUDGET).note_refusal(label="fit")
    curator = Ledger(path, budget=BUDGET, refusals="curator")
    curator.note_refusal(label="fit", formula="y ~ x", file="clinic.csv")
    assert "1 tables were refused" in curator.verify().statement
    assert curator.charges() == ()
    with pytest.raises(LedgerError, match="refusals"):
        Ledger(path, refusals="never")


def test_a_ledger_of_a_dataset_is_charged_by_its_name(path: Path) -> None:
    Ledger(path, budget=BUDGET, dataset="clinic")
    with pytest.raises(LedgerError, match="none was named"):
        charge(Ledger(path))
    charge(Ledger(path, dataset="clinic"))


@pytest.mark.parametrize("settings", [{"analyst": "a\nb"}, {"project": ""}, {"refusals": "all"}])
def test_bad_settings_leave_no_file(path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        Ledger(path, budget=BUDGET, **settings)
    assert not path.exists()
