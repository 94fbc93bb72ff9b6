"""A small clinic on disk, and the command line run in this process."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tacit.cli.app import run
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_csv, clinic_table


@dataclass(frozen=True)
class Outcome:
    """What a command left behind: its exit code and its two streams."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        document: dict[str, Any] = json.loads(self.out)
        return document


Command = Callable[..., Outcome]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line; its arguments may be paths and numbers."""

    def run_command(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_command


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A directory with clinic.csv (800 patients) and clinic.toml, which is the working one."""
    (tmp_path / "clinic.csv").write_text(clinic_csv(clinic_table(800)), encoding="utf-8")
    (tmp_path / "clinic.toml").write_text(CLINIC_SCHEMA, encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def _in_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    # What the command line remembers of earlier fits belongs to the test, not to the account.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("TACIT_REMEMBER_FITS", raising=False)
    with contextlib.chdir(tmp_path):
        yield
