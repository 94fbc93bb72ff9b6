"""The picture of a region: its ellipse, its words, and the same file every time."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import SettingError
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, clinic_table
from tacit.report.coefficients import plot_region
from tacit.report.figure import BLUE, GREY

NAMES = ("age", "bmi")


@cache
def fit() -> tacit.Fit:
    table = pd.DataFrame(clinic_table(3000))
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    return tacit.glm(CLINIC_FORMULA, table, schema, epsilon=8.0, random_state=1)


def lines(figure: Any, colour: str) -> list[Any]:
    found = [line for line in figure.axes[0].get_lines() if line.get_color() == colour]
    return [np.column_stack(line.get_data()) for line in found]


def test_the_ellipse_is_the_region() -> None:
    figure, region = tacit.plot_region(fit(), NAMES, level=0.9), fit().confidence_region(NAMES, 0.9)
    ellipse, center = lines(figure, BLUE)
    np.testing.assert_allclose(ellipse, region.boundary())
    np.testing.assert_allclose(center, [region.center])
    box = lines(figure, GREY)[0]
    alone = fit().t_test(NAMES).conf_int(0.9)
    np.testing.assert_allclose([box.min(axis=0), box.max(axis=0)], alone.T)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == [f"90% region, {region.statement}", "each by itself"]
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == NAMES


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_the_same_fit_is_the_same_file(tmp_path: Path, name: str) -> None:
    plot_region(fit(), NAMES, tmp_path / name, title="Two of them")
    plot_region(fit(), NAMES, tmp_path / f"again-{name}", title="Two of them")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="two coefficients; got 1"):
        plot_region(fit(), ["age"])
    with pytest.raises(SettingError, match="plot_region draws a fit"):
        plot_region(3, NAMES)
    with pytest.raises(SettingError, match="no coefficient 'height'"):
        plot_region(fit(), ["age", "height"])
    with pytest.raises(SettingError, match=r"\.png, \.svg or \.pdf"):
        plot_region(fit(), NAMES, tmp_path / "a.gif")
