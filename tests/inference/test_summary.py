"""The summary as data: what its table and its drawings have in common."""

from typing import Any

import numpy as np
import pytest

from tacit.inference.estimates import Line
from tacit.inference.results import Results


def test_it_draws_itself_in_three_ways(make_release: Any) -> None:
    summary = Results(make_release()).summary()
    assert str(summary) == summary.as_text()
    assert summary._repr_html_() == summary.as_html()
    assert summary.as_html().startswith("<div")
    assert summary.as_latex().startswith("\\begin{tabular}")


def test_the_frame_holds_the_lines(make_release: Any) -> None:
    results = Results(make_release())
    frame = results.summary_frame(0.9)
    fields = [name for name in Line.__dataclass_fields__ if name != "name"]
    assert list(frame.columns) == fields
    assert list(frame.index) == list(results.names)
    np.testing.assert_allclose(frame[["lower", "upper"]], results.conf_int(0.9))
    ratios = results.summary_frame(exponentiate=True)
    np.testing.assert_allclose(ratios["coef"], np.exp(frame["coef"]))


def test_the_frame_without_intervals_has_coefficients_only(make_release: Any) -> None:
    frame = Results(make_release(signal=20.0)).summary_frame()
    assert list(frame.columns) == ["coef"]


@pytest.mark.parametrize("which", ["total", "sampling"])
@pytest.mark.parametrize("simultaneous", [False, True, "scheffe"])
def test_its_intervals_are_those_of_conf_int(make_release: Any, which: str, simultaneous: bool | str) -> None:
    results = Results(make_release())
    summary = results.summary(0.8, which=which, simultaneous=simultaneous)
    ends = [[line.lower, line.upper] for line in summary.lines]
    np.testing.assert_array_equal(ends, results.conf_int(0.8, which, simultaneous))
