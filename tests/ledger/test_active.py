"""The ledger that a fit must charge: that of its block, in every thread of it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tacit.errors import LedgerError
from tacit.ledger.active import active_ledger
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget


def new() -> Ledger:
    return Ledger(budget=Budget(mu=1.0))


def in_thread(question: Callable[[], object]) -> object:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(question).result()


def leave_by_error(ledger: Ledger) -> None:
    with ledger:
        raise KeyboardInterrupt


def test_a_block_has_its_ledger_and_gives_it_up() -> None:
    assert active_ledger() is None
    with new() as ledger:
        assert active_ledger() is ledger
    assert active_ledger() is None
    with pytest.raises(KeyboardInterrupt):
        leave_by_error(ledger)
    assert active_ledger() is None
    with ledger:
        assert active_ledger() is ledger


def test_ledgers_are_not_nested() -> None:
    with new() as ledger:
        for other in (new(), ledger):
            with pytest.raises(LedgerError, match="not nested"):
                other.__enter__()
        assert active_ledger() is ledger
    assert active_ledger() is None


def test_t44_a_fit_in_a_thread_is_charged_too() -> None:
    with new() as ledger:
        assert in_thread(active_ledger) is ledger
    assert in_thread(active_ledger) is None


def test_threads_may_have_ledgers_of_their_own() -> None:
    entered, done = threading.Event(), threading.Event()

    def keep_open() -> bool:
        with new() as own:
            entered.set()
            done.wait(30)
            return active_ledger() is own

    with ThreadPoolExecutor(1) as pool, new() as ledger:
        other = pool.submit(keep_open)
        entered.wait(30)
        assert active_ledger() is ledger
        # A third thread could mean either: refused, not left uncharged.
        with pytest.raises(LedgerError, match="several ledgers"):
            in_thread(active_ledger)
        done.set()
        assert other.result()


def test_one_ledger_may_be_entered_in_several_threads() -> None:
    def enter_and_leave(ledger: Ledger) -> None:
        with ledger:
            pass

    with new() as ledger:
        in_thread(lambda: enter_and_leave(ledger))
        assert active_ledger() is ledger
        assert in_thread(active_ledger) is ledger
