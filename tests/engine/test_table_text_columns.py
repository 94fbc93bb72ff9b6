"""A column of text is refused where numbers are declared: by its type alone, before anything is charged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import tacit
from tacit.errors import DataError

AGES, SEXES = [30.0, 50.0, 70.0, 40.0] * 60, ["f", "m", "m", "f"] * 60
FRAME = {"age": AGES, "sex": SEXES}
SCHEMA = tacit.Schema.parse("""
[columns.age]
type = "numeric"
lower = 18
upper = 90
[columns.sex]
type = "numeric"
lower = 0
upper = 1
[columns.y]
type = "binary"
""")


def in_pandas(kind: str) -> pd.DataFrame:
    return pd.DataFrame(FRAME).astype({"sex": kind})


TABLES: dict[str, Callable[[], Any]] = {
    "pandas str": lambda: in_pandas("str"),
    "pandas string": lambda: in_pandas("string"),
    "pandas categories": lambda: pd.DataFrame({"age": AGES, "sex": pd.Categorical(pd.Series(SEXES, dtype="string"))}),
    "numpy text": lambda: np.array([*zip(map(str, AGES), SEXES, strict=True)]),
    "numpy bytes": lambda: np.array([*zip(map(str, AGES), SEXES, strict=True)]).astype(bytes),
    "polars": lambda: pl.DataFrame(FRAME),
    "polars categories": lambda: pl.DataFrame(FRAME, schema_overrides={"sex": pl.Categorical}),
    "arrow": lambda: pa.table(FRAME),
    "arrow dictionary": lambda: pa.table({"age": AGES, "sex": pa.array(SEXES).dictionary_encode()}),
}
OBJECTS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: in_pandas("object"),
    "numpy": lambda: in_pandas("object").to_numpy(dtype=object),
    "list": lambda: [*map(list, zip(AGES, SEXES, strict=True))],
}


def model(**given: Any) -> Any:
    bounds = ([18, 0], [90, 1])
    return tacit.LogisticRegression(epsilon=1, bounds=bounds, classes=[0, 1], **given)


@pytest.mark.parametrize("kind", TABLES)
def test_text_is_refused_by_its_type_and_costs_nothing(kind: str) -> None:
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-5), refusals="curator") as ledger:
        with pytest.raises(DataError, match="type text, where numbers are declared") as told:
            model(invalid_rows="error").fit(TABLES[kind](), [0, 1] * 120)
        assert ledger.charges() == ()
    for name in ("OneHotLevels", "to_numeric"):
        assert name in str(told.value)


@pytest.mark.parametrize("kind", TABLES)
def test_where_records_may_be_invalid_a_type_that_one_record_can_make_refuses_nothing(kind: str) -> None:
    """A single word makes text of a column in `pandas.read_csv` and in numpy: a refusal would tell of it, for free."""
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-5)) as ledger:
        model().fit(TABLES[kind](), [0, 1] * 120)
        assert len(ledger.charges()) == 1
    model(invalid_rows="zero").fit(TABLES[kind](), [0, 1] * 120)


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_have_no_type_and_are_read_cell_by_cell(kind: str) -> None:
    """One cell can make objects of a column: that there are some tells of it."""
    with tacit.Ledger(budget=tacit.Budget(epsilon=3, delta=1e-5)) as ledger:
        model().fit(OBJECTS[kind](), [0, 1] * 120)
        assert len(ledger.charges()) == 1


def test_a_text_response_and_text_weights_are_refused_where_they_are_numbers() -> None:
    rows, text = np.zeros((240, 1)), pd.Series(["1", "2"] * 120, dtype="string")
    fit = tacit.LinearRegression(epsilon=1, bounds=(-1, 1), y_bounds=(0, 3), max_weight=2).fit
    with pytest.raises(DataError, match="'y' has the type text"):
        fit(rows, text)
    with pytest.raises(DataError, match="'sample_weight' has the type text"):
        fit(rows, np.ones(240), sample_weight=text)


@pytest.mark.parametrize("many", [False, True])
def test_a_parquet_file_has_types_and_a_csv_file_none(tmp_path: Path, many: bool) -> None:
    table = pa.table({**FRAME, "y": [0, 1] * 120})
    for name in ("a", "b"):
        parquet.write_table(table, tmp_path / f"{name}.parquet")
        table.to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)
    place = str(tmp_path / ("*" if many else "a"))
    with pytest.raises(DataError, match="'sex' has the type text"):
        tacit.glm("y ~ age + sex", f"{place}.parquet", SCHEMA, epsilon=1, inference=False, invalid_rows="zero")
    assert tacit.glm("y ~ age + sex", f"{place}.csv", SCHEMA, epsilon=1, inference=False, invalid_rows="zero").terms


def test_words_that_mean_missing_make_text_of_a_column_of_numbers() -> None:
    declared = tacit.Schema.parse('missing_codes = ["unknown"]\n' + SCHEMA.to_toml())
    table = pd.DataFrame({"age": ["30", "50", "unknown", "40"] * 60, "y": [0, 1] * 120}).astype({"age": "string"})
    assert tacit.glm("y ~ age", table, declared, epsilon=1, inference=False, invalid_rows="zero").terms
    with pytest.raises(DataError, match="'age' has the type text"):
        tacit.glm("y ~ age", table, SCHEMA, epsilon=1, inference=False)
