"""`tacit demo` where it cannot work; what it shows is tested end to end."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]


def test_a_directory_that_cannot_be_made(tmp_path: Path, command: Command) -> None:
    Path("taken").write_text("mine", encoding="utf-8")
    for output in ("taken", "taken/inside"):
        done = command("demo", "--output", output)
        assert done.code == 3
        assert "cannot be made" in done.err
    assert Path("taken").read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [tmp_path / "taken"]


def test_files_of_others_are_not_overwritten(tmp_path: Path, command: Command) -> None:
    for name in ("fit.json", "clinic.csv"):
        Path(name).write_text("mine", encoding="utf-8")
        done = command("demo", "--output", ".")
        assert done.code == 3
        assert "earlier demo" in done.err
        assert Path(name).read_text(encoding="utf-8") == "mine"
    assert len(list(tmp_path.iterdir())) == 2
