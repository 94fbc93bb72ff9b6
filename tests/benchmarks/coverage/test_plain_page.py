"""The page that `make coverage` writes of the plain target."""

from pathlib import Path

import pytest

from benchmarks.coverage import plain_page
from benchmarks.coverage.command import main
from benchmarks.coverage.plain_page import PAGE, ROWS, write_plain
from benchmarks.coverage.plain_store import PlainStore


def test_nothing_run_is_no_page(tmp_path: Path) -> None:
    assert write_plain(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_make_coverage_runs_what_is_missing_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plain_page, "SIZES", (300,))
    monkeypatch.setattr(plain_page, "BUDGETS", (1.0,))
    monkeypatch.setattr(plain_page, "LIMIT_SIZE", 300)
    asked = ["--targets", "plain", "--populations", "lin4", "--plain-replications", "2"]
    main([*asked, "--processes", "1", "--results", str(tmp_path)])
    assert PAGE in capsys.readouterr().out
    text = (tmp_path / PAGE).read_text(encoding="utf-8")
    assert "| lin4 | gaussian | 4 | 3 slopes, normal errors |" in text
    assert "| lin4 | 4 | 300 | 1 | 2 |" in text
    assert "mean distance in s.e." in text
    rows = (tmp_path / ROWS).read_text(encoding="utf-8")
    assert len(PlainStore(tmp_path / ROWS).tallies()) == len(rows.splitlines()) == 2
    main([*asked, "--processes", "1", "--results", str(tmp_path)])
    assert (tmp_path / ROWS).read_text(encoding="utf-8") == rows
