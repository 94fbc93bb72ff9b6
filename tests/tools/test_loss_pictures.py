"""The picture of losses: what is drawn is what the mechanisms compute."""

from pathlib import Path

import numpy as np
import pytest

from tacit.errors import FileError, SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tools.loss_pictures import curves_of, main, plot_losses, rows_of, usual


@pytest.mark.parametrize("loss", usual(), ids=lambda loss: loss.name)
def test_curves_are_derivatives_of_each_other(loss: Loss) -> None:
    response = 3.0 if "poisson" in loss.name else 1.0
    margins = np.linspace(-2.0, 2.0, 4001)
    value, slope, bend = curves_of(loss, margins, response)
    assert value.min() == 0.0
    step = margins[1] - margins[0]
    assert np.abs(np.diff(value) / step - (slope[1:] + slope[:-1]) / 2).max() < 1e-3
    if loss.name != "bounded-poisson":
        # Kinks are seen by a few points only.
        gap = np.abs(np.diff(slope) / step - (bend[1:] + bend[:-1]) / 2)
        assert np.quantile(gap, 0.99) < 1e-3


def test_losses_stand_in_the_row_of_their_response() -> None:
    rows = rows_of(usual())
    assert [row.title for row in rows] == ["Residuals", "Two classes", "Counts"]
    assert [len(row.losses) for row in rows] == [3, 2, 2]
    assert [row.title for row in rows_of([classification.LOGISTIC])] == ["Two classes"]


def test_three_panels_a_row_and_the_same_file_again(tmp_path: Path) -> None:
    losses = [regression.huber(1.345), regression.smooth_huber(1.345)]
    figure = plot_losses(losses, tmp_path / "a.svg")
    assert len(figure.axes) == 3
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == {"Huber", "smooth Huber"}
    plot_losses(losses, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="draws losses"):
        plot_losses([])
    with pytest.raises(SettingError, match="draws losses"):
        plot_losses([classification.SOFTMAX])
    with pytest.raises(SettingError, match="draws losses"):
        plot_losses(["huber"])  # type: ignore[list-item]
    with pytest.raises(SettingError, match=r"\.png"):
        plot_losses(path=tmp_path / "a.bmp")
    with pytest.raises(FileError):
        plot_losses([classification.LOGISTIC], tmp_path / "nowhere" / "a.png")


def test_the_command_draws_the_picture_of_the_page(tmp_path: Path) -> None:
    assert main([str(tmp_path / "losses.png")]) == 0
    assert (tmp_path / "losses.png").read_bytes().startswith(b"\x89PNG")
