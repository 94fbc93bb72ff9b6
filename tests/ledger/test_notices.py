"""What processes tell each other about ledgers is complete, readable by kin alone, or refused."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import notices
from tacit.ledger.notices import Notice

OPEN = Notice(frozenset({"a"}), is_open=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(notices, "family_folder", lambda: tmp_path / "notices")
    return tmp_path / "notices"


def test_a_notice_is_replaced_and_read_again(folder: Path) -> None:
    assert notices.posted(folder, os.getpid()) is None
    for notice in (OPEN, Notice(frozenset({"a", "b"})), Notice(frozenset({"a"}))):
        notices.post(replace(notice, epoch="1"))
        assert notices.posted(folder, os.getpid()) == notice
        assert notices.is_epoch(folder, "1", "")
        assert not notices.is_epoch(folder, "2", "")
    assert [file.name for file in folder.iterdir()] == [f"{os.getpid()}.json"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_two_names_stand_for_any_number_of_ledgers(folder: Path) -> None:
    notices.post(Notice(frozenset("abc")))
    found = notices.posted(folder, 0)
    assert found is not None
    assert len(found.ledgers) == 2


def test_what_several_processes_say_counts_together(folder: Path) -> None:
    notices.post(Notice(frozenset({"a"})))
    alive = folder / f"{os.getppid()}.json"
    alive.write_text(OPEN.document())
    assert notices.posted(folder, os.getpid()) == OPEN
    alive.write_text(Notice(frozenset({"b"})).document())
    assert notices.posted(folder, os.getpid()) == Notice(frozenset({"a", "b"}))


def test_a_killed_process_counts_in_its_block_and_for_those_it_started(folder: Path) -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""])
    child.wait()
    folder.mkdir()
    folder.chmod(0o700)
    (folder / f"{child.pid}.json").write_text(OPEN.document())
    # It was killed in its block, and may have left jobs behind in workers of workers.
    assert notices.posted(folder, os.getpid()) == OPEN
    closed = Notice(OPEN.ledgers)
    (folder / f"{child.pid}.json").write_text(closed.document())
    assert notices.posted(folder, os.getpid()) == Notice()
    assert notices.posted(folder, child.pid) == closed
    notices._withdraw(folder)
    assert not folder.exists()


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", '{"ledgers": [], "open": true}'),
        '{"ledgers": [], "open": 1, "epoch": ""}',
        '{"ledgers": [1], "open": true, "epoch": ""}',
    ],
)
def test_a_notice_that_cannot_be_read_is_refused(folder: Path, text: str) -> None:
    notices.post(OPEN)
    (folder / f"{os.getpid()}.json").write_text(text)
    with pytest.raises(LedgerError, match="cannot be read"):
        notices.posted(folder, os.getpid())


def test_a_spoilt_notice_is_refused(folder: Path) -> None:
    notices.post(OPEN)
    notices.spoil()
    with pytest.raises(LedgerError, match="cannot be read"):
        notices.posted(folder, os.getpid())


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_neither_used_nor_believed(
    folder: Path, tmp_path: Path, mode: int
) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("kept")
    folder.mkdir()
    folder.chmod(mode)
    (folder / f"{os.getpid()}.draft").symlink_to(kept)
    (folder / f"{os.getppid()}.json").write_text(Notice().document())
    with pytest.raises(LedgerError, match="TMPDIR"):
        notices.post(OPEN)
    with pytest.raises(LedgerError, match="cannot be read"):
        notices.posted(folder, os.getpid())
    assert kept.read_text() == "kept"


def test_a_link_in_place_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="TMPDIR"):
        notices.post(OPEN)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_own_words_are_known_by_the_token_and_not_by_the_number(folder: Path) -> None:
    words = notices.pointer("mine")
    assert notices.pointed(words, frozenset({"mine", "before a fork"})) is None
    assert notices.pointed(words, frozenset({"after exec"})) == (folder, os.getpid())
    assert json.loads(words) == {"token": "mine", "pid": os.getpid(), "folder": str(folder)}


def test_the_family_is_named_by_a_secret() -> None:
    assert notices.family() == notices.family()
    assert notices.family_folder().name == f"tacit-{notices.family()}"
    assert not notices.is_worker()
    assert notices.parent_process() == os.getppid()
