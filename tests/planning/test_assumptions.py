"""Assumptions are checked before anything is simulated."""

import numpy as np
import pytest

from tacit import Assumptions, LogisticRegression
from tacit.errors import SettingError


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
