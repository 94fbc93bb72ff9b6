"""Bad input to `glm`: the right error, helpful words, no value, no row, nothing spent."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

import tacit
from tacit.errors import (
    BoundsError,
    BudgetError,
    DataError,
    FileError,
    FormulaError,
    InputError,
    SchemaError,
    SettingError,
)
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table

CANARY = "7654.321"
ROW, N = 617, 800
AGE = '[columns.age]\ntype = "numeric"\nlower = 0\nupper = 110\n'

LOS = '[columns.los]\ntype = "numeric"\nlower = 0\nupper = 60\n'

pytestmark = pytest.mark.usefixtures("nothing_spent")


def table(**cells: Any) -> pd.DataFrame:
    """The clinic with one record's cells replaced."""
    frame = pd.DataFrame(clinic_table(N))
    for name, cell in cells.items():
        column = frame[name].astype(object)
        column.iloc[ROW] = cell
        frame[name] = column
    return frame


def schema(age: str = AGE, **words: str) -> tacit.Schema:
    text = CLINIC_SCHEMA.replace(AGE, age)
    for old, new in words.items():
        text = text.replace(old, new)
    return tacit.Schema.parse(text)


def call(data: Any = None, formula: str = "readmit ~ age + C(ward)", **settings: Any) -> None:
    tacit.glm(formula, table() if data is None else data, **{"schema": schema(), "epsilon": 1.0, **settings})


def check_words(error: BaseException | None, *secrets: str) -> None:
    """What a traceback would print holds no value and no row number."""
    assert isinstance(error, ValueError)
    while error is not None:
        for secret in (CANARY, str(ROW), str(ROW + 1), str(N), *secrets):
            assert secret not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


SETTINGS: dict[str, tuple[dict[str, Any], type[InputError], str]] = {
    "no budget": ({"epsilon": None}, BudgetError, "epsilon"),
    "epsilon zero": ({"epsilon": 0}, BudgetError, "above 0"),
    "epsilon NaN": ({"epsilon": float("nan")}, BudgetError, "NaN"),
    "delta two": ({"delta": 2.0}, BudgetError, "delta"),
    "delta zero": ({"delta": 0.0}, SettingError, "delta"),
    "family": ({"family": "tweedie"}, SettingError, "binomial"),
    "solver": ({"solver": "magic"}, SettingError, "gradient"),
    "output": ({"output": "first"}, SettingError, "tail"),
    "l2": ({"l2": -1}, SettingError, "l2"),
    "radius": ({"radius": 0}, SettingError, "radius"),
    "row norm": ({"row_norm": -1.0}, BoundsError, "row_norm"),
    "invalid rows": ({"invalid_rows": "skip"}, SettingError, "zero"),
    "prior mean": ({"prior_mean": [1.0], "l2": 1.0}, SettingError, "3 entries"),
    "seed": ({"random_state": -1}, SettingError, "random_state"),
    "schema missing": ({"schema": "nowhere.toml"}, InputError, "nowhere.toml"),
    "unknown column": ({"formula": "readmit ~ agee"}, InputError, "agee"),
    "unknown response": ({"formula": "died ~ age"}, InputError, "died"),
    "numeric response": ({"formula": "age ~ bmi"}, FormulaError, "binary"),
    "reads the data": ({"formula": "readmit ~ scale(age)"}, FormulaError, "scale"),
    "no formula": ({"formula": "readmit"}, FormulaError, "~"),
}

TABLES: dict[str, tuple[dict[str, Any], type[InputError], str]] = {
    "text": ({"age": f"about {CANARY}"}, DataError, "'age'"),
    "missing": ({"age": None}, DataError, "invalid_rows"),
    "infinite": ({"age": float("inf"), "bmi": float(CANARY)}, DataError, "invalid_rows"),
    "undeclared level": ({"ward": f"ward {CANARY}"}, DataError, "not declared"),
    "undeclared label": ({"readmit": float(CANARY)}, DataError, "not declared"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings(case: str) -> None:
    settings, kind, words = SETTINGS[case]
    with pytest.raises(kind, match=words) as caught:
        call(**settings)
    check_words(caught.value)


NEGATIVE, BROKEN = AGE.replace("lower = 0", "lower = -5"), AGE.replace("110", "109.5")
OUTSIDE: dict[str, tuple[str, str, str, type[InputError], str]] = {
    "counts below zero": ("age ~ bmi", "poisson", NEGATIVE, FormulaError, "counts: declare lower"),
    "counts up to a half": ("age ~ bmi", "poisson", BROKEN, FormulaError, "a whole number"),
    "labels counted": ("readmit ~ bmi", "poisson", AGE, FormulaError, "numeric column"),
    "numbers as labels": ("age ~ bmi", "binomial", AGE, FormulaError, "binary column"),
    "labels as numbers": ("readmit ~ bmi", "gaussian", AGE, FormulaError, "numeric column"),
    "numbers as classes": ("age ~ bmi", "multinomial", AGE, FormulaError, "must be a factor"),
    "exposure of zero": ("los ~ bmi + exposure(age)", "poisson", AGE, FormulaError, "lower > 0"),
    "logarithm of zero": ("los ~ offset(log(age))", "poisson", AGE, FormulaError, "lower > 0"),
    "exposure of labels": ("readmit ~ exposure(bmi)", "binomial", AGE, FormulaError, "log link"),
    "exposure of numbers": ("los ~ exposure(bmi)", "gaussian", AGE, FormulaError, "subtract it"),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_outcomes_and_exposures_outside_of_a_family(case: str) -> None:
    formula, family, age, kind, words = OUTSIDE[case]
    with pytest.raises(kind, match=words) as caught:
        call(formula=formula, family=family, schema=schema(age + LOS))
    check_words(caught.value)


@pytest.mark.parametrize("case", TABLES)
def test_t41_tables(case: str) -> None:
    cells, kind, words = TABLES[case]
    with pytest.raises(kind, match=words) as caught:
        call(table(**cells))
    check_words(caught.value)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ('[columns.age]\ntype = "numeric"\n', SchemaError, "lower"),
        (AGE.replace("110", "-5"), BoundsError, "reversed|below"),
        (AGE.replace("110", '"high"'), BoundsError, "upper"),
        (AGE.replace("110", "[1, 2]"), BoundsError, "upper"),
        (AGE.replace("numeric", "number"), SchemaError, "type"),
    ],
)
def test_t36_schemas(text: str, kind: type[InputError], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        call(schema=schema(text))
    check_words(caught.value)


@pytest.mark.parametrize("words", [{"replace-one": "swap"}, {"replace-one": "add-remove"}, {"[0, 1]": "[0, 1, 2]"}])
def test_relations_and_classes_of_the_schema(words: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        call(schema=schema(**words))
    check_words(caught.value)


def test_a_column_that_the_table_lacks() -> None:
    with pytest.raises(SchemaError, match="no column 'age'") as caught:
        call(table().drop(columns="age"))
    check_words(caught.value)


@pytest.mark.parametrize("length", [0, 1])
def test_t08_short_tables(length: int) -> None:
    with pytest.raises(DataError, match="record"):
        call(table()[:length])


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "clinic.parquet"
    table().to_parquet(path)
    assert parquet.read_metadata(path).num_rows == N
    whole = path.read_bytes()
    for bad in (b"", whole[: len(whole) // 2], b"PAR1" + np.random.default_rng(0).bytes(500)):
        path.write_bytes(bad)
        with pytest.raises(FileError, match=r"clinic\.parquet") as caught:
            call(path)
        assert isinstance(caught.value, ValueError)
    with pytest.raises(FileError, match="nowhere"):
        call(tmp_path / "nowhere.parquet")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["clinic.parquet"]
