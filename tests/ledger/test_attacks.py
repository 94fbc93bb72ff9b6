"""Attacks on the ledger, kept as tests: nothing uncharged, nothing lost, nothing burnt."""

import os
import resource
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_score

import tacit
from tacit.contract.plan import Penalty
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.engine.table import Table
from tacit.errors import BudgetError, LedgerError, SettingError, TacitError
from tacit.ledger import Ledger, storage
from tacit.ledger.chain import Chain
from tacit.ledger.entry import Entry
from tacit.ledger.storage import FileStorage
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

WHOLE = [Gaussian(1, 1)]
PART = [Gaussian(1, 100)]
TERMS: dict[str, Any] = {"relation": "zero-out", "unit": "row"}
THREE = Budget(epsilon=3, delta=1e-6)


def table(n: int = 300) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (n, 2)), rng.integers(0, 2, n)


def estimator(**settings: Any) -> tacit.LogisticRegression:
    given: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1), "classes": (0, 1)}
    return tacit.LogisticRegression(**(given | settings))


def once(real: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    """Interrupt the first call, before it starts or just after it has returned."""
    left = [True]

    def interrupted(*arguments: Any, **named: Any) -> Any:
        if left and not after:
            left.clear()
            raise KeyboardInterrupt
        result = real(*arguments, **named)
        if left:
            left.clear()
            raise KeyboardInterrupt
        return result

    return interrupted


# --- to be mended -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_fits_in_worker_processes_are_charged_or_refused(tmp_path: Path) -> None:
    X, y = table()
    ledger = Ledger(tmp_path / "clinic.db", budget=Budget(epsilon=9, delta=1e-6))
    fits = 0
    with ledger:
        try:
            scores = cross_val_score(estimator(), X, y, cv=3, n_jobs=2, error_score="raise")
            fits = len(scores)
        except TacitError:
            pass
    assert len(ledger.charges()) >= fits


def test_a_ledger_of_two_names_is_one_ledger(tmp_path: Path) -> None:
    path, other = tmp_path / "clinic.db", tmp_path / "other.db"
    first = Ledger(path, budget=Budget(mu=1.0))
    os.link(path, other)
    second = Ledger(other)
    for ledger in (first, second, first):
        ledger.reserve(PART, **TERMS)
    assert len(first.charges()) == len(second.charges()) == 3
    assert first.verify() == second.verify()


def test_an_older_copy_is_noticed_right_after_a_charge(tmp_path: Path) -> None:
    path, old = tmp_path / "clinic.db", tmp_path / "old.db"
    ledger = Ledger(path, budget=Budget(mu=1.0))
    shutil.copy(path, old)
    ledger.reserve(WHOLE, **TERMS)
    shutil.copy(old, path)
    with pytest.raises(LedgerError, match="Restoring an older copy"):
        ledger.reserve(WHOLE, **TERMS)


@pytest.mark.parametrize(
    ("kept", "owner", "name", "after"),
    [
        ("memory", Chain, "_take", True),
        ("file", Chain, "_take", True),
        ("file", Entry, "from_row", False),
        ("file", os, "open", True),
        ("file", os, "pread", False),
        ("file", os, "pwrite", False),
        ("file", os, "pwrite", True),
        ("file", os, "fdatasync", True),
    ],
)
def test_an_interrupted_operation_leaves_the_ledger_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str, owner: Any, name: str, after: bool
) -> None:
    monkeypatch.setattr(storage, "PATIENCE", 0.5)
    ledger = Ledger(None if kept == "memory" else tmp_path / "a.db", budget=Budget(mu=1.0))
    ledger.reserve(PART, **TERMS, label="first")
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, once(getattr(owner, name), after=after))
        # `caught` keeps the traceback, as an interactive session does.
        with pytest.raises(KeyboardInterrupt) as caught:
            ledger.reserve(PART, **TERMS, label="interrupted")
    assert caught.value is not None
    ledger.reserve(PART, **TERMS, label="second")
    labels = [charge.label for charge in ledger.charges()]
    assert labels in (["first", "second"], ["first", "interrupted", "second"])
    assert ledger.verify().charges == len(labels)


def test_a_reader_does_not_make_refused_charges_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "PATIENCE", 0.1)
    path = tmp_path / "clinic.db"
    ledger = Ledger(path, budget=Budget(mu=1.0))
    with FileStorage(path).session(alone=False):
        for _ in range(3):
            with pytest.raises(LedgerError, match="nothing was spent"):
                ledger.reserve(PART, **TERMS)
    assert ledger.charges() == ()


def test_a_table_that_was_run_costs_nothing_more() -> None:
    X, y = table()
    design = matrix_design(("x0", "x1"), Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(mu=0.2, delta=1e-6)
    facts = PublicFacts(design, len(X), Relation.REPLACE_ONE, "row", budget, Penalty())
    plan = make_plan(facts, SolverOptions())
    with Ledger(budget=Budget(mu=1.0)) as ledger, Table(X, y) as opened:
        opened.admit(design, invalid_rows=None, exact=False)
        opened.run(plan, seed=None)
        with pytest.raises(SettingError):
            opened.run(plan, seed=None)
    assert len(ledger.charges()) == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "settings",
    [
        {"l2": 1.0, "step_size": 1e308},
        {"l2": 1.0, "prior_mean": [1e300, 1e300]},
        {"l2": 1.0, "prior_mean": [1e120, 0.0], "solver": "gradient"},
    ],
)
def test_settings_that_no_solver_takes_are_refused_before_the_charge(settings: Any) -> None:
    X, y = table()
    ledger = Ledger(budget=THREE)
    with ledger:
        try:
            estimator(**settings).fit(X, y)
        except TacitError:
            assert ledger.charges() == ()


# --- attacks that failed ------------------------------------------------------------------------


def test_names_by_symbolic_links_are_one_ledger(tmp_path: Path) -> None:
    path, link = tmp_path / "clinic.db", tmp_path / "link.db"
    first = Ledger(path, budget=Budget(mu=1.0))
    link.symlink_to(path)
    second = Ledger(link)
    assert second.path == path.resolve()
    first.reserve(WHOLE, **TERMS)
    with pytest.raises(BudgetError):
        second.reserve(PART, **TERMS)


@pytest.mark.filterwarnings("ignore")
def test_fits_in_threads_stay_within_the_budget(tmp_path: Path) -> None:
    X, y = table()
    ledger = Ledger(tmp_path / "clinic.db", budget=Budget(mu=1.0))

    def fit(_: int) -> int:
        share = {"epsilon": None, "delta": None, "budget": Budget(mu=0.5), "iterations": 1}
        try:
            estimator(**share).fit(X.copy(), y)
        except BudgetError:
            return 0
        return 1

    with ledger, ThreadPoolExecutor(4) as pool:
        accepted = sum(pool.map(fit, range(10)))
    assert accepted == len(ledger.charges()) == 4
    assert sum(charge.cost for charge in ledger.charges()) <= 1


@pytest.mark.filterwarnings("ignore")
def test_the_joint_total_is_the_exact_sum_over_the_certificates_of_the_fits() -> None:
    X, y = table()
    ledger = Ledger(budget=THREE)
    with ledger:
        fits = [estimator(inference=inference).fit(X, y) for inference in (False, True)]
    totals = [Fraction(fit.certificate_.document["total"]["mu_squared"]) for fit in fits]
    document = ledger.certificate().document
    assert Fraction(document["total"]["mu_squared"]) == sum(totals)
    assert all(charge["release"] for charge in document["charges"])
    rest = ledger.remaining()
    assert rest is not None
    with ledger:
        estimator(epsilon=None, delta=None, budget=rest, inference=True).fit(X, y)


def test_a_full_disk_refuses_a_charge_and_loses_none(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "clinic.db", budget=Budget(mu=1.0))
    ledger.reserve(PART, **TERMS, label="before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "clinic.db").stat().st_size, limits[1]))
    try:
        with pytest.raises(LedgerError):
            ledger.reserve(PART, **TERMS, label="full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [charge.label for charge in ledger.charges()] == ["before"]
    assert ledger.verify().charges == 1
