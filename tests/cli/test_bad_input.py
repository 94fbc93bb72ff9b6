"""Every kind of bad input: a documented exit code, no value, no row number, no file left."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_csv, clinic_table

Command = Callable[..., Any]

CANARY = "98765.4321"
"""A value that no message may hold."""
ROW = 617
"""Where the bad record stands; no message may hold this number, nor the line of the file."""
FORMULA = "readmit ~ age + C(ward)"
SCHEMA = CLINIC_SCHEMA
AGE = '[columns.age]\ntype = "numeric"\nlower = 0\nupper = 110\n'


def text_with(**cells: str) -> str:
    """The table with one cell of one record replaced."""
    lines = clinic_csv(clinic_table(800)).splitlines()
    names = lines[0].split(",")
    record = lines[ROW].split(",")
    for name, cell in cells.items():
        record[names.index(name)] = cell
    lines[ROW] = ",".join(record)
    return "\n".join(lines) + "\n"


def schema_with(age: str) -> str:
    assert AGE in SCHEMA
    return SCHEMA.replace(AGE, f"[columns.age]\n{age}\n")


PUBLIC: Mapping[str, tuple[tuple[object, ...], str]] = {
    "no budget": ((), "--epsilon"),
    "epsilon zero": (("--epsilon", 0), "epsilon"),
    "epsilon negative": (("--epsilon", -1), "epsilon"),
    "epsilon NaN": (("--epsilon", "nan"), "epsilon"),
    "epsilon no number": (("--epsilon", "one"), "--epsilon"),
    "delta zero": (("--epsilon", 1, "--delta", 0), "delta"),
    "delta one": (("--epsilon", 1, "--delta", 1), "delta"),
    "delta NaN": (("--epsilon", 1, "--delta", "nan"), "delta"),
    "two currencies": (("--epsilon", 1, "--mu", 1), "mu"),
    "unknown solver": (("--epsilon", 1, "--solver", "magic"), "solver"),
    "unknown family": (("--epsilon", 1, "--family", "tweedie"), "family"),
    "iterations zero": (("--epsilon", 1, "--iterations", 0), "iterations"),
    "step size zero": (("--epsilon", 1, "--step-size", 0), "--step-size"),
    "passes zero": (("--epsilon", 1, "--max-passes", 0), "--max-passes"),
    "l2 negative": (("--epsilon", 1, "--l2", -1), "l2"),
    "radius negative": (("--epsilon", 1, "--radius", -1), "radius"),
    "row norm negative": (("--epsilon", 1, "--row-norm", -1), "--row-norm"),
    "seed negative": (("--epsilon", 1, "--random-state", -1), "--random-state"),
    "unknown option": (("--epsilon", 1, "--magic"), "--magic"),
}

SCHEMAS: Mapping[str, tuple[str, str]] = {
    "bounds missing": (schema_with('type = "numeric"'), "lower and upper"),
    "bounds reversed": (schema_with('type = "numeric"\nlower = 110\nupper = 0'), "reversed"),
    "bounds too many": (schema_with('type = "numeric"\nlower = [0, 1]\nupper = 9'), "lower"),
    "unknown type": (schema_with('type = "number"'), "type"),
    "unknown relation": (SCHEMA.replace("replace-one", "swap"), "relation"),
    "one class": (SCHEMA.replace("levels = [0, 1]", "levels = [0]"), "two levels"),
    "three classes": (SCHEMA.replace("levels = [0, 1]", "levels = [0, 1, 2]"), "two levels"),
    "no TOML": ("[columns", "TOML"),
    "add-remove without n": (SCHEMA.replace("replace-one", "add-remove"), "n_at_least"),
}

FORMULAS: Mapping[str, tuple[str, str]] = {
    "unknown column": ("readmit ~ agee", "agee"),
    "numeric response": ("age ~ bmi", "binary"),
    "no tilde": ("readmit", "~"),
    "reads the data": ("readmit ~ scale(age)", "scale"),
    "undeclared levels": ("readmit ~ C(age)", "age"),
}

TABLES: Mapping[str, tuple[str, str]] = {
    "text in a numeric column": (text_with(age=f"about {CANARY}"), "age"),
    "missing value": (text_with(age=""), "--invalid-rows zero"),
    "infinite value": (text_with(age="inf"), "--invalid-rows zero"),
    "unknown level": (text_with(ward=f"ward {CANARY}"), "not declared"),
    "unknown label": (text_with(readmit=CANARY), "not declared"),
    "no records": (text_with().splitlines()[0] + "\n", "records"),
    "one record": ("\n".join(text_with().splitlines()[:2]) + "\n", "records"),
    "empty file": ("", "empty"),
    "ragged": (text_with() + f"{CANARY},1\n", "fewer fields"),
}


def check(command: Command, code: int, hint: str, *arguments: object) -> None:
    """Run for a person and for a program; both fail alike, and leave no trace."""
    before = sorted(Path().iterdir())
    outputs = ("--output", "fit.json", "--certificate", "certificate.json")
    for mode in ((), ("--json",)):
        done = command("fit", *arguments, *outputs, *mode)
        assert done.code == code, done
        assert "Traceback" not in done.err
        message = done.document["error"]["message"] if mode else done.err
        assert hint in message
        if mode:
            assert list(done.document) == ["error"]
        else:
            assert done.err.startswith("error: ")
            assert "Coefficients" not in done.out
        for secret in (CANARY, *(str(ROW + shift) for shift in (-1, 0, 1, 2))):
            assert secret not in done.out + done.err
        assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("case", PUBLIC)
def test_settings(clinic: Path, command: Command, case: str) -> None:
    settings, hint = PUBLIC[case]
    check(command, 2, hint, "clinic.csv", FORMULA, "--schema", "clinic.toml", *settings)


@pytest.mark.parametrize("case", SCHEMAS)
def test_schemas(clinic: Path, command: Command, case: str) -> None:
    text, hint = SCHEMAS[case]
    Path("clinic.toml").write_text(text, encoding="utf-8")
    check(command, 2, hint, "clinic.csv", FORMULA, "--schema", "clinic.toml", "--epsilon", 1)


def test_missing_bounds_name_the_ways_out(clinic: Path, command: Command) -> None:
    Path("clinic.toml").write_text(schema_with('type = "numeric"'), encoding="utf-8")
    hint = "fill them in, or delete the column"
    check(command, 2, hint, "clinic.csv", FORMULA, "--schema", "clinic.toml", "--epsilon", 1)


@pytest.mark.parametrize("case", FORMULAS)
def test_formulas(clinic: Path, command: Command, case: str) -> None:
    formula, hint = FORMULAS[case]
    check(command, 2, hint, "clinic.csv", formula, "--schema", "clinic.toml", "--epsilon", 1)


@pytest.mark.parametrize("case", TABLES)
def test_t41_tables(clinic: Path, command: Command, case: str) -> None:
    text, hint = TABLES[case]
    Path("clinic.csv").write_text(text, encoding="utf-8")
    check(command, 3, hint, "clinic.csv", FORMULA, "--schema", "clinic.toml", "--epsilon", 1)


def test_a_declared_column_that_is_not_there(clinic: Path, command: Command) -> None:
    Path("clinic.csv").write_text(text_with().replace("age,", "years,", 1), encoding="utf-8")
    check(command, 2, "age", "clinic.csv", FORMULA, "--schema", "clinic.toml", "--epsilon", 1)


@pytest.mark.parametrize("kept", [0, 4, 2000])
def test_truncated_parquet(clinic: Path, command: Command, kept: int) -> None:
    parquet.write_table(pa.table(clinic_table(800)), "clinic.parquet")
    whole = Path("clinic.parquet").read_bytes()
    Path("clinic.parquet").write_bytes(whole[:kept])
    check(command, 3, "parquet", "clinic.parquet", FORMULA, "--schema", "clinic.toml", "--epsilon", 1)


@pytest.mark.parametrize("name", ["absent.csv", "absent.parquet", "clinic.xls", "empty"])
def test_tables_that_are_none(clinic: Path, command: Command, name: str) -> None:
    Path("empty").mkdir()
    check(command, 3, "", name, FORMULA, "--schema", "clinic.toml", "--epsilon", 1)


def test_a_schema_that_is_none(clinic: Path, command: Command) -> None:
    check(command, 3, "absent", "clinic.csv", FORMULA, "--schema", "absent.toml", "--epsilon", 1)
