"""Many threads and many ledgers: every fit is charged where it belongs or refused, none is free."""

import contextvars
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.errors import LedgerError
from tacit.estimators.glm import glm
from tacit.estimators.regressors import GaussianMean
from tacit.ledger import Ledger, uncharged
from tacit.ledger.current_ledger import active_ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian
from tacit.schema.schema import Schema

THREADS, FITS = 64, 50
REFUSED, FREE = "refused", "free"


def new() -> Ledger:
    return Ledger(budget=Budget(mu=1.0), relation="zero-out", unit="row")


def fit(origin: str) -> str:
    """What the engine does for a fit, without its records; says what came of it."""
    try:
        ledger = active_ledger()
    except LedgerError:
        return REFUSED
    if ledger is None:
        return FREE
    ledger.reserve([Gaussian(1, 10**6)], relation="zero-out", unit="row", label=origin)
    return "charged"


def fit_within(ledger: Ledger, origin: str) -> str:
    with ledger:
        return fit(origin)


def fit_uncharged(origin: str) -> str:
    with uncharged("a trial"):
        return fit(origin)


def labels(ledger: Ledger) -> Counter[str]:
    return Counter(charge.label for charge in ledger.charges())


def side_by_side(work: Callable[[int], Any]) -> list[Any]:
    """Run the work in as many threads at once, all of which begin together."""
    begin = threading.Barrier(THREADS)

    def wait_and_work(number: int) -> Any:
        begin.wait(60)
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(wait_and_work, range(THREADS)))


def test_all_fits_of_all_threads_are_charged_to_the_one_ledger() -> None:
    with new() as ledger:
        found = side_by_side(lambda _: [fit("inside") for _ in range(FITS)])
    assert Counter(chain.from_iterable(found)) == {"charged": THREADS * FITS}
    assert labels(ledger) == {"inside": THREADS * FITS}


def test_fits_that_outlast_their_block_are_charged_or_refused() -> None:
    half = threading.Semaphore(0)
    futures: list[Future[str]] = []

    def counted() -> str:
        half.release()
        return fit("inside")

    with ThreadPoolExecutor(THREADS) as pool:
        with new() as ledger:
            futures += [pool.submit(counted) for _ in range(THREADS * FITS)]
            for _ in range(THREADS * FITS // 2):
                half.acquire(timeout=60)
        found = Counter(future.result() for future in futures)
    assert found[FREE] == 0
    assert found["charged"] + found[REFUSED] == THREADS * FITS
    assert labels(ledger)["inside"] == found["charged"]


def test_many_ledgers_in_many_threads_with_one_shared_pool() -> None:
    """Each thread enters and leaves its own ledgers and submits fits to a pool that all share."""
    ledgers = {str(number): new() for number in range(THREADS // 4)}
    with ThreadPoolExecutor(THREADS) as shared:

        def submit(number: int) -> list[tuple[str, str, Future[str]]]:
            chance = random.Random(number)
            jobs: list[tuple[str, str, Future[str]]] = []
            for _ in range(FITS):
                name = chance.choice([*ledgers, ""])
                way = chance.choice(["plain", "copy", "within", "direct", "uncharged"])
                if name:
                    with ledgers[name]:
                        jobs.append((name, way, start(shared, name, way)))
                else:
                    jobs.append((name, way, start(shared, name, way)))
            return jobs

        def start(pool: ThreadPoolExecutor, name: str, way: str) -> Future[str]:
            if way == "copy":
                return pool.submit(contextvars.copy_context().run, fit, name)
            if way == "within" and name:
                return pool.submit(fit_within, ledgers[name], name)
            if way == "uncharged":
                return pool.submit(fit_uncharged, "uncharged")
            if way == "direct":
                done: Future[str] = Future()
                done.set_result(fit(name))
                return done
            return pool.submit(fit, name)

        jobs = [(name, way, future.result()) for submitted in side_by_side(submit) for name, way, future in submitted]
    assert len(jobs) == THREADS * FITS
    inside = [(way, result) for name, way, result in jobs if name]
    assert {result for way, result in inside if way in ("copy", "within", "direct")} == {"charged"}
    assert {result for way, result in inside if way == "uncharged"} == {FREE}
    assert Counter(result for way, result in inside if way == "plain")[FREE] == 0
    charged = Counter(name for name, _, result in jobs if result == "charged")
    outside = 0
    for name, ledger in ledgers.items():
        found = labels(ledger)
        # What was submitted outside may run while one ledger is the only one, and is charged.
        outside += found.pop("", 0)
        assert found == ({name: charged[name]} if charged[name] else {})
    assert outside == charged[""]


@pytest.mark.filterwarnings("ignore")
def test_real_fits_whose_results_are_taken_outside_of_the_block() -> None:
    records = np.linspace(-1, 1, 50).reshape(-1, 1)

    def mean(_: int) -> None:
        GaussianMean(budget=Budget(mu=0.01), bounds=(-1, 1)).fit(records.copy())

    ledger = Ledger(budget=Budget(mu=1.0))
    with ThreadPoolExecutor(2) as pool:
        with ledger:
            futures = [pool.submit(mean, number) for number in range(20)]
            futures[9].result()
        errors = [future.exception() for future in futures]
    fitted = errors.count(None)
    assert fitted >= 9
    assert all(isinstance(error, LedgerError) for error in errors if error is not None)
    assert len(ledger.charges()) == fitted


@pytest.mark.filterwarnings("ignore")
def test_a_formula_asks_once_which_ledger_is_charged() -> None:
    """The ledger that forbids errors about records is charged, also if its block ends meanwhile."""
    numeric = 'type = "numeric"\nlower = 0\nupper = 1'
    schema = Schema.parse(f'unit = "row"\n[columns.x]\n{numeric}\n[columns.y]\n{numeric}')
    ledger = Ledger(budget=Budget(mu=1.0))
    table = pd.DataFrame({"x": np.linspace(0, 1, 50), "y": np.linspace(0, 1, 50)})

    def leave(_: object) -> None:
        contextvars.Context().run(ledger.__exit__, None, None, None)

    def fit_formula() -> None:
        glm("y ~ x", table, schema, "gaussian", budget=Budget(mu=0.1), on_plan=leave)

    with ThreadPoolExecutor(1) as pool, ledger:
        pool.submit(fit_formula).result()
    assert len(ledger.charges()) == 1


@pytest.mark.parametrize("ways", [("copy",), ("plain",)])
def test_a_pool_that_is_used_in_one_block_after_another(ways: tuple[str, ...]) -> None:
    ledgers = [new() for _ in range(8)]
    found: list[Counter[str]] = []
    with ThreadPoolExecutor(4) as pool:
        for number, ledger in enumerate(ledgers):
            with ledger:
                futures = [
                    pool.submit(contextvars.copy_context().run, fit, str(number))
                    if "copy" in ways
                    else pool.submit(fit, str(number))
                    for _ in range(FITS)
                ]
            found.append(Counter(future.result() for future in futures))
    assert all(results[FREE] == 0 for results in found)
    for number, ledger in enumerate(ledgers):
        assert set(labels(ledger)) <= {str(number)}
        assert labels(ledger)[str(number)] == found[number]["charged"]
        assert "copy" not in ways or found[number]["charged"] == FITS
