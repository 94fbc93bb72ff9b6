"""`tacit schema`: names and types only."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit.planning.demo_table import clinic_table

Command = Callable[..., Any]


def test_template_is_printed(clinic: Path, command: Command) -> None:
    done = command("schema", "clinic.csv")
    assert (done.code, done.err) == (0, "")
    assert "[columns.age]" in done.out
    assert 'relation = "replace-one"' in done.out
    tomllib.loads(done.out)


def test_parquet_gives_types_and_no_values(clinic: Path, command: Command) -> None:
    seen = []
    for n in (5, 50):
        parquet.write_table(pa.table(clinic_table(n, seed=n)), "clinic.parquet")
        seen.append(command("schema", "clinic.parquet", "--json").document)
    assert seen[0] == seen[1]
    kinds = {column["name"]: column["kind"] for column in seen[0]["columns"]}
    assert kinds["age"] == "numeric"
    assert kinds["ward"] == "text"
    assert "surgery" not in seen[0]["template"]
    assert seen[0]["output"] is None


def test_output_file(clinic: Path, command: Command) -> None:
    printed = command("schema", "clinic.csv").out
    done = command("schema", "clinic.csv", "--output", "new.toml")
    assert done.code == 0
    assert "new.toml" in done.out
    assert Path("new.toml").read_text(encoding="utf-8").strip() == printed.strip()
    assert command("schema", "clinic.csv", "--output", "new.toml").code == 3
    assert command("schema", "clinic.csv", "--output", "clinic.csv", "--force").code == 3


@pytest.mark.parametrize("name", ["absent.csv", "clinic.toml"])
def test_bad_files_leave_nothing(clinic: Path, command: Command, name: str) -> None:
    assert command("schema", name, "--output", "new.toml").code == 3
    assert not Path("new.toml").exists()
