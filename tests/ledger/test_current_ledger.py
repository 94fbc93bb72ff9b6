"""The ledger that a fit must charge: that of its block, in every thread and task of it."""

import asyncio
import contextvars
import gc
import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from tacit.errors import LedgerError, SettingError
from tacit.ledger import uncharged
from tacit.ledger import with_blocks as blocks
from tacit.ledger.current_ledger import active_ledger
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget


def new(path: Path | None = None) -> Ledger:
    return Ledger(path, budget=Budget(mu=1.0))


def in_thread(question: Callable[[], object]) -> object:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(question).result()


def enter_and_leave(ledger: Ledger) -> None:
    with ledger:
        pass


def answer(future: asyncio.Future[Ledger | None]) -> None:
    try:
        future.set_result(active_ledger())
    except LedgerError as error:
        future.set_exception(error)


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


def test_different_ledgers_are_not_nested(tmp_path: Path) -> None:
    new(tmp_path / "clinic.db")
    ada, bob = (Ledger(tmp_path / "clinic.db", analyst=name) for name in ("Ada", "Bob"))
    for ledger, other in ((new(), new()), (ada, bob)):
        with ledger:
            for second in (other, other.request("second")):
                with pytest.raises(LedgerError, match="not nested"):
                    second.__enter__()
            assert active_ledger() is ledger
        assert active_ledger() is None


def test_a_request_may_be_entered_within_the_block_of_its_ledger(tmp_path: Path) -> None:
    new(tmp_path / "clinic.db")
    for ledger in (new(), Ledger(tmp_path / "clinic.db", analyst="Ada")):
        with ledger:
            with ledger.request("first") as request:
                assert active_ledger() is request
            assert active_ledger() is ledger
            with ledger:
                assert active_ledger() is ledger
            assert active_ledger() is ledger
            assert blocks.VARIABLE in os.environ
        assert active_ledger() is None
        assert blocks.VARIABLE not in os.environ


# --- threads ------------------------------------------------------------------------------------


def test_t44_a_fit_in_a_thread_is_charged_while_the_block_is_open_and_refused_after_it() -> None:
    assert in_thread(active_ledger) is None
    with new() as ledger:
        assert in_thread(active_ledger) is ledger
    with pytest.raises(LedgerError, match="has ended"):
        in_thread(active_ledger)
    assert active_ledger() is None


def test_results_taken_outside_the_block_are_charged_or_refused() -> None:
    gate = threading.Event()

    def late() -> Ledger | None:
        gate.wait(30)
        return active_ledger()

    with ThreadPoolExecutor(2) as pool:
        with new():
            futures = [pool.submit(late) for _ in range(3)]
        gate.set()
        for future in futures:
            with pytest.raises(LedgerError, match="has ended") as caught:
                future.result()
    for way_out in ("with ledger:", "copy_context", "uncharged"):
        assert way_out in str(caught.value)


def test_a_reused_thread_is_not_free_after_a_block_of_its_own() -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(enter_and_leave, new()).result()
        with new(), pytest.raises(LedgerError, match="several ledgers"):
            pool.submit(active_ledger).result()


def test_after_a_second_ledger_a_thread_could_mean_either() -> None:
    enter_and_leave(new())
    with new() as ledger:
        with pytest.raises(LedgerError, match="several ledgers"):
            in_thread(active_ledger)
        assert active_ledger() is ledger


def test_ledgers_in_memory_are_distinct_also_after_one_is_forgotten() -> None:
    enter_and_leave(new())
    gc.collect()
    with new(), pytest.raises(LedgerError, match="several ledgers"):
        in_thread(active_ledger)


def test_two_objects_of_one_file_are_one_ledger(tmp_path: Path) -> None:
    enter_and_leave(new(tmp_path / "clinic.db"))
    with Ledger(tmp_path / "clinic.db") as ledger:
        assert in_thread(active_ledger) is ledger


def test_requests_of_one_ledger_are_one_ledger_and_keep_their_keys(tmp_path: Path) -> None:
    for ledger in (new(), new(tmp_path / "clinic.db")):
        blocks.process.ever.clear()
        enter_and_leave(ledger.request("first"))
        with ledger.request("second") as request:
            assert active_ledger() is request
            found = in_thread(active_ledger)
            assert isinstance(found, Ledger)
            assert (found.key, found.handle()) == (None, ledger.handle())


def test_who_charges_is_a_part_of_the_ledger(tmp_path: Path) -> None:
    new(tmp_path / "clinic.db")
    enter_and_leave(Ledger(tmp_path / "clinic.db", analyst="Ada"))
    other = Ledger(tmp_path / "clinic.db", analyst="Bob")
    with other, pytest.raises(LedgerError, match="several ledgers"):
        in_thread(active_ledger)


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
    with new() as ledger:
        in_thread(lambda: enter_and_leave(ledger))
        assert active_ledger() is ledger
        assert in_thread(active_ledger) is ledger


def test_a_copy_of_the_context_belongs_to_the_block_also_after_it() -> None:
    with new() as ledger:
        context = contextvars.copy_context()
    enter_and_leave(new())
    assert in_thread(lambda: context.run(active_ledger)) is ledger
    assert context.run(active_ledger) is ledger
    # There, a block of another ledger is a clear word, and ends like any other.
    with new() as other:
        pass
    context.run(enter_and_leave, other)
    assert context.run(active_ledger) is ledger


def test_an_empty_context_within_a_block_is_not_free() -> None:
    with new() as ledger:
        assert contextvars.Context().run(active_ledger) is ledger
    with new(), pytest.raises(LedgerError, match="several ledgers"):
        contextvars.Context().run(active_ledger)


def test_threads_that_inherit_contexts_do_not_keep_the_first_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = SimpleNamespace(thread_inherit_context=True)
    monkeypatch.setattr(blocks, "sys", SimpleNamespace(flags=flags))
    with new() as ledger:
        inherited = contextvars.copy_context()
        assert in_thread(lambda: inherited.run(active_ledger)) is ledger
        assert active_ledger() is ledger
    with new(), pytest.raises(LedgerError, match="several ledgers"):
        in_thread(lambda: inherited.run(active_ledger))


def test_a_block_left_in_another_context_takes_no_ledger_away() -> None:
    def holding(ledger: Ledger) -> Generator[None, None, None]:
        with ledger:
            yield

    first, second = new(), new()
    generator = holding(first)
    context = contextvars.Context()
    context.run(next, generator)
    with second:
        generator.close()
        assert active_ledger() is second
    assert context.run(active_ledger) is first
    # The same ledger, and a copy of the context of its block.
    generator = holding(first)
    contextvars.Context().run(next, generator)
    with first:
        copied = contextvars.copy_context()
        copied.run(generator.close)
        assert copied.run(active_ledger) is first
        assert active_ledger() is first
    assert active_ledger() is None


def test_a_block_that_ends_in_another_thread_stays_charged_where_it_began() -> None:
    ledger = new()
    ledger.__enter__()
    in_thread(lambda: ledger.__exit__(None, None, None))
    assert active_ledger() is ledger
    assert blocks.VARIABLE not in os.environ
    ledger.__exit__(None, None, None)
    assert active_ledger() is None


def uncharged_steps() -> Generator[None, None, None]:
    with uncharged("a trial"):
        yield


def test_what_is_uncharged_and_ends_in_another_order_does_not_free_a_block() -> None:
    first, second = uncharged_steps(), uncharged_steps()
    next(first)
    next(second)
    first.close()
    with new() as ledger:
        second.close()
        assert active_ledger() is ledger
    assert active_ledger() is None


def test_a_copy_of_an_uncharged_context_is_not_free_after_its_block() -> None:
    with uncharged("a trial"):
        context = contextvars.copy_context()
    with new() as ledger:
        assert context.run(active_ledger) is ledger
    assert context.run(active_ledger) is None


def test_a_block_that_ends_elsewhere_does_not_end_another_one_of_its_ledger() -> None:
    def holding(ledger: Ledger) -> Generator[None, None, None]:
        with ledger:
            yield

    ledger = new()
    generator = holding(ledger)
    in_thread(lambda: next(generator))
    with ledger:
        contextvars.Context().run(generator.close)
        assert contextvars.Context().run(active_ledger) is ledger


# --- tasks --------------------------------------------------------------------------------------


def test_tasks_of_asyncio_belong_to_the_block_they_were_created_in() -> None:
    async def late(ready: asyncio.Event) -> Ledger | None:
        await ready.wait()
        return active_ledger()

    async def program() -> None:
        ready = asyncio.Event()
        with new() as first:
            one = asyncio.create_task(late(ready))
            assert await asyncio.to_thread(active_ledger) is first
        with new() as second:
            two = asyncio.create_task(late(ready))
            with pytest.raises(LedgerError, match="several ledgers"):
                await asyncio.get_running_loop().run_in_executor(None, active_ledger)
        outside = asyncio.create_task(late(ready))
        with new():
            # Nothing tells that it is not a part of the block, run in an empty context.
            other = asyncio.get_running_loop().create_future()
            contextvars.Context().run(answer, other)
            with pytest.raises(LedgerError, match="several ledgers"):
                await other
        ready.set()
        assert await one is first
        assert await two is second
        assert await outside is None

    asyncio.run(program())


# --- opting out ---------------------------------------------------------------------------------


def test_a_thread_opts_out_by_name_and_only_for_its_block() -> None:
    def opt_out() -> Ledger | None:
        with uncharged("simulated records"):
            return active_ledger()

    enter_and_leave(new())
    assert in_thread(opt_out) is None
    with new() as ledger:
        assert in_thread(opt_out) is None
        assert active_ledger() is ledger
        with pytest.raises(LedgerError, match="several ledgers"):
            in_thread(active_ledger)


def test_within_a_ledger_nothing_is_left_uncharged() -> None:
    with new() as ledger:
        with pytest.raises(LedgerError, match="leave its block first"), uncharged("a trial"):
            pass
        context = contextvars.copy_context()
        assert active_ledger() is ledger
    with pytest.raises(LedgerError, match="leave its block first"):
        context.run(uncharged("a trial").__enter__)


def test_a_ledger_may_be_entered_within_what_is_uncharged() -> None:
    with uncharged("a trial"):
        with uncharged("a part of it"), new() as ledger:
            assert active_ledger() is ledger
        assert active_ledger() is None


@pytest.mark.parametrize("reason", ["", "  ", None, 3])
def test_opting_out_needs_a_reason(reason: str) -> None:
    with pytest.raises(SettingError, match="reason"), uncharged(reason):
        pass
