"""Files are read within bounds, and replaced whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from tacit.errors import CertificateError, FileError
from tacit.files import LARGEST_FILE, read_bytes, replacing, write_text


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    for text in ("old", "newer\nα"):
        write_text(target, text)
        assert read_bytes(target) == text.encode()
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_beyond_the_bound_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"12345")
    assert read_bytes(target, largest=5) == b"12345"
    with pytest.raises(FileError, match="larger than 4 bytes"):
        read_bytes(target, largest=4)
    with pytest.raises(CertificateError, match="larger than 4 bytes"):
        read_bytes(target, 4, CertificateError)
    with pytest.raises(FileError, match="no reader takes it"):
        write_text(target, " " * (LARGEST_FILE + 1))
    assert target.read_bytes() == b"12345"


@pytest.mark.parametrize("name", ["nowhere/a", "a\0b", ""])
def test_places_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_bytes(tmp_path / name)
    if name:
        with pytest.raises(FileError, match="cannot be written"):
            write_text(tmp_path / name, "text")
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_itself_is_a_file_error(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(FileError, match="cannot be written"):
        write_text(loop / "a", "text")
    with pytest.raises(FileError, match="cannot be read"):
        read_bytes(loop)


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError, OSError])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, fault: type[BaseException]) -> None:
    target = tmp_path / "a"
    target.write_text("old", encoding="utf-8")

    def write_half() -> None:
        with replacing(target) as draft:
            draft.write_text("half", encoding="utf-8")
            raise fault

    with pytest.raises(FileError if fault is OSError else fault):
        write_half()
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_name_never_leads_to_an_incomplete_file(tmp_path: Path) -> None:
    target = tmp_path / "a.svg"
    with replacing(target) as draft:
        assert draft.suffix == ".svg"
        draft.write_text("half", encoding="utf-8")
        assert not target.exists()
        draft.write_text("whole", encoding="utf-8")
    assert target.read_text(encoding="utf-8") == "whole"


def test_the_usual_permissions_and_links_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "a", tmp_path / "link"
    link.symlink_to(target)
    old = os.umask(0o027)
    try:
        write_text(link, "text")
    finally:
        os.umask(old)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
