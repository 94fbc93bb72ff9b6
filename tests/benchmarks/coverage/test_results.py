"""What was measured against what is asked."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.coverage.cells import Cell
from benchmarks.coverage.page import page, summary_lines
from benchmarks.coverage.pictures import FILE, pictures
from benchmarks.coverage.results import Measured, figures, measured
from benchmarks.coverage.store import Store

CELL = Cell("poisson", "spread", 500, 4, 1.0)


def row(covered: list[int], nominal: list[int], **other: Any) -> dict[str, Any]:
    """A batch of 1000 samples in which all nominal intervals cover as often as the others."""
    return {
        "samples": 1000,
        "covered": covered,
        "nominal": nominal,
        "nominal_covered": [c * m // 1000 for c, m in zip(covered, nominal, strict=True)],
        "plain_covered": [950] * len(covered),
        "width": [0.22] * len(covered),
        "plain_width": [0.2] * len(covered),
        "full_weight_width": [0.2] * len(covered),
        "z": [0.0] * len(covered),
        "z_squared": [1.0] * len(covered),
        "median_ratio": 1.1,
        "relative_noise": 0.2,
        "largest_relative_noise": 0.3,
        "flagged": 0,
        "seconds": 0.01,
        **other,
    }


def found(tmp_path: Path, *rows: dict[str, Any], cell: Cell = CELL) -> Measured:
    store = Store(tmp_path / f"{cell.words.replace('/', '-')}.jsonl")
    for batch, each in enumerate(rows):
        store.add(cell, batch, each)
    return measured(store, [cell])[0]


def test_batches_add_up(tmp_path: Path) -> None:
    both = found(
        tmp_path, row([940, 950, 950, 950], [1000] * 4), row([960, 950, 950, 950], [1000] * 4, width=[0.24] * 4)
    )
    assert both.samples == 2000
    assert both.coverage == pytest.approx([0.95] * 4)
    assert both.pooled == pytest.approx(0.95)
    assert both.ratio == pytest.approx(1.15)
    assert both.misses() == []


def test_misses_are_named(tmp_path: Path) -> None:
    low = found(tmp_path, row([880, 990, 950, 890], [1000] * 4))
    assert low.misses() == ["pooled 0.927", "intercept 0.880", "x0 0.990", "x2 0.890"] or (
        low.misses() == ["pooled 0.928", "intercept 0.880", "x0 0.990", "x2 0.890"]
    )


def test_misses_by_chance_fall_with_the_samples(tmp_path: Path) -> None:
    """At 1000 samples 91.5% is five deviations off; at 200, 2.3 deviations."""
    many = found(tmp_path, row([950] * 4, [1000] * 4))
    few = found(tmp_path, row([190] * 4, [200] * 4, samples=200), cell=Cell("linear", "clean", 500, 4, 1.0))
    assert many.by_chance() < 1e-4
    assert 0.05 < few.by_chance() < 0.3


def test_what_is_not_called_nominal_is_not_judged(tmp_path: Path) -> None:
    labelled = found(tmp_path, row([870, 950, 950, 950], [50, 1000, 1000, 1000]))
    assert labelled.misses() == []
    assert labelled.pooled == pytest.approx(0.95)
    nobody = found(tmp_path, row([870] * 4, [0] * 4), cell=Cell("linear", "rare", 500, 4, 1.0))
    assert nobody.misses() == []
    assert nobody.pooled == pytest.approx(0.87)


def test_page_and_figures_tell_what_was_missed(tmp_path: Path) -> None:
    wide = Cell("linear", "clean", 16000, 4, 1.0)
    loose = Cell("linear", "clean", 16000, 4, 1.0, 1000.0)
    every = [
        found(tmp_path, row([880, 950, 950, 950], [1000] * 4)),
        found(tmp_path, row([950] * 4, [1000] * 4, width=[0.23] * 4), cell=wide),
        found(tmp_path, row([950] * 4, [1000] * 4, width=[0.25] * 4), cell=loose),
    ]
    drawn = pictures(every, tmp_path)
    text = page(every, drawn)
    assert "intercept 0.880" in text
    assert "± " not in text
    assert "±1000" in text
    assert FILE in text
    assert (tmp_path / FILE).stat().st_size > 10_000
    assert len(summary_lines(every)) == 4
    told = {figure.name: figure for figure in figures(every)}
    assert told["coefficients missed of 8"].measured == 1
    assert not told["width, linear"].reached
    assert told["width, linear"].measured == pytest.approx(1.15)
    assert not told["width under bounds from ±10 to ±1000, linear"].reached
    assert np.isclose(told["width under bounds from ±10 to ±1000, linear"].measured, 8.7, atol=0.1)


def test_without_clean_cells_there_is_no_picture(tmp_path: Path) -> None:
    assert pictures([found(tmp_path, row([950] * 4, [1000] * 4))], tmp_path) == []
