"""Rows of a forest plot stand by term, and ratios have ticks that can be read."""

import pytest

from tacit.inference.estimates import Line
from tacit.report.figure import empty_figure
from tacit.report.forest_bars import drawn_at, ratio_ticks, term_order


def test_rows_of_several_classes_stand_by_term_and_without_intercepts() -> None:
    lines = [Line(f"{label}: {name}", 0.0) for label in "ab" for name in ("Intercept", "x", "z")]
    found = term_order([(line, line) for line in lines])
    assert [line.name for line, _ in found] == ["a: x", "b: x", "a: z", "b: z"]


@pytest.mark.parametrize(("low", "high"), [(0.9, 1.2), (0.3, 5.0), (0.01, 30.0), (1e-6, 1e6)])
def test_an_axis_of_ratios_has_a_few_ticks(low: float, high: float) -> None:
    axes = empty_figure(6.0, 3.0).add_subplot()
    axes.set(xscale="log", xlim=(low, high))
    ratio_ticks(axes)
    assert 3 <= sum(low <= tick <= high for tick in axes.get_xticks()) <= 13


def test_ratios_are_powers_and_never_beyond_the_widest() -> None:
    assert drawn_at(8.0, ratio=True) == 8.0
    assert drawn_at(0.0, ratio=True) == pytest.approx(1e-6)
    assert drawn_at(1e9, ratio=False) == 1e9
