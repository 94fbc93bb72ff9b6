"""Processes: forked, spawned, replaced by exec, started before a block or kept beyond it."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import Ledger, uncharged
from tacit.ledger import with_blocks as blocks
from tacit.ledger.current_ledger import active_ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian

FORK = multiprocessing.get_context("fork")


def new(path: Path | None) -> Ledger:
    return Ledger(path, budget=Budget(mu=1.0), relation="zero-out", unit="row")


def fit(_: int = 0) -> str:
    """What the engine does for a fit, without its records: the name of the ledger charged."""
    try:
        ledger = active_ledger()
        if ledger is None:
            return "free"
        ledger.reserve([Gaussian(1, 10**4)], relation="zero-out", unit="row")
    except LedgerError as error:
        return f"refused: {error}"
    return "memory" if ledger.path is None else ledger.path.name


def fit_uncharged() -> str:
    with uncharged("a trial"):
        return fit()


def in_fork(question: Callable[[], str]) -> str:
    """Ask in a forked child, which must answer soon."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, question().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        answer = answers.read().decode()
    os.waitpid(child, 0)
    return answer


def in_thread(question: Callable[[], str]) -> str:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(question).result()


def both(tmp_path: Path) -> tuple[Ledger, Ledger]:
    return new(tmp_path / "a.db"), new(tmp_path / "b.db")


# --- fork ---------------------------------------------------------------------------------------


def test_a_forked_child_goes_on_where_its_parent_was(tmp_path: Path) -> None:
    first, second = both(tmp_path)
    assert in_fork(fit) == "free"
    for ledger in (first, second):
        with ledger:
            assert in_fork(fit) == fit()
        assert in_fork(fit) == "free"
        assert len(ledger.charges()) == 2


def test_a_forked_child_leaves_the_block_for_itself_alone(tmp_path: Path) -> None:
    ledger = new(tmp_path / "a.db")

    def leave_and_fit() -> str:
        ledger.__exit__(None, None, None)
        return fit() + str(os.environ.get(blocks.VARIABLE))

    with ledger:
        assert in_fork(leave_and_fit) == "freeNone"
        assert fit() == "a.db"
        assert in_thread(fit) == "a.db"


def test_a_ledger_in_memory_is_refused_in_a_forked_child() -> None:
    with new(None) as ledger:
        assert in_fork(fit).startswith("refused: a ledger in memory")
        assert fit() == "memory"
    assert len(ledger.charges()) == 1


def test_a_thread_of_unknown_origin_does_not_become_free_by_forking(tmp_path: Path) -> None:
    with new(tmp_path / "a.db"):
        assert in_thread(lambda: in_fork(fit)) == "a.db"
    # In its child a forking thread is the main one.
    assert "has ended" in in_thread(lambda: in_fork(fit))
    assert in_thread(lambda: in_fork(fit_uncharged)) == "free"


def test_a_child_forked_while_others_enter_and_leave_does_not_hang() -> None:
    stop = threading.Event()
    ledgers = [new(None) for _ in range(5)]

    def busy(ledger: Ledger) -> None:
        while not stop.is_set():
            with ledger:
                pass

    def enter_another() -> str:
        with ledgers[-1]:
            return str(active_ledger() is ledgers[-1])

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(busy, ledger) for ledger in ledgers[:-1]]
        answers = [in_fork(enter_another) for _ in range(20)]
        stop.set()
        for future in futures:
            future.result()
    assert set(answers) == {"True"}


def test_a_child_forked_while_the_lock_is_held_does_not_hang() -> None:
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with blocks.process.lock:
            held.set()
            release.wait(30)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(hold)
        held.wait(30)
        threading.Timer(0.2, release.set).start()
        assert in_fork(fit) == "free"
        future.result()


# --- pools of multiprocessing -------------------------------------------------------------------


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_that_are_started_anew_are_charged_while_the_block_is_open(tmp_path: Path, method: str) -> None:
    first, second = both(tmp_path)
    with multiprocessing.get_context(method).Pool(1) as pool:
        with first:
            assert pool.apply(fit) == "a.db"
        assert "has ended" in pool.apply(fit)
        with second:
            assert "several ledgers" in pool.apply(fit)
            assert pool.apply(fit_within, (str(second.path),)) == "b.db"
    assert [len(ledger.charges()) for ledger in (first, second)] == [1, 1]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_that_are_older_than_the_block_are_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Paths that mean other files where the workers are.
    first, second = both(Path())
    with FORK.Pool(1) as pool, ProcessPoolExecutor(1, mp_context=FORK) as executor:
        assert pool.map(fit, range(2)) == ["free"] * 2
        assert executor.submit(fit).result() == "free"
        pool.apply(os.chdir, ("/",))
        with first:
            assert pool.map(fit, range(2)) == ["a.db"] * 2
            assert executor.submit(fit).result() == "a.db"
            assert pool.apply(fit_uncharged) == "free"
        assert "has ended" in pool.apply(fit)
        with second:
            assert "several ledgers" in pool.apply(fit)
            assert "several ledgers" in executor.submit(fit).result()
    assert [len(ledger.charges()) for ledger in (first, second)] == [3, 0]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_with_an_older_key_are_charged(tmp_path: Path) -> None:
    former = multiprocessing.current_process().authkey
    try:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(fit) == "free"
            multiprocessing.current_process().authkey = b"set by the program"
            with new(tmp_path / "a.db"):
                assert pool.apply(fit) == "a.db"
            assert "has ended" in pool.apply(fit)
    finally:
        multiprocessing.current_process().authkey = former


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_with_a_key_that_was_set_within_the_block_are_refused(tmp_path: Path, method: str) -> None:
    former = multiprocessing.current_process().authkey
    try:
        with new(tmp_path / "a.db"):
            multiprocessing.current_process().authkey = b"set within the block"
            with multiprocessing.get_context(method).Pool(1) as pool:
                assert "refused" in pool.apply(fit)
    finally:
        multiprocessing.current_process().authkey = former


def test_workers_forked_in_a_block_do_not_keep_its_ledger(tmp_path: Path) -> None:
    first, second = both(tmp_path)
    with first:
        pool = FORK.Pool(1)
        assert pool.apply(fit) == "a.db"
    with pool:
        assert "has ended" in pool.apply(fit)
        with second:
            assert "several ledgers" in pool.apply(fit)
            # Where the job itself enters one, it is clear.
            assert pool.apply(fit_within, (str(second.path),)) == "b.db"
            assert "several ledgers" in pool.apply(fit)
    assert [len(ledger.charges()) for ledger in (first, second)] == [1, 1]


def fit_within(path: str) -> str:
    with Ledger(path):
        return fit()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_do_not_charge_a_ledger_in_memory() -> None:
    with FORK.Pool(1) as pool, new(None):
        assert "in the memory of another process" in pool.apply(fit)


def test_programs_with_one_key_are_not_charged_to_each_others_ledgers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    first, second = both(tmp_path)
    set_key = f"setattr(multiprocessing.current_process(), 'authkey', {KEY!r})"
    with Child() as mine, Child() as other:
        for child, ledger in ((mine, first), (other, second)):
            child.ask(set_key)
            assert child.ask("fit_in_worker()") == "free"
            child.ask(f"globals().update(ledger=Ledger({str(ledger.path)!r}))")
        mine.ask("ledger.__enter__()")
        assert mine.ask("fit_in_worker()") == "a.db"
        assert "has ended" in other.ask("fit_in_worker()")
        other.ask("ledger.__enter__()")
        for child in (mine, other):
            assert "several ledgers" in child.ask("fit_in_worker()")
        assert mine.ask() == "a.db"
        assert other.ask() == "b.db"


def test_workers_of_workers_are_refused_within_the_block(tmp_path: Path) -> None:
    with new(tmp_path / "a.db"), ProcessPoolExecutor(1, mp_context=FORK) as executor:
        assert executor.submit(fit).result() == "a.db"
        assert "refused" in executor.submit(fit_in_a_further_worker).result()


def fit_in_a_further_worker() -> str:
    with FORK.Pool(1) as pool:
        return pool.apply(fit)


# --- started by exec ----------------------------------------------------------------------------

SERVER = """
import multiprocessing, os, sys
sys.path[:0] = {path!r}
from concurrent.futures import ThreadPoolExecutor
from tacit.errors import LedgerError
from tacit.ledger import Ledger, uncharged
from tacit.ledger import with_blocks as notices
from tacit.ledger.current_ledger import active_ledger
from tacit.privacy.event import Gaussian
def fit():
    try:
        ledger = active_ledger()
        if ledger is None:
            return "free"
        ledger.reserve([Gaussian(1, 10**4)], relation="zero-out", unit="row")
        return ledger.path.name
    except LedgerError as error:
        return f"refused: {{error}}"
def fit_in_thread():
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(fit).result()
def fit_in_worker():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(fit)
def fit_within(block):
    with block:
        return fit()
os.chdir("/")
for line in sys.stdin:
    print(eval(line), flush=True)
"""


class Child:
    """A Python process that is asked one expression after another."""

    def __init__(self, prelude: str = "") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", prelude or SERVER.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, expression: str = "fit()") -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def test_a_program_started_in_a_block_is_refused_until_it_enters_one(tmp_path: Path) -> None:
    first, second = both(tmp_path)
    within_second = f"fit_within(Ledger({str(second.path)!r}))"
    ways = ("fit()", "fit_in_thread()", "fit_in_worker()")
    with Child() as outside, first, Child() as inside:
        assert all("was started in the block" in inside.ask(way) for way in ways)
        assert inside.ask("fit_within(uncharged('a trial'))") == "free"
        assert inside.ask(within_second) == "b.db"
        first.__exit__(None, None, None)
        assert "was started in the block" in inside.ask()
        with first:
            assert [outside.ask(way) for way in ways] == ["free"] * 3
        assert outside.ask(within_second) == "b.db"
        folder = Path(outside.ask("notices.folder_of(notices.family())"))
        assert [json.loads(file.read_text())["open"] for file in folder.iterdir()] == [False]
        first.__enter__()
    # A process that ends takes its notice along.
    assert not folder.exists()
    assert [len(ledger.charges()) for ledger in (first, second)] == [0, 2]


def test_two_open_ledgers_refuse_a_started_program(tmp_path: Path) -> None:
    first, second = both(tmp_path)
    with first, ThreadPoolExecutor(1) as pool:
        pool.submit(second.__enter__).result()
        with Child() as child:
            assert "was started in the block" in child.ask()
            pool.submit(second.__exit__, None, None, None).result()
            assert "was started in the block" in child.ask()
    assert first.charges() == second.charges() == ()


KEY = b"set by the program"
REPLACED = """
import multiprocessing, os, sys
sys.path[:0] = {path!r}
multiprocessing.current_process().authkey = {key!r}
from tacit.ledger import Ledger
with Ledger({ledger!r}):
    os.environ["NUMBER"] = str(os.getpid())
    os.execv(sys.executable, [sys.executable, "-c", {server!r}])
"""


def test_a_process_replaced_by_exec_is_refused_though_number_and_key_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process that is replaced withdraws no notice.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ledger = new(tmp_path / "a.db")
    server = SERVER.format(path=sys.path)
    with Child(REPLACED.format(path=sys.path, ledger=str(ledger.path), server=server, key=KEY)) as child:
        assert child.ask("os.environ['NUMBER'] == str(os.getpid())") == "True"
        assert "was started in the block" in child.ask()
        child.ask(f"setattr(multiprocessing.current_process(), 'authkey', {KEY!r})")
        assert "was started in the block" in child.ask()
        # Its workers look for the notice of its number and key, which is still there.
        assert child.ask("fit_in_worker()") == "a.db"
    assert len(ledger.charges()) == 1
