"""Checks of what surrounds an answer: the charge before it, refusals, certificates, and private searches."""

from __future__ import annotations

import contextlib
import copy
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import stats

import tacit
from tacit.certificate.certificate import Certificate
from tacit.contract.query import KIND_OF, ResidualSize
from tacit.contract.sensitivity import Price
from tacit.documents.canonical_json import digest_of
from tacit.errors import TacitError
from tacit.ledger import Ledger
from tacit.mechanisms.query_responder import Responder
from tacit.mechanisms.search_draws import search_draws
from tacit.noise.entropy import SystemEntropy
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, PoissonRuns, Pure
from tacit.privacy.relation import Relation
from tests.bounty import oracle
from tests.bounty.fits import LABELS, table_of
from tests.bounty.recorded_fits import recorded

MOST, EACH = 4.0, 1.0
"""Budget of a ledger, and of a fit in it, as μ."""
SEARCHES, TRIALS, ASKED, DELTA = 5, 4, 4.0, 1e-5
"""How many searches, of how many trials on average, each at ε and δ."""
DRAWS = 4000


class Stopped(Exception):
    """A fit that fails in the middle."""


def model_of(**settings: Any) -> Any:
    """A logistic regression at μ = 1."""
    given = {"budget": Budget(mu=EACH), "bounds": (-1, 1), "classes": (0, 1), **settings}
    return tacit.LogisticRegression(**given)


def spent(path: Path) -> Fraction:
    """Squared μ of all charges in a ledger's file."""
    found = Ledger(path).guarantee()
    return Fraction(0) if found is None else Fraction(found.mu or 0.0) ** 2


def charge_comes_late() -> str | None:
    """Look into the ledger's file while the first answer is computed, and after a fit that failed."""
    table = table_of(LABELS, 6)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        ledger = Ledger(path, budget=Budget(mu=MOST))
        seen: list[Fraction] = []
        original = Responder.answer

        def answer(self: Responder, query: Any, price: Any) -> Any:
            seen.append(spent(path))
            return original(self, query, price)

        with patch.object(Responder, "answer", answer), ledger:
            model_of().fit(table["X"], table["y"])
        if not seen or min(seen) < Fraction(999, 1000):
            return "an answer is computed before the charge is in the file"

        def stop(self: Responder, query: Any, price: Any) -> Any:
            original(self, query, price)
            raise Stopped

        with patch.object(Responder, "answer", stop), ledger, contextlib.suppress(Stopped):
            model_of().fit(table["X"], table["y"])
        if spent(path) < Fraction(1998, 1000):
            return "a fit that failed in the middle is not charged"
        return _overspending(ledger, table)


def _overspending(ledger: Ledger, table: Any) -> str | None:
    """Charge until nothing is left: 16 fits of μ = 1 are within μ = 4, two are spent, and 14 are left."""
    done = 0
    with ledger:
        for _ in range(20):
            try:
                model_of(solver="gradient", iterations=1).fit(table["X"], table["y"])
            except TacitError:
                break
            done += 1
    return None if done == 14 else f"{done} fits were allowed where the budget is for 14"


def record_is_noticed() -> str | None:
    """In a ledger, no content of a record may be refused, warned of, or read off for want of a declaration."""
    table = table_of(LABELS, 7)
    for cell, label in ((np.nan, 1), (np.inf, 0), (1e300, 7), (0.0, math.nan)):
        X, y = np.array(table["X"]), np.array(table["y"])
        X[0, 0], y[0] = cell, label
        with Ledger(budget=Budget(mu=MOST)) as ledger:
            try:
                model_of().fit(X, y)
            except TacitError as error:
                return f"a record was refused for its content: {type(error).__name__}"
            if len(ledger.charges()) != 1:
                return "a fit was not charged"
            for given in ({"invalid_rows": "error"}, {"classes": None}):
                try:
                    model_of(**given).fit(X, y)
                except TacitError:
                    continue
                return f"{next(iter(given))} was allowed in a ledger"
    return None


def certificate_is_wrong() -> str | None:
    """Noise of a seed, or none, is not private; a number that is lowered is noticed; assumed facts are listed."""
    table = table_of(LABELS, 8)
    for given in ({"random_state": 3}, {"budget": Budget(epsilon=math.inf)}):
        if model_of(**given).fit(table["X"], table["y"]).certificate_.parsed["private"]:
            return "a fit without privacy is certified as private"
    certificate = model_of().fit(table["X"], table["y"]).certificate_
    if not certificate.check().consistent:
        return "a certificate does not agree with itself"
    assumed = {fact["name"] for fact in certificate.parsed["public"] if fact["source"] == "assumed"}
    if "every record is valid" not in assumed or "number of records" not in assumed | {
        fact["name"] for fact in certificate.parsed["public"]
    }:
        return "an assumed fact is not listed"
    return None


def entropy_is_not_the_systems() -> str | None:
    """Words of the system's entropy must be those of the operating system, and enough of them for every answer."""
    drawn: list[int] = []
    urandom = os.urandom

    def counted(size: int) -> bytes:
        drawn.append(size)
        return urandom(size)

    table = table_of(LABELS, 10)
    with patch.object(os, "urandom", counted):
        run = recorded(lambda rows: model_of().fit(rows["X"], rows["y"]).coef_, table)
    needed = 8 * sum(it.answer.value.size for it in run.asked)
    with patch.object(os, "urandom", lambda size: b"\x07" * size):
        same = SystemEntropy().words(4).tobytes() == b"\x07" * 32
    return None if same and sum(drawn) >= needed else "noise is not made of the operating system's randomness"


def message_tells_a_value() -> str | None:
    """An error about a record must not quote it."""
    table = table_of(LABELS, 11)
    for in_label in (False, True):
        X, y = np.array(table["X"], dtype=object), np.array(table["y"], dtype=object)
        if in_label:
            y[77] = "wxyz8317"
        else:
            X[77, 1] = "wxyz8317"
        try:
            model_of(invalid_rows="error").fit(X, y)
        except TacitError as error:
            if "8317" in str(error) or "77" in str(error):
                return "a message quotes a cell, or the number of its record"
        else:
            return "an invalid record was not refused"
    return None


def forgery_is_accepted() -> str | None:
    """A certificate whose total, events or relation were changed, with a digest of its own, must not be accepted."""
    table = table_of(LABELS, 12)
    document = model_of().fit(table["X"], table["y"]).certificate_.document
    changes: tuple[Callable[[Any], object], ...] = (
        lambda it: it["total"].update(epsilon=0.9 * it["total"]["epsilon"]),
        lambda it: it["total"].update(delta=0.1 * it["total"]["delta"]),
        lambda it: it["events"].pop(),
        lambda it: it["events"][0].update(times=0),
        lambda it: it.update(relation="zero-out"),
    )
    for change in changes:
        forged = copy.deepcopy(document)
        change(forged)
        forged["digest"] = digest_of(forged)
        with contextlib.suppress(TacitError):
            if Certificate.of(forged).check().consistent:
                return "a forged certificate is accepted"
    return None


def trials_have_another_law() -> str | None:
    """The number of trials of a search must have the law that is priced."""
    rows = np.array([len(search_draws(PoissonRuns(4), 3, 5, Fraction(1, 2), None).settings) for _ in range(DRAWS)])
    expected = stats.poisson.pmf(np.arange(12), 4)
    counts = np.bincount(np.minimum(rows, 12), minlength=13)
    statistic = stats.chisquare(counts, DRAWS * np.append(expected, 1 - expected.sum()))
    return None if statistic.pvalue > 1e-7 else "the number of trials does not have the law that is priced"


def ledger_adds_wrongly() -> str | None:
    """Charges must add up under every law, and the joint certificate must be at least the textbook's."""
    gaussian, pure = Gaussian(1, 4), Pure(Fraction(1, 2))
    for law, event, least in (
        ("gdp", gaussian, oracle.gaussian_epsilon(1.0, DELTA)),
        ("zcdp", gaussian, oracle.gaussian_epsilon(1.0, DELTA)),
        ("rdp", gaussian, oracle.gaussian_epsilon(1.0, DELTA)),
        ("pure", pure, 2.0),
    ):
        budget = Budget(epsilon=8.0, delta=0) if law == "pure" else Budget(epsilon=8.0, delta=DELTA)
        ledger = Ledger(budget=budget, law=law)
        for _ in range(4):
            ledger.commit(ledger.reserve([event], relation="replace-one", unit="row"), "sha256:" + "0" * 64)
        total = ledger.certificate()
        if not total.check().consistent or total.rederive().epsilon < least * (1 - 1e-9):
            return f"a ledger of law {law} adds up to too little"
    return None


def search_tells_more() -> str | None:
    """A search must cost what it says, charge it first, and show of its trials the best alone."""
    table = table_of(LABELS, 9, 400)
    with Ledger(budget=Budget(epsilon=60.0, delta=DELTA), law="rdp") as ledger:
        runs = [recorded(search_of, table) for _ in range(SEARCHES)]
    if len({run.left for run in runs}) > 1 or len(ledger.charges()) != SEARCHES:
        return "what a search shows, or charges, depends on its trials"
    for run in (run for run in runs if run.asked):
        squares = {True: Fraction(0), False: Fraction(0)}
        for it in run.asked:
            assert isinstance(it.price, Price)
            kind, size = KIND_OF[type(it.query)], int(getattr(it.query, "size", 1))
            cost = oracle.mu_squared(kind, it.price, Relation.REPLACE_ONE, size)
            squares[isinstance(it.query, ResidualSize)] += cost
        # A record is fitted or validates: fit and score of a trial are of different records.
        trials = sum(isinstance(it.query, ResidualSize) for it in run.asked)
        least = oracle.poisson_search_epsilon(math.sqrt(max(squares.values()) / trials), TRIALS, DELTA)
        if least > ASKED * 1.01:
            return f"a search at ε = {ASKED} costs {least:.4g}"
    return None


def search_of(table: Any) -> Any:
    """Search two settings; return the shape of what is shown: names, whole numbers, and lengths."""
    model = tacit.LogisticRegression(epsilon=ASKED, delta=DELTA, bounds=(-1, 1), classes=(0, 1))
    found = tacit.PrivateSearchCV(model, {"l2": [1e-3, 1.0]}, mean_runs=TRIALS).fit(table["X"], table["y"])
    return tuple(
        (name, value if isinstance(value, int) else len(value) if hasattr(value, "__len__") else None)
        for name, value in sorted(vars(found).items())
    )


CHECKS: Mapping[str, Callable[[], str | None]] = {
    "ledger: charges": charge_comes_late,
    "ledger: refusals": record_is_noticed,
    "certificates": certificate_is_wrong,
    "forgeries": forgery_is_accepted,
    "entropy": entropy_is_not_the_systems,
    "messages": message_tells_a_value,
    "ledger: laws": ledger_adds_wrongly,
    "search": search_tells_more,
    "search: trials": trials_have_another_law,
}
