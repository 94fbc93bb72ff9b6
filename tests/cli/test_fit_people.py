"""`tacit plan` and `tacit fit` where the schema names a column of persons."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Command = Callable[..., Any]
SCHEMA = """
[unit]
column = "patient_nbr"
max_rows = 2
order = "encounter"

[columns.age]
type = "numeric"
lower = 0
upper = 110

[columns.readmit]
type = "binary"
"""
FIT = ("fit", "visits.csv", "readmit ~ age", "--schema", "visits.toml")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Three encounters of each of 400 patients, in a file in no order."""
    rng = np.random.default_rng(0)
    patient, age = np.repeat(np.arange(400), 3), rng.uniform(20, 90, 1200)
    readmit = (age - 55) / 20 + rng.logistic(size=1200) > 0
    rows = [f"{patient[i]},{i},{age[i]:.3f},{int(readmit[i])}" for i in rng.permutation(1200).tolist()]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_nbr,encounter,age,readmit", *rows]), encoding="utf-8")
    (tmp_path / "visits.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def test_fit_is_for_patients(visits: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 2)
    assert (done.code, done.err) == (0, "")
    assert "replace-one, per patient_nbr" in done.out
    assert "on 400 records" in done.out
    assert "all records of any one patient_nbr" in done.out


def test_json_counts_patients_and_the_stored_fit_verifies(visits: Path, command: Command) -> None:
    done = command(*FIT, "--epsilon", 2, "--json", "--output", "fit.json")
    assert done.document["unit"] == "patient_nbr"
    stored = json.loads((visits / "fit.json").read_text(encoding="utf-8"))
    certificate = stored["certificate"]
    assert certificate["records"] == {"which": "n", "value": 400}
    assert "1200" not in json.dumps(certificate)
    assert command("verify", "fit.json").code == 0
    assert command("predict", "fit.json", "visits.csv").code == 0


def test_plan_is_of_patients(visits: Path, command: Command) -> None:
    plan = ("plan", "readmit ~ age", "--schema", "visits.toml", "--epsilon", 2)
    done = command(*plan, "--n", 400, "--json")
    assert done.code == 0
    assert done.document["unit"] == "patient_nbr"
    assert done.document["records"] == 400


def test_a_file_without_the_column_is_refused(visits: Path, command: Command) -> None:
    schema = SCHEMA.replace("patient_nbr", "person")
    (visits / "visits.toml").write_text(schema, encoding="utf-8")
    done = command(*FIT, "--epsilon", 2)
    assert done.code != 0
    assert "person" in done.err
