"""Axes of pictures: usual bars stretch them, endless ones are cut and marked."""

import math

import numpy as np

from tacit.report.axis_cut import kept_range, mark_cuts
from tacit.report.figure import empty_figure

USUAL = [(-1.0, 1.0), (0.0, 2.0), (1.0, 3.0)]


def test_usual_bars_need_no_cut() -> None:
    assert kept_range(USUAL, [0.0, 1.0, 2.0], 0.0) is None
    assert kept_range([], [1.0, 5.0], 0.0) is None


def test_a_wide_bar_an_endless_one_and_a_far_dot_are_cut() -> None:
    for bar, dot in (((-1e5, 1e5), 0.0), ((-math.inf, math.inf), 0.0), ((-1.0, 1.0), 1e5)):
        kept = kept_range([*USUAL, bar], [0.0, 1.0, 2.0, dot], 0.0)
        assert kept is not None
        assert -2 < kept[0] < -1
        assert 3 < kept[1] < 4


def test_endless_bars_alone_show_their_dots() -> None:
    kept = kept_range([(-math.inf, math.inf)], [2.0], 0.0)
    assert kept is not None
    assert kept[0] < 0.0
    assert kept[1] > 2.0


def test_marks_stand_where_something_goes_on() -> None:
    axes = empty_figure(2.0, 2.0).add_subplot()
    axes.set_xlim(0.0, 1.0)
    mark_cuts(axes, [(0, [0.2, 0.8]), (1, [-5.0, 0.5]), (2, [-math.inf, math.inf])])
    found = [(line.get_marker(), *np.asarray(line.get_xydata())[0].tolist()) for line in axes.get_lines()]
    assert found == [("<", 0.0, 1), ("<", 0.0, 2), (">", 1.0, 2)]
    assert axes.get_legend_handles_labels()[1] == ["goes on beyond the picture"]
