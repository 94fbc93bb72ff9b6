"""The other library: a failed installation is said, and a process answers one table at a time."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.bundled import diabetes, wine
from benchmarks.rivals import foreign_library
from benchmarks.rivals.foreign_library import Diffprivlib, EnvironmentFailedError, Workers

ECHO = """
import json, sys
import numpy as np
table, margins = sys.argv[1:]
rows = len(np.load(table)["X_test"])
for line in sys.stdin:
    request = json.loads(line)
    np.save(margins, np.full(rows, request["C"]))
    print(json.dumps({"seconds": request["epsilon"]}), flush=True)
"""


def test_a_failed_installation_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "first\nno such distribution\n")

    monkeypatch.setattr(foreign_library, "ENVIRONMENT", tmp_path / "environment")
    monkeypatch.setattr(subprocess, "run", fails)
    with pytest.raises(EnvironmentFailedError, match="no such distribution"):
        Diffprivlib(Workers()).fits(wine(), 1.0, [{"C": 1.0}], 0)


def test_a_process_answers_and_is_replaced_with_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "echo.py"
    script.write_text(ECHO, encoding="utf-8")
    monkeypatch.setattr(foreign_library, "interpreter", lambda: Path(sys.executable))
    monkeypatch.setattr(foreign_library, "WORKER", script)
    workers = Workers()
    method = Diffprivlib(workers, strengths=(0.5, 2.0))
    table = wine()
    fits = method.fits(table, 3.0, method.settings(table, 3.0), 0)
    first = workers.current
    assert [float(np.unique(fit.margins)[0]) for fit in fits] == [0.5, 2.0]
    assert [fit.seconds for fit in fits] == [3.0, 3.0]
    assert workers.of(table) is first
    other = diabetes()
    (fit,) = method.fits(other, 1.0, [{"C": 7.0}], 0)
    assert len(fit.margins) == len(other.y_test)
    workers.close()
    assert workers.current is None


def test_a_process_that_ends_early_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "ends.py"
    script.write_text("import sys\nsys.stdin.readline()\n", encoding="utf-8")
    monkeypatch.setattr(foreign_library, "interpreter", lambda: Path(sys.executable))
    monkeypatch.setattr(foreign_library, "WORKER", script)
    workers = Workers()
    with pytest.raises(EnvironmentFailedError, match="ended early"):
        Diffprivlib(workers).fits(wine(), 1.0, [{"C": 1.0}], 0)
    workers.close()
