"""Figures: only .png, .svg and .pdf files, tidy axes, and the style of the caller's figures untouched."""

from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from tacit.errors import FileError, SettingError
from tacit.report.figure import drawn, empty_figure, picture_file, term_figure, tidy


def test_only_png_svg_and_pdf_are_pictures(tmp_path: Path) -> None:
    assert picture_file(tmp_path / "a.SVG").suffix == ".SVG"
    for name in ("a.gif", "a", ".png"):
        with pytest.raises(SettingError, match=r"\.png, \.svg or \.pdf"):
            picture_file(tmp_path / name)


def test_a_refused_path_draws_nothing(tmp_path: Path) -> None:
    with pytest.raises(SettingError):
        drawn(lambda: pytest.fail("drawn"), tmp_path / "a.gif")
    with pytest.raises(FileError):
        drawn(lambda: empty_figure(1.0, 1.0), tmp_path / "nowhere" / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_the_style_is_used_and_given_back() -> None:
    before = mpl.rcParams["text.color"]
    seen = []

    def draw() -> Figure:
        seen.append(mpl.rcParams["text.color"])
        return empty_figure(1.0, 1.0)

    drawn(draw, None)
    assert seen == ["#22313f"]
    assert mpl.rcParams["text.color"] == before


def test_a_row_for_each_term_the_first_on_top() -> None:
    figure, axes = term_figure(["a", "b"], title="T", axis="coefficient", reference=1.0)
    bottom, top = axes.get_ylim()
    assert (bottom, top) == (1.55, -0.55)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert figure.get_suptitle() == "T"


def test_only_named_sides_are_drawn() -> None:
    axes = empty_figure(1.0, 1.0).add_subplot()
    tidy(axes, spines=("left",))
    assert [name for name, side in axes.spines.items() if side.get_visible()] == ["left"]
