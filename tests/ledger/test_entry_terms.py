"""The terms of a ledger, and what is refused as one."""

import math
from fractions import Fraction
from typing import Any

import pytest

from tacit.errors import BudgetError, InputError, LedgerError
from tacit.ledger.entry import Terms, require_same
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

TERMS = Terms(Budget(epsilon=3, delta=1e-7), "clinic 2024", Relation.ZERO_OUT, "patient")
STAMP = {"time": "2024-01-01T00:00:00+00:00", "sqlite": 3040001}


def test_what_is_written_is_read_back() -> None:
    for terms in (TERMS, Terms(Budget(rho=0.1))):
        assert Terms.read({**terms.document(), **STAMP}) == terms


def test_a_budget_without_delta_gets_one() -> None:
    assert Terms(Budget(epsilon=1)).delta == 1e-6
    assert TERMS.delta == 1e-7


@pytest.mark.parametrize("budget", [Budget(epsilon=math.inf), Budget(mu=math.inf), 3.0])
def test_what_is_no_finite_budget_is_refused(budget: Any) -> None:
    with pytest.raises(BudgetError):
        Terms(budget)


@pytest.mark.parametrize("label", ["", "  ", "a\nb", "x" * 201, 7])
def test_a_dataset_is_one_line_of_text(label: Any) -> None:
    with pytest.raises(InputError):
        Terms(Budget(mu=1), dataset=label)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "tacit-ledger/3"},
        {"format": "tacit-ledger/1"},
        {"refusals": "everybody"},
        {"law": "rdp"},
        {"capacity": "0"},
        {"capacity": "1e9"},
        {"capacity": 1},
        {"budget": None},
        {"budget": {"epsilon": 1.0}},
        {"budget": {"epsilon": 0.0, "delta": None, "mu": None, "rho": None}},
        {"relation": "neighbour"},
        {"more": 1},
    ],
)
def test_altered_terms_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(LedgerError):
        Terms.read({**TERMS.document(), **STAMP, **change})


def test_a_kept_capacity_is_never_above_the_budget() -> None:
    document = {**TERMS.document(), **STAMP}
    slightly_less = TERMS.capacity * (1 - Fraction(1, 10**12))
    assert Terms.read({**document, "capacity": str(slightly_less)}).capacity == slightly_less
    with pytest.raises(LedgerError, match="more than its budget"):
        Terms.read({**document, "capacity": str(TERMS.capacity * 2)})


def test_a_term_given_again_must_be_the_same() -> None:
    require_same("dataset", None, "clinic 2024")
    require_same("dataset", "clinic 2024", "clinic 2024")
    with pytest.raises(LedgerError, match=r"'school'.*'clinic 2024'"):
        require_same("dataset", "school", "clinic 2024")
