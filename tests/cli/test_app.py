"""The command as a whole: help, versions, usage, faults, interruptions, pipes."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.cli import app

Command = Callable[..., Any]
SOURCE = Path(__file__).parents[2] / "src"
COMMANDS = ("demo", "fit", "plan", "predict", "schema", "verify", "key")
SLOWEST_HELP = 2.0
"""Seconds. The promise is 0.5 on a quiet machine; this one may be busy."""


def in_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tacit", *arguments],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_help_is_fast_and_plain_when_piped() -> None:
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        done = in_process("--help")
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < SLOWEST_HELP
    assert done.returncode == 0
    assert "Exit codes: 0 done" in done.stdout
    assert all(name in done.stdout for name in COMMANDS)
    assert "\x1b" not in done.stdout


def test_help_without_arguments(command: Command) -> None:
    done = command()
    assert done.code == 0
    assert "Begin with: tacit demo" in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_its_exit_codes(command: Command, name: str) -> None:
    done = command(name, "--help")
    assert done.code == 0
    assert f"tacit {name}" in done.out
    assert "--json" in done.out
    assert "Exit codes" in done.out
    assert "..." not in done.out.split("Options")[1]


def test_version(command: Command) -> None:
    assert command("--version").out == f"tacit {tacit.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("fitt",), "fitt"),
        (("fit",), "DATA"),
        (("fit", "a.csv", "y ~ x"), "--schema"),
        (("fit", "a.csv", "y ~ x", "--schema", "s", "--epsilon", "one"), "Try: tacit fit --help"),
        (("verify", "a", "b"), "b"),
    ],
)
def test_wrong_command_lines(command: Command, arguments: tuple[str, ...], hint: str) -> None:
    done = command(*arguments)
    assert done.code == 2
    assert hint in done.err
    assert done.out == ""
    error = command(*arguments, "--json").document["error"]
    assert error["kind"] == "UsageError"
    assert hint in error["message"]


def test_t41_faults_show_where_and_not_what(clinic: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("canary")

    monkeypatch.setattr("tacit.estimators.glm.glm", fail)
    arguments = ("fit", "clinic.csv", "y ~ x", "--schema", "clinic.toml", "--epsilon", "1")
    for mode in ((), ("--json",)):
        done = command(*arguments, *mode)
        assert done.code == 1
        assert "KeyError" in done.err
        assert "in fail" in done.err
        assert "a fault of Tacit" in done.out + done.err
        # The traceback quotes the source line of this test, and nothing beyond it.
        assert (done.out + done.err).replace('KeyError("canary")', "").count("canary") == 0
    assert done.document["error"]["kind"] == "KeyError"


def test_missing_libraries_are_named(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ImportError("no module named ink")

    monkeypatch.setattr("tacit.documents.canonical_json.read_bytes", fail)
    done = command("verify", "certificate.json")
    assert done.code == 1
    assert "ImportError: no module named ink" in done.err


def test_interruption(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.documents.canonical_json.read_bytes", stop)
    done = command("verify", "certificate.json")
    assert (done.code, done.err) == (130, "error: interrupted.\n")
    assert command("verify", "x", "--json").document["error"]["kind"] == "Interrupted"


def test_a_reader_that_leaves_is_no_fault(tmp_path: Path) -> None:
    # The template of 3,000 columns is larger than a pipe holds.
    (tmp_path / "wide.csv").write_text(",".join(f"c{j}" for j in range(3_000)), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "tacit", "schema", str(tmp_path / "wide.csv")],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_terminal_without_greek_loses_nothing(clinic: Path) -> None:
    done = in_process(
        "plan",
        "readmit ~ age",
        "--schema",
        str(clinic / "clinic.toml"),
        "--n=800",
        "--epsilon=1",
        PYTHONIOENCODING="ascii",
        PYTHONUTF8="0",
    )
    assert done.returncode == 0
    assert "\\u03b5 = 1" in done.stdout


def test_main_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["tacit", "verify", "absent.json"])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 3
