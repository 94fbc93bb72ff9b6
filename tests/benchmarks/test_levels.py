"""The study of levels: its laws, its judgement, and a few fits."""

import numpy as np
import pytest

from benchmarks.levels import Cell, beta, laws, measured, table


def test_a_law_has_its_deviation_and_distance() -> None:
    draw = beta(0.1, 0.2)
    assert draw is not None
    y = np.concatenate([draw(np.random.default_rng(k)) for k in range(50)])
    assert (y.std(), y.mean()) == (pytest.approx(0.1, abs=0.003), pytest.approx(0.7, abs=0.003))
    assert beta(0.4, 0.4) is None
    assert len(dict(laws(tested=False))) > 20


def test_cells_are_judged_by_what_is_asked_of_them() -> None:
    assert Cell("a", 30.0, 0.001, 0.04, 0.01).asked == "A"
    assert Cell("b", 8.0, 0.001, 0.04, 0.001).holds
    far = Cell("c", 8.0, 0.02, 0.04, 0.04)
    assert (far.asked, far.holds) == ("C", True)
    assert not Cell("d", 8.0, 0.04, 0.04, 0.04).holds


def test_a_few_fits_of_a_level() -> None:
    cell = measured("x", lambda generator: generator.uniform(0.4, 0.6, 400), 2.0, 3)
    assert cell.r2 == pytest.approx(0.0, abs=0.05)
    assert "| x | B" in table([cell])
