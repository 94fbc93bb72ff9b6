"""A study plans and forecasts one model at any n and ε."""

import pytest

from tacit import LogisticRegression
from tacit.errors import SettingError


def test_other_sizes_and_budgets_are_planned_anew() -> None:
    study = LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1)).study(5000, 2)
    assert study.at(n=50_000).plan.records == 50_000
    assert study.at(epsilon=3.0).plan.guarantee().epsilon > 2.9
    rows = study.grid([1000, 5000], [1.0])
    assert [one.plan.records for row in rows for one in row if one] == [1000, 5000]


def test_one_target_is_asked_for() -> None:
    study = LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1)).study(5000, 2)
    with pytest.raises(SettingError, match="one target"):
        study.required("n", half_width=0.1, error=0.1)
