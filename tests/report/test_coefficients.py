"""Coefficients for programs: every field, null where nothing is offered, no infinity."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table
from tacit.report.coefficients import comparison_table, interval_document, term_documents

FIELDS = [
    "name", "coef", "std_err", "lower", "upper", "statistic", "pvalue", "privacy_share",
    "sampling_lower", "sampling_upper", "statement",
]  # fmt: skip


def fit_of(**settings: Any) -> tacit.Fit:
    table = pd.DataFrame(clinic_table(2000))
    return tacit.glm("readmit ~ age + bmi", table, tacit.Schema.parse(CLINIC_SCHEMA), **settings)


def hidden(fit: tacit.Fit) -> tacit.Fit:
    """The fit as if its curvature had drowned in noise."""
    assert fit.release is not None
    assert fit.release.sandwich is not None
    drowned = replace(fit.release.sandwich, visible=1e9)
    return replace(fit, release=replace(fit.release, sandwich=drowned))


def test_every_number_of_a_term() -> None:
    fit = fit_of(epsilon=2.0)
    terms = term_documents(fit)
    assert [list(term) for term in terms] == [FIELDS] * 3
    assert [term["pvalue"] for term in terms] == fit.pvalues.tolist()
    ends = [[term["sampling_lower"], term["sampling_upper"]] for term in terms]
    np.testing.assert_array_equal(ends, fit.conf_int(which="sampling"))
    assert {term["statement"] for term in terms} <= {"nominal", "conservative", "withheld"}
    said = interval_document(fit)
    assert said is not None
    assert (said["offered"], said["level"]) == (True, 0.95)
    assert said["signal"] == pytest.approx(fit.release.plan.signal if fit.release else 0)


def test_infinity_is_a_word() -> None:
    fit = fit_of(epsilon=np.inf)
    said = interval_document(fit)
    assert said is not None
    assert said["signal"] == "inf"
    json.dumps([term_documents(fit), said], allow_nan=False)


def test_nothing_is_offered_where_it_would_mean_nothing() -> None:
    with pytest.warns(UserWarning, match="not be offered"):
        fit = fit_of(epsilon=0.05)
    said = interval_document(fit)
    assert said is not None
    assert not said["offered"]
    assert said["statement"] is None
    assert "not offered" in said["notes"][0]
    for term in term_documents(fit):
        assert all(term[name] is None for name in FIELDS[2:])


def test_what_was_not_paid_for_is_null() -> None:
    assert interval_document(fit_of(epsilon=2.0, inference=False)) is None


def test_withheld_terms_are_null_but_for_their_coefficient_and_word() -> None:
    """A fit of which noise hides every direction: every term is withheld, and says so."""
    fit = hidden(fit_of(epsilon=4.0, inference=True))
    said, terms = interval_document(fit), term_documents(fit)
    assert said is not None
    assert (said["offered"], said["statement"]) == (True, "withheld")
    assert said["notes"]
    for term in terms:
        assert isinstance(term["coef"], float)
        assert term["statement"] == "withheld"
        assert all(term[name] is None for name in FIELDS[2:-1])
    json.dumps([terms, said], allow_nan=False)


def test_tables_beside_a_truth_leave_withheld_errors_blank() -> None:
    terms = [
        {"name": "a", "coef": 1.0, "std_err": None, "lower": None, "upper": None},
        {"name": "b", "coef": 2.0, "std_err": 0.5, "lower": 1.0, "upper": 3.0},
    ]
    known = {"a": 1.0, "b": 2.0}
    table = comparison_table(terms, known, known)
    assert table.headers == ("term", "truth", "not private", "private", "std. error")
    assert [row[-1] for row in table.rows] == ["", "0.500"]
