"""Searches of units: what is public is the number of units, a person is one whatever the spelling, no cell raises."""

import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import DataError, SettingError
from tacit.estimators.search_space import part_of
from tacit.ledger import Ledger
from tacit.privacy.event import NegativeBinomial, PoissonRuns

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (400, 2))
Y = X[:, 0] > 0
FEW = NegativeBinomial(1, Fraction(2, 3))
NONE = PoissonRuns(Fraction(1, 10**9))
"""No trial, but for one search in 10^9."""


def searching(law: Any = FEW, validation: Any = 0.3, **more: Any) -> tacit.PrivateSearchCV:
    given: dict[str, Any] = {
        "epsilon": 2.0,
        "bounds": (-1, 1),
        "classes": [False, True],
        "inference": False,
        "max_rows_per_unit": 2,
    }
    model = tacit.LogisticRegression(**{**given, **more})
    return tacit.PrivateSearchCV(model, {"l2": [0.1]}, law=law, validation=validation)


def masks_of(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    seen: list[Any] = []

    def note(rows: Any, mask: Any) -> Any:
        seen.append(mask)
        return part_of(rows, mask)

    monkeypatch.setattr("tacit.estimators.search.part_of", note)
    return seen


def a_ledger() -> Ledger:
    return Ledger(budget=tacit.Budget(epsilon=500.0, delta=1e-3), law="rdp")


@pytest.mark.parametrize("law", [FEW, NONE])
def test_the_number_of_rows_leaves_no_trace(law: Any) -> None:
    """The fault: the default δ was n^-1.1 of the rows, and with no trial n itself."""
    units = np.minimum(np.arange(400), 299)
    stated = []
    for rows in (300, 301, 400):
        found = searching(law).fit(X[:rows], Y[:rows], units=units[:rows]).certificate_.parsed
        stated.append([found[name] for name in ("total", "events", "records", "budget")])
    assert stated[0] == stated[1] == stated[2]
    assert stated[0][2] == {"which": "n", "value": 300}
    assert stated[0][3]["delta"] == min(1e-5, 300**-1.1)


def test_without_a_trial_nothing_is_said_of_public_rows() -> None:
    search = searching(NONE).fit(X, Y, units=np.arange(400) // 2)
    assert search.best_estimator_.plan_.records == 200
    facts = {fact["name"]: fact["value"] for fact in search.certificate_.parsed["public"]}
    assert "validation rows" not in facts
    assert "none was drawn" in facts["number of trials"]
    assert search.certificate_.check().consistent
    public = searching(NONE, tacit.public(X[:50], Y[:50])).fit(X, Y, units=np.arange(400) // 2)
    assert "validation rows" in public.certificate_.to_json()


def test_a_person_is_one_in_every_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: a coin for each spelling put a person into training and validation both."""
    seen = masks_of(monkeypatch)
    names = [str(number) for number in range(200)]
    spelt = [*names, *(f"0{name}" if number % 2 else float(name) for number, name in enumerate(names))]
    search = searching().fit(X, Y, units=spelt)
    assert search.certificate_.parsed["records"]["value"] == 200
    for mask in seen:
        assert (mask[:200] == mask[200:]).all()


def test_rows_of_nobody_have_no_coin(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = masks_of(monkeypatch)
    units = [*range(200), *[None] * 200]
    with a_ledger():
        search = searching().fit(X, Y, units=units)
    assert search.certificate_.parsed["records"]["value"] == 200
    assert not seen[1][200:].any()


ODD = [None, float("nan"), "x", 5, -1e308, b"y", True, 2**70, 1 + 2j, Decimal("sNaN"), [1, 2], {}, object(), pd.NA]


@pytest.mark.parametrize("cell", ODD, ids=lambda cell: type(cell).__name__)
def test_inside_a_ledger_no_unit_raises(cell: Any) -> None:
    units: list[Any] = [f"p{number // 2}" for number in range(400)]
    units[6] = cell
    with a_ledger(), warnings.catch_warnings():
        warnings.simplefilter("error")
        searching(delta=1e-6).fit(X, Y, units=units)
        searching(delta=1e-6).fit(X, Y, units=pd.Series(units, dtype=object))


@pytest.mark.parametrize("record", [None, "ab", {}, 5.0, [0.1], [0.1, 0.2, 0.3], [[1], [2]], ["a", 0.2]], ids=str)
def test_inside_a_ledger_no_first_record_of_a_list_raises(record: Any) -> None:
    rows = X[:60].tolist()
    rows[0] = record
    with a_ledger():
        searching(delta=1e-6, max_rows_per_unit=None).fit(rows, Y[:60])


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_where_n_is_private_few_units_are_fitted_like_many(rows: int) -> None:
    public = tacit.public(X[:50], Y[:50])
    with a_ledger():
        search = searching(validation=public, relation="add-remove", n_at_least=1000, delta=1e-6)
        search.fit(X[:rows], Y[:rows], units=np.arange(rows))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_one_unit_is_too_few_however_many_rows_it_has(rows: int) -> None:
    """The fault: a unit of one row was told from one of two by the message."""
    given: dict[str, Any] = {
        "epsilon": 2.0,
        "delta": 1e-6,
        "bounds": (-1, 1),
        "classes": [False, True],
        "max_rows_per_unit": 2,
    }
    with a_ledger():
        for model in (tacit.LogisticRegression(**given), searching(delta=1e-6)):
            with pytest.raises(DataError, match="fewer than 2 persons"):
                model.fit(X[:rows], Y[:rows], units=[0] * rows)


def test_units_without_a_limit_are_refused_before_anything_is_charged() -> None:
    with a_ledger() as ledger:
        with pytest.raises(SettingError, match="max_rows_per_unit"):
            searching(max_rows_per_unit=None).fit(X, Y, units=np.arange(400))
        with pytest.raises(DataError, match="equally many"):
            searching(delta=1e-6).fit(X, Y[:-1], units=np.arange(400))
        assert not ledger.charges()
