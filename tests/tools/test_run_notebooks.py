"""The notebooks of the documentation run from top to bottom, and show what a reader expects (U1, U9, U10)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.run_notebooks import FOLDER

NAMES = ("curator", "researcher", "scikit_learn", "statistician")
PLACES = re.compile(r"/tmp/|/home/|/root/|/Users/|site-packages|\.pyenv|Traceback|\x1b\[")
LONGEST = 4000  # Characters of a text output; U1 was 12,000 of traceback.


def cells_of(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def outputs_of(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [output for cell in cells for output in cell["outputs"]]


def texts_of(output: dict[str, Any]) -> dict[str, str]:
    data = output.get("data", {"stream": output.get("text", "")})
    return {kind: "".join(text) for kind, text in data.items()}


def require_presentable(path: Path) -> None:
    """Every cell was run, nothing failed, and nothing is of a machine or a raw dataclass."""
    cells = cells_of(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = outputs_of(cells)
    assert {output["output_type"] for output in outputs} <= {"execute_result", "display_data", "stream"}
    for texts in map(texts_of, outputs):
        assert "stderr" not in texts
        for kind, text in texts.items():
            assert kind == "image/png" or not PLACES.search(text)
        plain = texts.get("text/plain", "")
        assert len(plain) < LONGEST
        assert not re.match(r"[A-Z]\w+\((?!bounds|estimator).*=.*=", plain), plain[:80]
    assert not any(output.get("name") == "stderr" for output in outputs)


def test_there_is_one_for_each_kind_of_user() -> None:
    assert tuple(sorted(path.stem for path in FOLDER.glob("*.ipynb"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_one_is_presentable(name: str) -> None:
    require_presentable(FOLDER / f"{name}.ipynb")


@pytest.mark.parametrize("name", NAMES)
def test_it_runs(name: str, tmp_path: Path) -> None:
    """In a process of its own: the libraries of notebooks warn in their own ways."""
    command = [sys.executable, "-m", "tools.run_notebooks", name, "--check", str(tmp_path)]
    done = subprocess.run(command, cwd=FOLDER.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    fresh = tmp_path / f"{name}.ipynb"
    require_presentable(fresh)
    stored = FOLDER / f"{name}.ipynb"
    assert [cell["source"] for cell in cells_of(fresh)] == [cell["source"] for cell in cells_of(stored)]
    kinds = [sorted(texts_of(output)) for output in outputs_of(cells_of(fresh))]
    # The same cells show tables and pictures, whatever the noise was.
    assert kinds == [sorted(texts_of(output)) for output in outputs_of(cells_of(stored))]
    if name != "curator":
        assert ["image/png", "text/plain"] in kinds
