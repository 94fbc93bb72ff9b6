"""Tables of pandas', and without it."""

import sys

import numpy as np
import pandas as pd
import pytest

from tacit.inference.estimates import Line, frame_of, lines_frame


def test_with_pandas() -> None:
    frame = frame_of({"a": np.array([1.0, 2.0]), "b": ["x", "y"]}, ["first", "second"])
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc["second", "b"] == "y"


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    columns = {"a": np.array([1.0, 2.0]), "b": ["x", "y"]}
    assert frame_of(columns) == {"a": [1.0, 2.0], "b": ["x", "y"]}
    assert list(frame_of(columns, ["first", "second"])) == ["term", "a", "b"]


LINES = (Line("a", 1.0, statement="withheld"), Line("b", 2.0, 0.5, 4.0, 0.01, 1.0, 3.0, 0.2, "nominal"))


def test_withheld_lines_leave_the_columns_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = lines_frame(LINES)
    assert frame.loc["b", "std_err"] == 0.5
    assert np.isnan(frame.loc["a", "std_err"])
    assert frame["statement"].tolist() == ["withheld", "nominal"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    plain = lines_frame(LINES)
    assert plain["lower"] == [None, 1.0]


def test_columns_without_any_number_are_left_out() -> None:
    assert list(lines_frame(LINES[:1]).columns) == ["coef", "statement"]
