"""The picture of a path: its lines are the iterates, and the same path is the same file."""

from pathlib import Path as File
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.path import Path
from tacit.errors import SettingError
from tacit.report.descent_path import COLOURS, plot_path


def path(columns: int = 8, steps: int = 30, mu: float = 1.0) -> Path:
    rng = np.random.default_rng(1)
    names = ("Intercept", *(f"column {place}" for place in range(columns)))
    moved = np.cumsum(rng.normal(size=(steps, columns + 1)), axis=0)
    return Path(names, moved, mu * np.sqrt(np.arange(1, steps + 1) / steps), 1e-6)


def test_the_lines_are_the_iterates_and_the_budget() -> None:
    shown = path()
    above, below = plot_path(shown).axes
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in above.get_lines()}
    named = [name for name in shown.names if name in lines]
    assert len(named) == len(COLOURS)
    assert "Intercept" not in named
    for name in named:
        np.testing.assert_array_equal(lines[name], shown.coefficients[:, shown.names.index(name)])
    assert len(above.get_lines()) == 8
    np.testing.assert_allclose(np.asarray(below.get_lines()[0].get_ydata(), dtype=np.float64), shown.epsilon)
    words = [text.get_text() for text in above.figure.legends[0].get_texts()]
    assert words[-3:] == ["last", "tail", "average"]


def test_the_most_important_terms_are_named_in_order() -> None:
    shown = path()
    order = np.argsort(-np.abs(shown.tail[1:]))[: len(COLOURS)]
    words = [text.get_text() for text in plot_path(shown).legends[0].get_texts()]
    assert words[: len(COLOURS)] == [f"column {place}" for place in order]


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_the_same_path_is_the_same_file(tmp_path: File, name: str) -> None:
    tacit.plot(path(), tmp_path / name, title="$x$ and more")
    tacit.plot(path(), tmp_path / f"again-{name}", title="$x$ and more")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()


@pytest.mark.parametrize("shown", [path(1), path(0), path(2, 1), path(3, 5, np.inf)])
def test_small_and_open_paths_are_drawn(shown: Path) -> None:
    plot_path(shown)


def test_a_fit_has_a_picture() -> None:
    X = np.linspace(-1, 1, 2000).reshape(-1, 1)
    fit: Any = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1), solver="gradient", iterations=5).fit(
        X, X[:, 0] > 0
    )
    assert len(tacit.plot(fit.release_.path).axes) == 2


def test_what_is_no_path_is_refused() -> None:
    with pytest.raises(SettingError, match=r"release_\.path"):
        plot_path(3)  # type: ignore[arg-type]
