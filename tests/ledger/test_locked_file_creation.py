"""A new file is complete or not there, whenever its maker is killed."""

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import FileError
from tacit.ledger import locked_file as creation
from tacit.ledger.locked_file import create, locked

# The child of this test process calls nothing that a thread of the parent could have locked.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

CONTENT = b"complete\n" * 100
CALLS = ("open", "write", "fdatasync", "link", "unlink", "fsync", "close")


@pytest.fixture(params=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE")
    return str(request.param)


def test_an_existing_file_is_never_touched(tmp_path: Path, way: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine", encoding="utf-8")
    assert not create(path, CONTENT)
    assert path.read_text(encoding="utf-8") == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_new_file_is_complete_and_alone(tmp_path: Path, way: str) -> None:
    path = tmp_path / "clinic.ledger"
    assert create(path, CONTENT)
    assert path.read_bytes() == CONTENT
    assert [file.name for file in tmp_path.iterdir()] == ["clinic.ledger"]
    # Like any other new file: others may read it if the user's mask lets them.
    mask = os.umask(0o022)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def end_at(call: str, times: int, *, after: bool) -> None:
    """Kill this process at a system call."""
    real, left = getattr(os, call), times

    def ending(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **named)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(os, call, ending)


def in_child(action: Callable[[], object]) -> bool:
    """Run in a forked process; whether it came to its end."""
    child = os.fork()
    if child == 0:
        action()
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("after", [False, True])
def test_t44_killed_at_any_instant_it_is_complete_or_absent(tmp_path: Path, way: str, after: bool) -> None:
    killed = 0
    for call in CALLS:
        for times in (1, 2, 3):
            folder = tmp_path / f"{call}{times}"
            folder.mkdir()
            path = folder / "clinic.ledger"

            def attempt(path: Path = path, call: str = call, times: int = times) -> None:
                end_at(call, times, after=after)
                create(path, CONTENT)

            killed += not in_child(attempt)
            assert not path.exists() or path.read_bytes() == CONTENT
            # The next one succeeds, unless there is a file, and leaves nothing else behind.
            complete = path.exists()
            assert create(path, CONTENT) != complete
            assert path.read_bytes() == CONTENT
            assert way == "named" or [file.name for file in folder.iterdir()] == ["clinic.ledger"]
            creation._remove_remains(path)
            assert [file.name for file in folder.iterdir()] == ["clinic.ledger"]
    assert killed >= 5


def test_only_what_was_left_behind_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    kept = [".b.7-7.tmp", ".a.7-7.tmp.txt", ".a.x.tmp", ".a.7-8.tmp"]
    for name in (*kept, ".a.7-9.tmp"):
        (tmp_path / name).touch()
    # This one is being written by somebody.
    with locked(tmp_path / ".a.7-8.tmp", alone=True, patience=0.0):
        assert create(tmp_path / "a", CONTENT)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([*kept, "a"])


def test_a_draft_that_was_taken_for_remains_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    real, left = os.link, [2]

    def removed(draft: Path, path: Path) -> None:
        if left[0]:
            left[0] -= 1
            Path(draft).unlink()
        real(draft, path)

    monkeypatch.setattr(os, "link", removed)
    assert create(tmp_path / "a", CONTENT)
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("call", ["write", "fdatasync", "link"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, call: str) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(FileError, match="No space left"):
            create(tmp_path / "a", CONTENT)
    assert list(tmp_path.iterdir()) == []
    assert create(tmp_path / "a", CONTENT)


def test_a_file_system_without_nameless_files_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refusing(path: Any, flags: int, *arguments: int, **named: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return real(path, flags, *arguments, **named)

    monkeypatch.setattr(os, "open", refusing)
    assert create(tmp_path / "a", CONTENT)
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        create(tmp_path / "none" / "a", CONTENT)
