"""What a process tells others about its blocks, and what it believes of them."""

import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import uncharged
from tacit.ledger import with_blocks as blocks
from tacit.ledger import with_blocks as notices
from tacit.ledger.current_ledger import active_ledger
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget


def new(path: Path | None = None) -> Ledger:
    return Ledger(path, budget=Budget(mu=1.0))


def in_thread(question: Callable[[], object]) -> object:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(question).result()


def test_the_variable_is_there_while_a_block_is_open_and_then_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in (None, "of the parent"):
        if before is not None:
            monkeypatch.setenv(blocks.VARIABLE, before)
        first, second = new(), new()
        contexts = [contextvars.Context(), contextvars.Context()]
        contexts[0].run(first.__enter__)
        contexts[1].run(second.__enter__)
        inside = os.environ[blocks.VARIABLE]
        assert inside != before
        # Blocks of threads overlap: the first to be entered is left first.
        contexts[0].run(first.__exit__, None, None, None)
        assert os.environ[blocks.VARIABLE] == inside
        contexts[1].run(second.__exit__, None, None, None)
        assert os.environ.get(blocks.VARIABLE) == before


@pytest.mark.parametrize(
    "words",
    ["", "{}", "null", "1234:/clinic.db", '{"token": "a", "folder": "/", "pid": 1}', "[" * 100_000]
    + [f"{notices.family()}-{process}" for process in (os.getpid(), os.getppid(), None)],
    # Names of their own, the same in every process that collects the tests.
    ids=["empty", "object", "null", "former", "json", "deep", "mine", "parent", "none"],
)
def test_a_program_started_in_a_block_is_refused_until_it_enters_one(
    monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    # Also with its own number and key: after `exec` both can be those of the program before.
    monkeypatch.setenv(blocks.VARIABLE, words)

    def refused() -> None:
        with pytest.raises(LedgerError, match="was started in the block"):
            active_ledger()

    refused()
    in_thread(refused)
    with uncharged("a trial"):
        assert active_ledger() is None
        in_thread(refused)
    with new() as ledger:
        assert active_ledger() is ledger
        # It may have been submitted before, in the block that this program was started in.
        with pytest.raises(LedgerError, match="several ledgers"):
            in_thread(active_ledger)
    if words != f"{notices.family()}-{os.getpid()}":
        assert os.environ[blocks.VARIABLE] == words
        refused()


def test_the_words_of_this_process_do_not_bind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with new():
        words = os.environ[blocks.VARIABLE]
    # As a library does that puts back an environment it once saved.
    monkeypatch.setenv(blocks.VARIABLE, words)
    assert active_ledger() is None


def test_a_block_that_no_worker_could_be_told_of_is_not_entered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(notices, "folder_of", lambda _: tmp_path / "missing" / "folder")
    with pytest.raises(LedgerError, match="TMPDIR"):
        new().__enter__()
    assert active_ledger() is in_thread(active_ledger) is None
    assert blocks.VARIABLE not in os.environ


def test_a_block_is_left_also_with_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space")

    with new():
        monkeypatch.setattr(notices, "_write", full)
    assert active_ledger() is None
    with pytest.raises(LedgerError, match="cannot be read"):
        notices.read(os.getpid())
