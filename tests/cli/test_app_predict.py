"""`tacit predict`: one line per record, whole files, the library's own numbers."""

import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit.cli.app import write_csv

Command = Callable[..., Any]
FIT = ("fit", "clinic.csv", "readmit ~ age + C(ward)", "--schema", "clinic.toml", "--epsilon", 3)


@pytest.fixture
def kept(clinic: Path, command: Command) -> Path:
    assert command(*FIT, "-o", "fit.json").code == 0
    Path("new.csv").write_text("ward,age\ngeneral,50\nsurgery,\nelsewhere,60\ncardiology,70\n", encoding="utf-8")
    return clinic


def column(text: str) -> list[float]:
    header, *rows = csv.reader(text.splitlines())
    assert header == ["probability"]
    return [float(cell) if cell else math.nan for (cell,) in rows]


def test_predictions_are_the_library_s(kept: Path, command: Command) -> None:
    done = command("predict", "fit.json", "new.csv")
    assert (done.code, done.err) == (0, "")
    values = column(done.out)
    np.testing.assert_array_equal(values, tacit.load("fit.json").predict("new.csv"))
    assert [math.isnan(value) for value in values] == [False, True, True, False]


def test_json_has_null_where_missing(kept: Path, command: Command) -> None:
    document = command("predict", "fit.json", "new.csv", "--json").document
    first, *missing, last = document["probability"]
    assert missing == [None, None]
    assert 0 < first < 1
    assert 0 < last < 1


def test_output_file(kept: Path, command: Command) -> None:
    printed = command("predict", "fit.json", "clinic.csv").out
    done = command("predict", "fit.json", "clinic.csv", "-o", "p.csv")
    assert done.code == 0
    assert "800 probabilities, 0 missing" in done.out
    assert Path("p.csv").read_text(encoding="utf-8") == printed
    assert command("predict", "fit.json", "clinic.csv", "-o", "p.csv").code == 3
    forced = command("predict", "fit.json", "new.csv", "-o", "p.csv", "--force", "--json")
    assert forced.document == {"output": "p.csv", "records": 4, "missing": 2}


def test_bad_tables_leave_nothing(kept: Path, command: Command) -> None:
    Path("bad.csv").write_text("age\n50\n60\n", encoding="utf-8")
    before = sorted(Path().iterdir())
    for code, *arguments in ((2, "bad.csv", "-o", "p.csv"), (2, "bad.csv"), (3, "absent.csv")):
        done = command("predict", "fit.json", *arguments)
        assert (done.code, done.out) == (code, "")
    assert command("predict", "clinic.csv", "new.csv").code == 4
    assert command("predict", "absent.json", "new.csv").code == 3
    assert sorted(Path().iterdir()) == before


def test_an_altered_fit_is_refused(kept: Path, command: Command) -> None:
    text = Path("fit.json").read_text(encoding="utf-8")
    Path("fit.json").write_text(text.replace('"coef": ', '"coef": 1', 1), encoding="utf-8")
    assert command("predict", "fit.json", "new.csv").code == 4


def test_blocks_are_written_one_by_one(tmp_path: Path) -> None:
    written = (tmp_path / "p.csv").open("w+", encoding="utf-8")

    def blocks() -> Iterator[NDArray[np.float64]]:
        yield np.array([0.1, np.nan])
        written.flush()
        assert (tmp_path / "p.csv").read_text(encoding="utf-8") == 'probability\n0.1\n""\n'
        yield np.array([])
        yield np.array([1 / 3])

    with written:
        assert write_csv(blocks(), written) == (3, 1)
    assert column((tmp_path / "p.csv").read_text(encoding="utf-8"))[2] == 1 / 3


@pytest.mark.parametrize(
    ("family", "formula", "several"), [("multinomial", "ward ~ age", True), ("gaussian", "age ~ C(ward)", False)]
)
def test_classes_and_numbers_are_predicted_too(
    clinic: Path, command: Command, family: str, formula: str, several: bool
) -> None:
    fit = ("fit", "clinic.csv", formula, "--schema", "clinic.toml", "--epsilon", 3)
    assert command(*fit, "--family", family, "--no-inference", "-o", "fit.json").code == 0
    Path("new.csv").write_text("ward,age\ngeneral,50\n,\nsurgery,20\n", encoding="utf-8")
    expected = tacit.load("fit.json").predict("new.csv").reshape(3, -1)
    header, *rows = csv.reader(command("predict", "fit.json", "new.csv").out.splitlines())
    declared = tacit.load("fit.json").stored.design.response.classes
    assert header == [f"probability of {label}" for label in declared] or not several
    assert (header == ["prediction"]) != several
    found = [[float(cell) if cell else math.nan for cell in row] for row in rows]
    np.testing.assert_array_equal(found, expected)
    document = command("predict", "fit.json", "new.csv", "--json").document
    assert next(iter(document.values()))[1] is None


def test_intervals_are_the_library_s(kept: Path, command: Command) -> None:
    header, *rows = csv.reader(command("predict", "fit.json", "new.csv", "--intervals", 0.9).out.splitlines())
    assert header == ["probability", "lower", "upper"]
    found = tacit.load("fit.json").get_prediction("new.csv")
    expected = np.column_stack([found.predicted_mean, found.conf_int(0.9)])
    np.testing.assert_array_equal([[float(cell) if cell else math.nan for cell in row] for row in rows], expected)
    document = command("predict", "fit.json", "new.csv", "--intervals", 0.9, "--json").document
    assert document["columns"] == header
    assert document["probability"][0] == expected[0].tolist()
    assert document["probability"][1] is None
    written = command("predict", "fit.json", "new.csv", "--intervals", 0.9, "-o", "new.out.csv")
    assert "4 probabilities, 2 missing" in written.out


def test_numbers_have_intervals_of_new_responses_too(kept: Path, command: Command) -> None:
    numbers = ("fit", "clinic.csv", "bmi ~ age", "--schema", "clinic.toml", "--family", "gaussian", "--epsilon", 3)
    assert command(*numbers, "-o", "bmi.json").code == 0
    header, first, *_ = csv.reader(command("predict", "bmi.json", "new.csv", "--intervals", 0.9).out.splitlines())
    assert header == ["prediction", "lower", "upper", "response lower", "response upper"]
    value, lower, upper, least, most = map(float, first)
    assert least < lower < value < upper < most


def test_intervals_that_there_are_not_are_refused(kept: Path, command: Command) -> None:
    assert command("predict", "fit.json", "new.csv", "--intervals", 95).code == 2
    assert command(*FIT, "--no-inference", "-o", "bare.json").code == 0
    refused = command("predict", "bare.json", "new.csv", "--intervals", 0.9)
    assert (refused.code, refused.out) == (2, "")
