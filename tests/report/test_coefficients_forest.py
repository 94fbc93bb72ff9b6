"""The forest plot: what is drawn is what was released, the same every time."""

import itertools
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import SettingError
from tacit.inference.estimates import Line
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, CLINIC_UNITS, clinic_table
from tacit.report.coefficients import plot
from tacit.report.figure import BLUE as PRIVATE
from tacit.report.figure import ORANGE as SAMPLED


@cache
def fit_of(**settings: Any) -> tacit.Fit:
    table = pd.DataFrame(clinic_table(3000))
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    how = {"epsilon": 2.0, "random_state": 1, **settings}
    return tacit.glm(CLINIC_FORMULA, table, schema, **how)


def bars(figure: Any, colour: str) -> list[list[float]]:
    lines = figure.axes[0].get_lines()
    return [list(line.get_xdata()) for line in lines if line.get_color() == colour]


def test_bars_are_the_intervals() -> None:
    fit = fit_of()
    figure = tacit.plot(fit, level=0.9)
    np.testing.assert_allclose(bars(figure, PRIVATE), fit.conf_int(0.9).to_numpy()[1:])
    np.testing.assert_allclose(bars(figure, SAMPLED), fit.conf_int(0.9, "sampling").to_numpy()[1:])
    dots = np.array([np.asarray(dot.get_offsets())[0] for dot in figure.axes[0].collections])
    np.testing.assert_allclose(dots[:, 0], fit.params.tolist()[1:])
    np.testing.assert_array_equal(dots[:, 1], np.arange(7))


def test_units_multiply_coefficients_and_are_powers_of_ratios() -> None:
    fit = fit_of()
    age = list(fit.params.index).index("age")
    wide = bars(plot(fit, units=CLINIC_UNITS), PRIVATE)[age - 1]
    np.testing.assert_allclose(wide, 10 * fit.conf_int().to_numpy()[age])
    figure = plot(fit, exponentiate=True, units=CLINIC_UNITS)
    np.testing.assert_allclose(bars(figure, PRIVATE)[age - 1], np.exp(wide))
    assert figure.axes[0].get_xscale() == "log"
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert "age, 10 years" in labels


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_the_same_fit_is_the_same_file(tmp_path: Path, name: str) -> None:
    plot(fit_of(), tmp_path / name)
    plot(fit_of(), tmp_path / f"again-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()


def test_words_of_a_drawing(tmp_path: Path) -> None:
    plot(fit_of(), tmp_path / "a.svg", exponentiate=True)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for words in ("odds ratio", "95% total interval, nominal", "estimate", "smoker[T.yes]"):
        assert f"<!-- {words} -->" in text
    assert "<!-- Intercept -->" not in text
    # The noise had a seed, so no ε is claimed.
    assert "(not private)" in text


def test_without_intervals_there_are_dots() -> None:
    figure = plot(fit_of(inference=False))
    assert bars(figure, PRIVATE) == []
    assert len(figure.axes[0].collections) == 7
    assert figure.legends == []


def test_a_stored_fit_has_both_kinds_of_bars(tmp_path: Path) -> None:
    fit_of().save(tmp_path / "fit.json")
    figure = plot(tacit.load(tmp_path / "fit.json"))
    np.testing.assert_allclose(bars(figure, PRIVATE), fit_of().conf_int().to_numpy()[1:])
    np.testing.assert_allclose(bars(figure, SAMPLED), fit_of().conf_int(which="sampling").to_numpy()[1:])


def test_what_is_no_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="a fit of"):
        plot({"age": 1.0})
    with pytest.raises(SettingError, match=r"\.png, \.svg or \.pdf"):
        plot(fit_of(), tmp_path / "a.gif")


class Withholding:
    """A fit whose first columns have no interval."""

    def __init__(self, fit: tacit.Fit, withheld: int) -> None:
        self._fit, self._withheld = fit, withheld

    def summary(self, *asked: Any, **more: Any) -> Any:
        whole = self._fit.summary(*asked, **more)
        lines = tuple(
            Line(line.name, line.coef, statement="withheld") if place < self._withheld else line
            for place, line in enumerate(whole.lines)
        )
        return replace(whole, lines=lines)


@pytest.mark.parametrize("withheld", [1, 3, 8])
def test_withheld_intervals_have_a_dot_and_no_bar(withheld: int) -> None:
    """The intercept is among them, and not drawn. Marks without an interval are hollow, also where all are."""
    figure = plot(Withholding(fit_of(), withheld))
    drawn = np.array(bars(figure, PRIVATE)).reshape(-1, 2)
    np.testing.assert_allclose(drawn, fit_of().conf_int().to_numpy()[withheld:])
    assert len(figure.axes[0].collections) == 7
    words = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert ("95% total interval, nominal" in words) is (withheld < 8)
    said = [text.get_text() for text in figure.axes[0].texts].count("interval withheld")
    assert said == withheld - 1
    assert ("estimate, interval withheld" in words) is (withheld > 1)
    dots: Any = figure.axes[0].collections
    colours = [tuple(dot.get_facecolor()[0][:3]) for dot in dots]
    assert colours.count((1.0, 1.0, 1.0)) == withheld - 1


class Extreme(Withholding):
    """A fit without intervals, one coefficient of which is far out."""

    def summary(self, *asked: Any, **more: Any) -> Any:
        whole = super().summary(*asked, **more)
        value = -103.0 if not more.get("exponentiate") else math.exp(-103.0)
        return replace(whole, lines=(*whole.lines[:-1], replace(whole.lines[-1], coef=value)))


@pytest.mark.parametrize("exponentiate", [False, True])
def test_an_estimate_far_out_is_marked_and_ticks_do_not_overlap(exponentiate: bool) -> None:
    figure = plot(Extreme(fit_of(), 8), exponentiate=exponentiate)
    axes = figure.axes[0]
    figure.canvas.draw()
    assert [mark for mark in (str(line.get_marker()) for line in axes.get_lines()) if mark in "<>"] == ["<"]
    boxes = [text.get_window_extent() for text in axes.get_xticklabels() if text.get_text()]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(sorted(boxes, key=lambda box: box.x0)))


class Stretched(Withholding):
    """A fit whose last column has an interval a million times as wide, or an endless one."""

    def summary(self, *asked: Any, **more: Any) -> Any:
        whole = self._fit.summary(*asked, **more)
        *others, last = whole.lines
        wide = math.inf if self._withheld else 1e6
        low, high = (0.0, wide) if more.get("exponentiate") else (-wide, wide)
        return replace(whole, lines=(*others, replace(last, lower=low, upper=high)))


@pytest.mark.parametrize("exponentiate", [False, True])
@pytest.mark.parametrize("endless", [0, 1])
def test_one_wide_interval_leaves_the_others_readable(endless: int, exponentiate: bool) -> None:
    usual = plot(fit_of(), exponentiate=exponentiate).axes[0].get_xlim()
    figure = plot(Stretched(fit_of(), endless), exponentiate=exponentiate)
    axes = figure.axes[0]
    figure.canvas.draw()
    left, right = axes.get_xlim()
    scale = np.log if exponentiate else np.asarray
    assert scale(right) - scale(left) < 1.5 * (scale(usual[1]) - scale(usual[0]))
    assert [mark for mark in (str(line.get_marker()) for line in axes.get_lines()) if mark in "<>"] == ["<", ">"]
    assert len([tick for tick in axes.get_xticks() if left <= tick <= right]) >= 3


def test_a_notebook_shows_a_picture_without_magic() -> None:
    figure: Any = plot(fit_of())
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_intercepts_of_classes_are_left_out_unless_there_is_nothing_else() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.uniform(0, 1, (3000, 2)), generator.choice(["u", "v", "w"], 3000)
    several = tacit.LogisticRegression(epsilon=2.0, bounds=(0, 1), classes=["u", "v", "w"], inference=True).fit(X, y)
    labels = [text.get_text() for text in plot(several).axes[0].get_yticklabels()]
    assert labels == [f"{name}: x{place}" for place in (0, 1) for name in "uvw"]
    table = pd.DataFrame(clinic_table(3000))
    alone = tacit.glm("readmit ~ 1", table, tacit.Schema.parse(CLINIC_SCHEMA), epsilon=1.0)
    assert [text.get_text() for text in plot(alone).axes[0].get_yticklabels()] == ["Intercept"]


def test_the_axis_says_that_there_are_no_intervals() -> None:
    assert plot(fit_of()).axes[0].get_xlabel() == "coefficient"
    assert plot(fit_of(inference=False)).axes[0].get_xlabel() == "coefficient, without an interval"
