"""Pictures of a fitted mean against one column: the curve is that of the predictions, and what is held is said."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import SettingError
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table
from tacit.report.effect_picture import plot_effect

FORMULA = "readmit ~ ns(age, knots=[50, 70]) + smoker + C(ward)"


@cache
def fit() -> tacit.Fit:
    return tacit.glm(FORMULA, pd.DataFrame(clinic_table(3000)), tacit.Schema.parse(CLINIC_SCHEMA), epsilon=np.inf)


def test_the_curve_is_the_prediction_and_the_others_are_said() -> None:
    axes: Any = plot_effect(fit(), "age", at={"ward": "surgery"}, level=0.9).axes[0]
    across, mean = axes.get_lines()[0].get_data()
    rows = pd.DataFrame({"age": across, "smoker": "no", "ward": "surgery"})
    found = fit().get_prediction(rows)
    np.testing.assert_allclose(mean, found.predicted_mean)
    band = axes.collections[0].get_paths()[0].vertices
    ends = found.conf_int(0.9)
    np.testing.assert_allclose([band[:, 1].min(), band[:, 1].max()], [ends.min(), ends.max()])
    assert axes.get_title(loc="left") == "at smoker = no, ward = surgery"


def test_levels_stand_beside_each_other_and_a_stored_fit_is_as_able(tmp_path: Path) -> None:
    fit().save(tmp_path / "fit.json")
    axes = tacit.plot_effect(tacit.load(tmp_path / "fit.json"), "ward", tmp_path / "a.svg").axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["general", "surgery", "cardiology"]
    assert "age = " in axes.get_title(loc="left")
    tacit.plot_effect(fit(), "ward", tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize(
    ("column", "at", "said"),
    [
        ("height", {}, "no column"),
        ("age", {"age": 50}, "holds the others"),
        ("age", {"ward": "West"}, "has no level"),
        ("ward", {"age": "old"}, "held at a number"),
    ],
)
def test_what_is_no_column_or_level_is_refused(column: str, at: dict[str, object], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        plot_effect(fit(), column, at=at)
    with pytest.raises(SettingError, match=r"fit of tacit\.glm"):
        plot_effect(3, column)
