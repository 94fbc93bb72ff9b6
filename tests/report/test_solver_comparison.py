"""A comparison as table, document and picture."""

from pathlib import Path

from tacit.estimators.solver_comparison import Comparison, SolverResult
from tacit.report.solver_comparison import comparison_document, comparison_lines, comparison_table, plot_comparison

FOUND = Comparison(
    (
        SolverResult("auto", 0.001, 0.77, 0.02, "ε = 1, δ = 1e-05", "exact"),
        SolverResult("newton", -1e-9, 0.76, 0.5, "ε = 1, δ = 1e-05", "exact"),
        SolverResult("moments", refused="it is for numbers"),
    ),
    "excess log loss",
    0.78,
    3000,
    5,
)


def test_the_table_has_every_solver_that_applies() -> None:
    text = comparison_table(FOUND).text()
    assert "auto" in text
    assert "0.001" in text
    assert "moments" not in text
    assert "accuracy" in text


def test_refusals_are_told_in_words() -> None:
    lines = comparison_lines(FOUND)
    assert lines[0] == "Without privacy: 0.7800. Medians of 5 fits of 3,000 rows."
    assert lines[1:] == ["moments: it is for numbers"]
    assert comparison_document(FOUND)["results"][0]["solver"] == "auto"


def test_the_picture_has_a_row_for_each(tmp_path: Path) -> None:
    figure = plot_comparison(FOUND, tmp_path / "found.svg")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["auto", "newton"]
    assert axes.get_xscale() == "log"
    assert (tmp_path / "found.svg").read_text(encoding="utf-8").startswith("<?xml")
