"""Tables of pandas', and without it."""

import sys

import numpy as np
import pandas as pd
import pytest

from tacit.inference.estimates import frame_of


def test_with_pandas() -> None:
    frame = frame_of({"a": np.array([1.0, 2.0]), "b": ["x", "y"]}, ["first", "second"])
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc["second", "b"] == "y"


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    columns = {"a": np.array([1.0, 2.0]), "b": ["x", "y"]}
    assert frame_of(columns) == {"a": [1.0, 2.0], "b": ["x", "y"]}
    assert list(frame_of(columns, ["first", "second"])) == ["term", "a", "b"]
