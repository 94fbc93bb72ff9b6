"""Pictures: written whole, the same every time, and showing what was given."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from tacit.errors import FileError, SettingError
from tacit.planning.demo_table import CLINIC_TRUTH, CLINIC_UNITS
from tacit.report.coefficients import comparison_picture


def terms(**paid: float) -> list[dict[str, Any]]:
    blank = {"std_err": None, "lower": None, "upper": None}
    return [{"name": name, "coef": coef, **blank, **paid} for name, coef in CLINIC_TRUTH.items()]


def draw(path: Path, **more: Any) -> bytes:
    comparison_picture(terms(), path, truth=CLINIC_TRUTH, reference=CLINIC_TRUTH, **more)
    return path.read_bytes()


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_the_same_picture_is_the_same_file(tmp_path: Path, name: str) -> None:
    first = draw(tmp_path / name)
    assert draw(tmp_path / f"again-{name}") == first
    assert draw(tmp_path / name, units=CLINIC_UNITS) != first
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, f"again-{name}"]


def test_words_of_a_drawing(tmp_path: Path) -> None:
    text = draw(tmp_path / "a.svg", units=CLINIC_UNITS, title="A title").decode()
    for words in ("A title", "age, 10 years", "not private", "truth", "change in log odds"):
        assert f"<!-- {words} -->" in text
    assert "<!-- Intercept -->" not in text


def test_one_series_needs_no_legend(tmp_path: Path) -> None:
    comparison_picture(terms(lower=-1.0, upper=1.0), tmp_path / "a.svg")
    assert "<!-- private -->" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_nothing_is_cut_off_at_the_edges(tmp_path: Path) -> None:
    draw(tmp_path / "a.png", units=CLINIC_UNITS, title="Predictors of readmission")
    pixels = imread(tmp_path / "a.png")[:, :, :3]
    frame = np.concatenate([pixels[:4].ravel(), pixels[-4:].ravel(), pixels[:, :4].ravel()])
    assert frame.min() == 1.0
    assert pixels.min() < 0.3


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"\.png, \.svg or \.pdf"):
        draw(tmp_path / "a.gif")
    with pytest.raises(FileError, match="cannot be written"):
        draw(tmp_path / "nowhere" / "a.png")
    assert list(tmp_path.iterdir()) == []
