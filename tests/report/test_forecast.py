"""A forecast as a table, as plain data and as a picture."""

import json
from pathlib import Path

from tacit import LogisticRegression, plot_study
from tacit.planning.targets import Target
from tacit.report.forecast import forecast_document, forecast_lines, forecast_table, target_document, target_lines

STUDY = LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1), inference=True).study(5000, 2)


def test_table_document_and_words_have_every_coefficient() -> None:
    assert len(forecast_table(STUDY.forecast).rows) == 3
    assert json.loads(json.dumps(forecast_document(STUDY.forecast)))["terms"][1]["name"] == "x0"
    assert "by privacy" in forecast_lines(STUDY.forecast)[0]


def test_a_target_that_is_missed_names_what_would_be_enough() -> None:
    target = Target("half-width", 0.4)
    document = target_document(STUDY, target)
    words = " ".join(target_lines(STUDY, target, document))
    assert document["met"] is False
    assert "Not at this n" in words
    assert document["least"]["n"] > 5000


def test_the_picture_is_written(tmp_path: Path) -> None:
    plot_study(STUDY, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000
