"""`tacit summary`, `tacit plot` and `tacit test`: a stored fit says as much as a fresh one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table

Command = Callable[..., Any]


@pytest.fixture
def fit(tmp_path: Path) -> Path:
    table = pd.DataFrame(clinic_table(3000))
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    tacit.glm("readmit ~ age + bmi", table, schema, epsilon=3.0).save(tmp_path / "fit.json")
    return tmp_path / "fit.json"


def test_a_summary_at_another_level_as_ratios_in_units(command: Command, fit: Path) -> None:
    done = command("summary", fit, "--level", 0.9, "--exponentiate", "--per", "age=10 years")
    assert done.code == 0
    expected = tacit.load(fit).summary(0.9, exponentiate=True, units={"age": (10, "age, per 10 years")})
    assert done.out.rstrip("\n") == expected.as_text()


@pytest.mark.parametrize(
    ("form", "words"),
    [("html", "<table"), ("latex", r"\toprule"), ("markdown", "| --- |"), ("csv", "name,coef,"), ("text", "Model:")],
)
def test_every_format(command: Command, fit: Path, form: str, words: str) -> None:
    done = command("summary", fit, "--format", form)
    assert done.code == 0
    assert words in done.out
    assert command("summary", fit, "--format", form, "-o", f"a.{form}").code == 0
    assert Path(f"a.{form}").read_text(encoding="utf-8").rstrip("\n") == done.out.rstrip("\n")


def test_csv_has_every_digit(command: Command, fit: Path) -> None:
    command("summary", fit, "--format", "csv", "-o", "a.csv")
    back, known = pd.read_csv("a.csv", index_col="name"), tacit.load(fit)
    assert back["coef"].tolist() == known.params.tolist()
    assert back["upper"].tolist() == known.conf_int()["upper"].tolist()


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_picture(command: Command, fit: Path, kind: str) -> None:
    done = command("plot", fit, "-o", f"a.{kind}", "--exponentiate", "--per", "age=10 years")
    assert done.code == 0
    assert Path(f"a.{kind}").stat().st_size > 1000
    assert command("plot", fit, "-o", f"a.{kind}").code == 3


def test_a_test_and_a_joint_one(command: Command, fit: Path) -> None:
    known = tacit.load(fit)
    done = command("test", fit, "age - bmi = 0", "--json")
    (line,) = done.document["tests"]
    assert line["pvalue"] == known.t_test("age - bmi = 0").pvalues[0]
    joint = command("test", fit, "age", "bmi", "--joint", "--json").document
    assert joint["pvalue"] == known.wald_test(["age", "bmi"]).pvalue
    assert "age - bmi = 0" in command("test", fit, "age - bmi = 0").out
    assert "Wald test of age, bmi" in command("test", fit, "age", "bmi", "--joint").out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("summary", "--format", "pdf"), 2, "--format must be one of"),
        (("summary", "--level", "2"), 2, "level"),
        (("summary", "--per", "age"), 2, "10 years"),
        (("summary", "--per", "ages=10"), 2, "no term"),
        (("plot", "-o", "a.gif"), 2, ".png, .svg or .pdf"),
        (("test", "agge = 0"), 2, "There is no coefficient 'agge'"),
        (("test", "age * bmi"), 2, "linear"),
    ],
)
def test_bad_input(command: Command, fit: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = command(arguments[0], fit, *arguments[1:])
    assert done.code == code
    assert words in done.err


def test_what_was_not_paid_for_says_so(command: Command, tmp_path: Path) -> None:
    table, schema = pd.DataFrame(clinic_table(3001)), tacit.Schema.parse(CLINIC_SCHEMA)
    tacit.glm("readmit ~ age", table, schema, epsilon=3.0, inference=False).save(tmp_path / "plain.json")
    assert command("summary", "plain.json").code == 0
    done = command("test", "plain.json", "age = 0")
    assert done.code == 2
    assert "did not pay for intervals" in done.err


def test_a_fit_of_several_classes_takes_names_of_columns(command: Command, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame({"age": generator.uniform(0, 9, 4000), "stage": generator.choice(["I", "II", "III"], 4000)})
    columns = {
        "age": {"type": "numeric", "lower": 0, "upper": 9},
        "stage": {"type": "factor", "levels": ["I", "II", "III"]},
    }
    schema = tacit.Schema.from_mapping({"columns": columns})
    fit = tmp_path / "fit.json"
    tacit.glm("stage ~ age", table, schema, family="multinomial", epsilon=2.0).save(fit)
    done = command("summary", fit, "--per", "age=10 years")
    assert done.out.count("age, per 10 years") == 3
    assert "tacit test" in done.out
    assert '"II: x - I: x"' in command("summary", fit, "--exponentiate").err
    assert 'test differences, such as "II: age - I: age = 0"' in command("test", fit, "age = 0").err
    assert "II: age - I: age" in command("test", fit, "II: age - I: age = 0").out


def test_an_inequality_is_not_tested(command: Command, fit: Path) -> None:
    assert "'>' is not tested: a hypothesis is an equation" in command("test", fit, "age > 0").err


def test_a_table_is_no_fit(command: Command, tmp_path: Path) -> None:
    (tmp_path / "clinic.csv").write_text("age,bmi\n1,2\n", encoding="utf-8")
    done = command("summary", tmp_path / "clinic.csv")
    assert (done.code, "expected a fit or a certificate that Tacit wrote" in done.err) == (4, True)


@pytest.fixture(scope="module")
def wards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wards") / "fit.json"
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    tacit.glm("readmit ~ age + C(ward)", pd.DataFrame(clinic_table(3000)), schema, epsilon=3.0).save(path)
    return path


def test_contrasts_of_a_factor_as_ratios_in_every_format(command: Command, wards: Path) -> None:
    found = tacit.load(wards).contrasts("ward")
    done = command("test", wards, "--contrasts", "ward", "--exponentiate", "--json").document
    assert (done["estimate"], tuple(line["name"] for line in done["tests"])) == ("odds ratio", found.names)
    frame = found.summary_frame(exponentiate=True)
    assert [line["coef"] for line in done["tests"]] == pytest.approx(list(frame["coef"]))
    words = {"html": "<table", "latex": r"\toprule", "markdown": "| --- |", "csv": "name,odds_ratio,", "text": "[0.025"}
    for form, word in words.items():
        shown = command("test", wards, "--contrasts", "ward", "--exponentiate", "--format", form).out
        assert word in shown
        assert found.names[0] in shown
    one = command("test", wards, found.names[0], "age = 0", "--json").document["tests"]
    assert [line["name"] for line in one] == [found.names[0], "age = 0"]
    level = found.names[0].rpartition(" - ")[2]
    few = command("test", wards, "--contrasts", "ward", "--reference", level, "--json").document["tests"]
    assert 0 < len(few) < len(found.names)


@pytest.mark.parametrize(
    "asked",
    [(), ("age = 0", "--contrasts", "ward"), ("age = 0", "--reference", "a"), ("age", "--joint", "--exponentiate")],
)
def test_what_cannot_be_tested_together_is_refused(command: Command, wards: Path, asked: tuple[str, ...]) -> None:
    done = command("test", wards, *asked)
    assert (done.code, done.out) == (2, "")
    assert "--" in done.err


def test_a_mean_against_a_column_is_drawn(command: Command, fit: Path) -> None:
    assert command("plot", fit, "-o", "age.png", "--effect", "age", "--at", "bmi=30").code == 0
    assert Path("age.png").stat().st_size > 10_000
    assert command("plot", fit, "-o", "b.png", "--effect", "height").code == 2
    assert command("plot", fit, "-o", "b.png", "--at", "bmi=30").code == 2
    assert command("plot", fit, "-o", "b.png", "--effect", "age", "--exponentiate").code == 2
