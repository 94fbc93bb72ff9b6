"""The page of a ledger."""

import pytest

from tacit.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian
from tacit.report.ledger_page import ledger_page
from tests.ledger.conftest import fresh_process

__all__ = ["fresh_process"]


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(budget=Budget(epsilon=3.0, delta=1e-6), dataset="clinic", analyst="<ann>")


def charge(ledger: Ledger, label: str, *, released: bool = True) -> None:
    reservation = ledger.reserve([Gaussian(1, 100)], relation="replace-one", unit="patient", label=label)
    if released:
        ledger.commit(reservation, "sha256:" + "0" * 64)


def test_charges_by_whom_and_what_is_left(ledger: Ledger) -> None:
    charge(ledger, "first <b>")
    charge(ledger, "second", released=False)
    ledger.pause("an inspection")
    page = ledger_page(ledger, "ledger.db")
    assert page.good
    assert page.verdict.startswith("All 2 charges together: private, with ε = ")
    tables = {it.title: it.table for it in page.sections}
    released = tables["What was released"]
    assert released is not None
    assert [row[4] for row in released.rows] == ["yes", "not known"]
    assert released.rows[0][1:3] == ('"<ann>"', "first <b>")
    budget = next(it for it in page.sections if it.title == "Budget")
    assert "Left: about ε" in budget.sentences[0]
    assert "paused" in budget.sentences[1]
    assert "<b>" not in page.html()
    assert "&lt;b&gt;" in page.html()
    assert "There are 1; they count" in page.text()


def test_a_ledger_without_charges_released_nothing(ledger: Ledger) -> None:
    page = ledger_page(ledger)
    assert "nothing was released" in page.verdict
    assert [it.title for it in page.sections] == ["Budget", "Checked for this page"]


def test_grants_and_whose_the_rest_is() -> None:
    """What is left without a name is not what is left."""
    ledger = Ledger(budget=Budget(epsilon=3.0, delta=1e-6))
    ledger.grant("ana", share=0.25)
    text = " ".join(ledger_page(ledger).text().split())
    assert "Left of what is granted to nobody: about" in text
    assert "analyst granted left of the budget that is ana 0.25 0.25 about ε" in text
