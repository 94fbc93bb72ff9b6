"""The quick command: what it runs, in which order, and that a second run goes on."""

import json
from pathlib import Path

import pytest

from benchmarks.coverage.plain_replications import PlainCell
from benchmarks.coverage.plain_store import PlainStore
from benchmarks.coverage.plain_study import Batch, batches, cells_of, main
from benchmarks.coverage.populations import POPULATIONS, chosen


def test_all_cells_go_once_before_any_goes_twice() -> None:
    cells = cells_of(chosen(["lpm", "lin4"]), (1000, 4000), (1.0,))
    work = batches(cells, PlainStore(None), range(5, 30), size=20)
    assert [each.cell for each in work] == cells * 2
    assert work[0] == Batch(PlainCell("lpm", 1000, 1.0), tuple(range(5, 25)))
    assert work[-1].numbers == tuple(range(25, 30))


def test_a_run_a_second_run_and_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.jsonl"
    asked = ["--populations", "half50,lin4", "--n", "500", "--epsilon", "1,3", "--jobs", "1"]
    main([*asked, "--replications", "2", "--out", str(path)])
    first = capsys.readouterr()
    assert "8/8 replications" in first.err
    assert len(path.read_text(encoding="utf-8").splitlines()) == 8
    main([*asked, "--replications", "3", "--out", str(path)])
    assert "4/4 replications" in capsys.readouterr().err
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({(row["population"], row["epsilon"], row["replication"]) for row in rows}) == 12
    main(["--table", str(path), "--populations", "lin4"])
    text = capsys.readouterr().out
    assert "| lin4 | 4 | 500 | 3 | 3 |" in text
    assert "half50" not in text


def test_processes_find_the_same_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--populations", "lin4", "--n", "300", "--epsilon", "3", "--replications", "2"]
    for jobs in ("1", "2"):
        main([*asked, "--counts", "--jobs", jobs, "--out", str(tmp_path / jobs)])
    capsys.readouterr()
    one, two = (PlainStore(tmp_path / jobs).tallies() for jobs in ("1", "2"))
    cell = PlainCell("lin4", 300, 3.0)
    assert one[cell].labels == two[cell].labels


def test_the_limit_compares_with_the_fit_without_noise(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--limit", "--populations", "logit4", "--n", "2000", "--replications", "1", "--jobs", "1"])
    assert "| logit4 | 2000 | 50 | 1 |" in capsys.readouterr().out


def test_populations_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--list"])
    assert len(capsys.readouterr().out.splitlines()) == len(POPULATIONS)
