"""What a run costs: safe sides, marks, and a document that JSON can hold."""

import json
import math

import pytest

from tacit.accounting.accountants import AccountantPrice
from tacit.accounting.interpretation import reading
from tacit.accounting.training_run import Run
from tacit.errors import AccountingError
from tacit.privacy.relation import Relation
from tacit.report.account import Account, account_document, account_of, account_table, few_digits, rounded_up, run_line

WHOLE = Run(noise=20, steps=100, relation=Relation.REPLACE_ONE)
SAMPLED = Run(noise=0.8, steps=1, relation=Relation.ADD_REMOVE, sample_rate=0.01)


@pytest.fixture(scope="module")
def sampled() -> Account:
    return account_of(SAMPLED, 1e-5)


def test_t31_the_forecast_is_never_the_smallest(sampled: Account) -> None:
    forecast = sampled.epsilon("gdp-clt")
    assert forecast is not None
    assert forecast < sampled.smallest.epsilon
    assert sampled.smallest.accountant == "pld"
    assert isinstance(sampled.smallest, AccountantPrice)
    marks = {row[0].split()[0]: row[2] for row in account_table(sampled).rows}
    assert (marks["gdp-clt"], marks["pld"]) == ("forecast", "smallest")
    assert account_document(sampled)["no_guarantee"] == ["gdp-clt"]


def test_the_reading_is_that_of_the_accounting() -> None:
    found = account_of(WHOLE, 1e-5)
    assert found.reading == reading(found.composition)


def test_cells_are_never_below_the_numbers(sampled: Account) -> None:
    for row in account_table(sampled).rows:
        exact = sampled.epsilon(row[0].split()[0])
        assert row[1] == "no price" if exact is None else float(row[1]) >= exact


def test_equal_prices_name_the_exact_accountant() -> None:
    assert account_of(WHOLE, 1e-5).smallest.accountant == "gdp"
    assert account_of(Run(noise=1, steps=3, relation=Relation.ADD_REMOVE, sample_rate=0), 1e-5).smallest == (
        AccountantPrice("gdp", 0.0, 1e-5, Relation.ADD_REMOVE)
    )


def test_a_fallback_is_told() -> None:
    found = account_of(Run(noise=0.01, steps=1000, relation=Relation.ADD_REMOVE, sample_rate=1e-3), 1e-5)
    assert (found.epsilon("pld"), found.smallest.accountant) == (None, "rdp")
    assert "numerical range" in found.note
    assert "best()" not in found.note
    assert account_document(found)["fallback"] == found.note


def test_the_document_is_json_with_infinity_as_a_word() -> None:
    document = account_document(account_of(WHOLE, 0.0))
    assert set(document["epsilon"].values()) == {"inf"}
    json.dumps(document, allow_nan=False)


def test_an_amplification_that_does_not_hold_is_refused() -> None:
    run = Run(noise=1, steps=1, relation=Relation.ADD_REMOVE, sample_rate=0.1, sampling="without-replacement")
    with pytest.raises(AccountingError, match="replace-one only"):
        account_of(run, 1e-5)


def test_numbers_are_rounded_to_their_side() -> None:
    assert rounded_up([2.0000001, None, math.inf, 1e-5]) == ("2.0000001", "no price", "inf", "0.0000100")
    assert rounded_up([1.23456789e9]) == ("1.2346e+09",)
    assert few_digits(0.0) == "0"
    assert few_digits(1.0000001) == "1.00001"
    assert few_digits(1.0000009, up=False) == "1"


def test_a_run_in_words() -> None:
    assert run_line(SAMPLED).startswith("1 noisy sum over Poisson samples, rate 0.01, noise")
    fixed = Run(
        noise=1, steps=1, relation=Relation.REPLACE_ONE, sample_rate=0.1, sampling="with-replacement", population=5000
    )
    assert "1 noisy sum over samples with replacement of 5,000 records" in run_line(fixed)
