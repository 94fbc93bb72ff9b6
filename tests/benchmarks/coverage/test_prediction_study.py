"""The study of new responses: what is counted, and the line it writes."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage.plain_replications import PlainCell
from benchmarks.coverage.populations import POPULATIONS
from benchmarks.coverage.prediction_study import CHOSEN, NEW, Noted, line_of, main, replicate


def test_a_replication_counts_every_new_response() -> None:
    found = replicate(PlainCell("lin4", 4000, 3.0), 0)
    assert sum(asked for asked, _ in found.words.values()) == NEW
    asked, held = found.words["nominal"]
    assert 0.9 * asked < held < asked
    assert found == replicate(PlainCell("lin4", 4000, 3.0), 0)


def test_a_line_pools_by_word() -> None:
    notes = [
        *[Noted({"nominal": (10, 9), "withheld": (30, 30)}, 2.0)] * 5,
        *[Noted({"nominal": (10, 10), "withheld": (30, 30)}, 4.0)] * 5,
        Noted({"conservative": (40, 40)}, 3.0),
        Noted({"withheld": (40, 40)}, np.nan),
    ]
    line = line_of(PlainCell("lin4", 4000, 1.0), notes)
    # Half of the fits are .05 above, half below: an error of .05 / √10.
    said = "0.950 ± 0.016 (21%) | 1.000 (in 1 of the fits)"
    assert line == f"| lin4 | 4,000 | 12 | 71% | {said} | 3 |"


def test_the_table_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.md"
    main(["--populations", "pois4", "--n", "1000", "--replications", "2", "--out", str(path)])
    assert "| pois4 | 1,000 | 2 |" in path.read_text(encoding="utf-8")
    assert "pois4" in capsys.readouterr().out
    assert set(CHOSEN) <= set(POPULATIONS)
