"""What a process tells others about its blocks, and what it believes of them."""

import contextvars
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import notices, uncharged
from tacit.ledger.active import active_ledger
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget


def new(path: Path | None = None) -> Ledger:
    return Ledger(path, budget=Budget(mu=1.0))


def in_thread(question: Callable[[], object]) -> object:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(question).result()


def test_the_variable_is_there_while_a_block_is_open_and_then_what_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outer = json.dumps({"token": "of the parent", "pid": 1, "folder": str(tmp_path)})
    for before in (None, outer):
        if before is not None:
            monkeypatch.setenv(notices.VARIABLE, before)
        first, second = new(), new()
        contexts = [contextvars.Context(), contextvars.Context()]
        contexts[0].run(first.__enter__)
        contexts[1].run(second.__enter__)
        inside = os.environ[notices.VARIABLE]
        assert inside != before
        # Blocks of threads overlap: the first to be entered is left first.
        contexts[0].run(first.__exit__, None, None, None)
        assert os.environ[notices.VARIABLE] == inside
        contexts[1].run(second.__exit__, None, None, None)
        assert os.environ.get(notices.VARIABLE) == before


@pytest.mark.parametrize(
    "words",
    ["1234:/clinic.db", "{}", "[]", "null", '{"token": 1, "folder": "/", "pid": 1}', "[" * 100_000]
    + [
        f'{{"token": "a", "folder": {rest}'
        for rest in ('"a", "pid": 1}', 'null, "pid": 1}', '"/"}')
    ],
)
def test_words_that_cannot_be_read_are_refused(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setenv(notices.VARIABLE, words)
    with pytest.raises(LedgerError, match="cannot read"):
        active_ledger()
    with pytest.raises(LedgerError, match="cannot read"):
        in_thread(active_ledger)
    with uncharged("a trial"):
        assert active_ledger() is None
    with new() as ledger:
        assert active_ledger() is ledger
    assert os.environ[notices.VARIABLE] == words


def test_a_process_whose_starter_has_ended_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    starter = 2**22 + 1
    words = {"token": "of the parent", "pid": starter}
    other = json.dumps({"path": str(tmp_path / "other.db"), "dataset": None})
    notice = notices.Notice(frozenset({other}), is_open=True)
    for folder in (tmp_path / "missing", tmp_path / "empty", tmp_path / "of kin"):
        monkeypatch.setenv(notices.VARIABLE, json.dumps({**words, "folder": str(folder)}))
        if folder.name != "missing":
            folder.mkdir()
        if folder.name == "of kin":
            (folder / f"{os.getpid()}.json").write_text(notice.document())
        with pytest.raises(LedgerError, match="has ended"):
            active_ledger()
    new(tmp_path / "other.db")
    # A starter that was killed has not withdrawn what it said.
    (folder / f"{starter}.json").write_text(notice.document())
    charged = active_ledger()
    assert charged is not None
    assert charged.path == tmp_path / "other.db"


def test_the_words_of_this_process_do_not_bind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with new():
        words = os.environ[notices.VARIABLE]
    # As a library does that puts back an environment it once saved.
    monkeypatch.setenv(notices.VARIABLE, words)
    assert active_ledger() is None


def test_a_block_that_no_worker_could_be_told_of_is_not_entered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(notices, "family_folder", lambda: tmp_path / "missing" / "folder")
    with pytest.raises(LedgerError, match="TMPDIR"):
        new().__enter__()
    assert active_ledger() is in_thread(active_ledger) is None
    assert notices.VARIABLE not in os.environ


def test_a_block_is_left_also_with_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise LedgerError("no space")

    folder = notices.family_folder()
    with new():
        monkeypatch.setattr(notices, "post", full)
    assert active_ledger() is None
    with pytest.raises(LedgerError, match="cannot be read"):
        notices.posted(folder, os.getpid())
