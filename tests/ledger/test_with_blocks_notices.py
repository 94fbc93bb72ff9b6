"""What processes tell each other about ledgers is complete, readable by kin alone, or refused."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger import with_blocks as notices
from tacit.ledger.with_blocks import Notice

OPEN = Notice(frozenset({"a"}), is_open=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(notices, "folder_of", lambda family: tmp_path / family)
    monkeypatch.setattr(notices, "family", lambda: "ours")
    return tmp_path / "ours"


def write(folder: Path, process: int, notice: Notice) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / f"{process}.json"
    file.write_text(json.dumps({"ledgers": sorted(notice.ledgers), "open": notice.is_open, "epoch": notice.epoch}))
    return file


def test_a_notice_is_replaced_and_read_again(folder: Path) -> None:
    assert notices.read(os.getpid()) == (Notice(), Notice())
    for notice in (OPEN, Notice(frozenset({"a", "b"}), epoch="1"), Notice(frozenset({"a"}))):
        notices.post(notice, ["ours", "earlier"])
        assert notices.read(os.getpid()) == (notice, Notice())
        assert (folder.parent / "earlier" / f"{os.getpid()}.json").exists()
    assert [file.name for file in folder.iterdir()] == [f"{os.getpid()}.json"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_two_names_stand_for_any_number_of_ledgers(folder: Path) -> None:
    notices.post(Notice(frozenset("abc")), [folder.name])
    assert len(notices.read(os.getpid())[0].ledgers) == 2


def test_other_processes_open_nothing_but_name_their_ledgers(folder: Path) -> None:
    write(folder, os.getppid(), OPEN)
    assert notices.read(os.getpid()) == (Notice(), Notice(OPEN.ledgers))
    notices.post(Notice(frozenset({"b"})), [folder.name])
    assert notices.read(os.getpid()) == (Notice(frozenset({"b"})), Notice(OPEN.ledgers))


def test_a_killed_process_counts_in_its_block_and_for_those_it_started(folder: Path) -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""])
    child.wait()
    # It was killed in its block, and may have left jobs behind in workers of workers.
    write(folder, child.pid, OPEN)
    assert notices.read(os.getpid())[1].ledgers == OPEN.ledgers
    closed = Notice(OPEN.ledgers)
    file = write(folder, child.pid, closed)
    assert notices.read(os.getpid()) == (Notice(), Notice())
    assert notices.read(child.pid) == (closed, Notice())
    notices._withdraw(file.with_stem(str(os.getpid())))
    assert not folder.exists()


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "[" * 100_000, '{"ledgers": [], "open": true}'),
        '{"ledgers": [], "open": 1, "epoch": ""}',
        '{"ledgers": [1], "open": true, "epoch": ""}',
    ],
)
def test_a_notice_that_cannot_be_read_is_refused(folder: Path, text: str) -> None:
    write(folder, os.getpid(), OPEN).write_text(text)
    with pytest.raises(LedgerError, match="cannot be read"):
        notices.read(os.getpid())


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_neither_used_nor_believed(
    folder: Path, tmp_path: Path, mode: int
) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("kept")
    write(folder, os.getppid(), Notice())
    folder.chmod(mode)
    for ending in ("draft", "json"):
        (folder / f"{os.getpid()}.{ending}").symlink_to(kept)
    with pytest.raises(LedgerError, match="TMPDIR"):
        notices.post(OPEN, [folder.name])
    with pytest.raises(LedgerError, match="cannot be read"):
        notices.read(os.getpid())
    assert kept.read_text() == "kept"


def test_a_link_in_place_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="TMPDIR"):
        notices.post(OPEN, [folder.name])
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_family_is_named_by_a_secret() -> None:
    assert notices.family() == notices.family()
    assert notices.folder_of(notices.family()).name == f"tacit-{notices.family()}"
