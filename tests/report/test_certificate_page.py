"""The page of a release: what a certificate says is on it."""

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.certificate.fit_file import StoredFit
from tacit.report.certificate_page import certificate_page
from tacit.report.page import Page

TITLES = [
    "Whom it protects",
    "What that means, in odds",
    "What is protected",
    "What is not protected",
    "How: noise in every answer",
    "How the cost adds up",
    "Hazards, and what is known of each",
    "How accurate the release is",
    "Facts that were assumed or declared public",
    "Checked for this page",
]


def fitted(n: int = 300, **settings: Any) -> Any:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (n, 2))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    given = {"epsilon": 1.0, "bounds": (-1, 1), "classes": (0, 1), **settings}
    return tacit.LogisticRegression(**given).fit(X, y)


def section(page: Page, title: str) -> Any:
    return next(it for it in page.sections if it.title == title)


def test_all_that_an_officer_asks_for_is_there() -> None:
    model = fitted()
    page = certificate_page(model.certificate_, name="certificate.json")
    assert [it.title for it in page.sections] == TITLES
    assert page.good
    assert "ε = 1 and δ = 1e-05 (1 in 100,000) for every row" in page.verdict
    assert "certificate.json" in page.of
    assert "2.72 times as likely" in page.text()
    events = section(page, "How: noise in every answer").table
    assert len(events.rows) == len(model.certificate_.parsed["events"])
    assert len(section(page, "Facts that were assumed or declared public").table.rows) == len(
        model.certificate_.parsed["public"]
    )
    assert "add up exactly" in " ".join(section(page, "How the cost adds up").sentences)
    assert model.certificate_.digest in page.footer[-1]


def test_a_stored_fit_tells_of_its_accuracy() -> None:
    model = fitted(3000, epsilon=4.0, inference=True)
    stored = StoredFit.from_release(model.release_)
    page = certificate_page(stored)
    accuracy = section(page, "How accurate the release is")
    assert accuracy.table.headers[0] == "coefficient"
    assert [row[0] for row in accuracy.table.rows] == [term.name for term in stored.estimates.terms]
    alone = section(certificate_page(model.certificate_), "How accurate the release is")
    assert alone.table is None
    assert "nothing about accuracy" in alone.sentences[0]


@pytest.mark.parametrize("settings", [{"random_state": 1}, {"epsilon": np.inf}])
def test_what_is_not_private_promises_nothing(settings: dict[str, Any]) -> None:
    page = certificate_page(fitted(**settings).certificate_)
    assert not page.good
    assert page.verdict.startswith("NOT private")
    assert "What is protected" not in [it.title for it in page.sections]


def test_costs_without_a_mu() -> None:
    page = certificate_page(fitted(solver="stochastic", sample_rate=0.25).certificate_)
    assert "All answers together cost ε = " in section(page, "How the cost adds up").sentences[0]
    assert "secret random batch" in page.text()


def test_a_search_is_priced_as_a_whole() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (400, 2))
    model = tacit.LogisticRegression(epsilon=2.0, delta=1e-5, bounds=(-1, 1), classes=(0, 1))
    search = tacit.PrivateSearchCV(model, {"l2": [0.01, 1.0]}, mean_runs=3).fit(X, (X[:, 0] > 0).astype(int))
    page = certificate_page(search.certificate_)
    assert "private search of LogisticRegression" in page.of
    assert "The whole search is priced" in section(page, "How the cost adds up").sentences[0]


def test_long_lists_are_cut_and_say_so() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (200, 80))
    model = tacit.LogisticRegression(epsilon=4.0, bounds=(-1, 1), classes=(0, 1)).fit(X, (X[:, 0] > 0).astype(int))
    stored = StoredFit.from_release(model.release_)
    rows = section(certificate_page(stored), "How accurate the release is").table.rows
    assert len(rows) == 61
    assert rows[-1][0] == "(21 more, in the file)"
