"""Accuracy as a picture."""

from pathlib import Path

import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.report.image_pictures import accuracy_picture


def test_points_are_drawn_in_order_and_in_per_cent(tmp_path: Path) -> None:
    figure = accuracy_picture([(3.0, 0.9), (1.0, 0.8)], tmp_path / "a.png", title="t", axis="ε")
    (line,) = figure.axes[0].get_lines()
    assert np.asarray(line.get_xydata()).tolist() == [[1.0, 80.0], [3.0, 90.0]]
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_nothing_and_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no accuracy"):
        accuracy_picture([], title="t", axis="ε")
    with pytest.raises(SettingError, match="png"):
        accuracy_picture([(1.0, 1.0)], tmp_path / "a.txt", title="t", axis="ε")
