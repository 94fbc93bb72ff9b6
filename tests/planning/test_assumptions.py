"""Assumptions are checked before anything is simulated."""

import numpy as np
import pytest

import tacit
from tacit import Assumptions, LogisticRegression
from tacit.errors import SettingError
from tacit.planning.assumptions import assumptions_of


@pytest.mark.parametrize(
    "wrong",
    [{"spread": -1}, {"share": 2}, {"explained": 0}, {"moments": np.ones(3)}, {"moments": np.array([[1, 2], [0, 1]])}],
)
def test_wrong_values_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        Assumptions(**wrong)  # type: ignore[arg-type]


def test_moments_must_be_those_of_the_design() -> None:
    design = LogisticRegression(epsilon=1.0, bounds=(0, 1), classes=(0, 1)).plan(1000, 3).design
    assert Assumptions().moments_of(design) is None
    with pytest.raises(SettingError, match="5 × 5"):
        Assumptions(moments=np.eye(4)).moments_of(design)


def test_words_are_read() -> None:
    found = assumptions_of(["share=0.02", "age=55,20", "ward=0.9,0.1"])
    assert (found.share, dict(found.columns), dict(found.levels)) == (0.02, {"age": (55, 20)}, {"ward": (0.9, 0.1)})


@pytest.mark.parametrize("words", ["share", "share=x", "share=0.1,0.9", "age=5", "ward=1,2,3", "mean=-1", "age=5,-1"])
def test_words_that_say_nothing_are_refused(words: str) -> None:
    with pytest.raises(SettingError):
        assumptions_of([words])


@pytest.mark.parametrize("wrong", [{"columns": {"sex": (1, 2)}}, {"levels": {"w": (1, 1)}}, {"levels": {"x": (1, 1)}}])
def test_columns_and_levels_are_those_of_the_model(wrong: dict[str, object]) -> None:
    columns = {"x": {"type": "numeric", "lower": 0, "upper": 1}, "w": {"type": "factor", "levels": ["a", "b", "c"]}}
    schema = tacit.Schema.from_mapping({"columns": {**columns, "y": {"type": "binary", "levels": [0, 1]}}})
    study = tacit.plan("y ~ x + w", schema, n=2000, epsilon=1.0, assumptions=Assumptions(**wrong))  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"there are|3 levels"):
        _ = study.surrogate
