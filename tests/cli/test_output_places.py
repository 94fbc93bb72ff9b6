"""Outputs: checked without a trace, written whole or not at all."""

from pathlib import Path

import pytest

from tacit.cli.output import require_writable
from tacit.errors import FileError


def test_fine_outputs_pass_and_leave_nothing(tmp_path: Path) -> None:
    require_writable([tmp_path / "a", None, tmp_path / "b"], [tmp_path / "c"])
    assert list(tmp_path.iterdir()) == []


def test_existing_files_need_force(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match="--force"):
        require_writable([tmp_path / "a"])
    require_writable([tmp_path / "a"], force=True)


def test_inputs_are_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("mine", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "data.csv")
    with pytest.raises(FileError, match="read by this command"):
        require_writable([tmp_path / "link"], [tmp_path / "data.csv"], force=True)


def test_places_that_cannot_hold_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="directory does not exist"):
        require_writable([tmp_path / "nowhere" / "a"])
    with pytest.raises(FileError, match="is a directory"):
        require_writable([tmp_path], force=True)
    with pytest.raises(FileError, match="given twice"):
        require_writable([tmp_path / "a", tmp_path / "." / "a"])


def test_read_only_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A test may run as a user to whom every directory is open.
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(FileError, match="read-only"):
        require_writable([tmp_path / "a"])
