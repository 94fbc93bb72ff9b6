"""Checks of how fits are used: rows of a search, keys, threads and units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any
from unittest.mock import patch

import numpy as np

import tacit
from tacit.errors import TacitError
from tacit.estimators.classifiers import LogisticRegression
from tacit.ledger import Ledger
from tacit.privacy.budget import Budget
from tests.bounty.fits import LABELS, fit_formula_of, table_of
from tests.bounty.ledger_checks import model_of

MOST = Budget(mu=4.0)


def search_scores_its_own_rows() -> str | None:
    """In a trial of a search no row may both be fitted and be scored: only then is a trial the larger of both costs."""
    table = table_of(LABELS, 13, 300)
    fitted: list[set[bytes]] = []
    clash: list[int] = []
    fit, evaluate = LogisticRegression.fit, LogisticRegression.evaluate

    def fits(self: Any, X: Any, y: Any, *rest: Any, **given: Any) -> Any:
        fitted.append({row.tobytes() for row in np.asarray(X)})
        return fit(self, X, y, *rest, **given)

    def evaluates(self: Any, X: Any, *rest: Any, **given: Any) -> Any:
        clash.append(len(fitted[-1] & {row.tobytes() for row in np.asarray(X)}))
        return evaluate(self, X, *rest, **given)

    model = tacit.LogisticRegression(epsilon=4.0, delta=1e-5, bounds=(-1, 1), classes=(0, 1))
    search = tacit.PrivateSearchCV(model, {"l2": [1e-3, 1.0]}, law="geometric", mean_runs=4)
    with patch.object(LogisticRegression, "fit", fits), patch.object(LogisticRegression, "evaluate", evaluates):
        search.fit(table["X"], table["y"])
    return "a row is fitted and scored in the same trial" if not clash or any(clash) else None


def key_answers_anew() -> str | None:
    """The same request under a key is answered from the ledger; another one is not answered for free."""
    table = table_of(LABELS, 14)
    ledger = Ledger(budget=MOST)
    found = []
    for _ in range(2):
        with ledger.request("first"):
            found.append(model_of().fit(table["X"], table["y"]).coef_.tobytes())
    if len(set(found)) > 1 or len(ledger.charges()) != 1:
        return "a repeated request gets another answer, or is charged again"
    try:
        with ledger.request("first"):
            model_of(l2=0.5).fit(table["X"], table["y"])
    except TacitError:
        return None
    return None if len(ledger.charges()) == 2 else "another request under a used key is answered for free"


def thread_is_free() -> str | None:
    """A fit in a thread that a ledger's block started is charged, or refused."""
    table = table_of(LABELS, 15)
    done: list[Any] = []

    def work() -> None:
        try:
            done.append(model_of().fit(table["X"], table["y"]))
        except TacitError:
            return

    with Ledger(budget=MOST) as ledger:
        thread = Thread(target=work)
        thread.start()
        thread.join()
    return "a fit in a thread is free" if done and not ledger.charges() else None


def unit_has_no_premise() -> str | None:
    """Where no column names the unit, that each has at most one record is an assumed fact."""
    found = fit_formula_of("patient", table_of(LABELS, 16)).certificate.parsed
    names = {fact["name"] for fact in found["public"] if fact["source"] == "assumed"}
    listed = "each unit has at most one record" in names and found["unit"] == "patient"
    return None if listed else "a guarantee for each patient has no premise about their records"


CHECKS: Mapping[str, Callable[[], str | None]] = {
    "search: rows": search_scores_its_own_rows,
    "ledger: keys": key_answers_anew,
    "ledger: threads": thread_is_free,
    "units": unit_has_no_premise,
}
