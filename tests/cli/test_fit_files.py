"""A file as a spreadsheet writes it: refused with the flag to add, fitted with flags or with a schema (U8)."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from tacit.estimators.fit import load
from tests.cli.conftest import Command

SCHEMA = """
[columns."größe"]
type = "numeric"
lower = 1.2
upper = 2.2
[columns.aufnahme]
type = "date"
lower = 2015-01-01
upper = 2024-12-31
format = "%d.%m.%Y"
unit = "years"
[columns.station]
type = "factor"
levels = ["Innere", "Gynäkologie"]
[columns."rückkehr"]
type = "binary"
"""
FORMULA = "rückkehr ~ größe + aufnahme + station"
FLAGS = ("--delimiter", ";", "--decimal", ",", "--encoding", "latin-1", "--missing", -99, "--invalid-rows", "zero")


@pytest.fixture
def klinik(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = ["größe;aufnahme;station;rückkehr"]
    for index in range(800):
        height = "-99" if index == 5 else f"{rng.normal(1.7, 0.1):.2f}".replace(".", ",")
        day = date(2015, 1, 1) + timedelta(days=int(rng.integers(3650)))
        lines.append(f"{height};{day:%d.%m.%Y};{rng.choice(['Innere', 'Gynäkologie'])};{rng.integers(2)}")
    (tmp_path / "klinik.csv").write_text("\r\n".join(lines), encoding="latin-1")
    (tmp_path / "klinik.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def test_each_refusal_names_the_next_flag(command: Command, klinik: Path) -> None:
    asked = ("fit", "klinik.csv", FORMULA, "--schema", "klinik.toml", "--epsilon", 1)
    told = []
    for given in (0, 1, 2):
        order = (("--encoding", "latin-1"), ("--delimiter", ";"))
        outcome = command(*asked, *(part for pair in order[:given] for part in pair))
        assert outcome.code in (2, 3)
        told.append(outcome.err)
    assert "add --encoding cp1252" in told[0]
    assert "add --delimiter ';'" in told[1]
    assert "--invalid-rows zero" in told[2]
    assert "--missing" in told[2]


def test_flags_and_a_schema_are_the_same_fit(command: Command, klinik: Path) -> None:
    asked = ("fit", "klinik.csv", FORMULA, "--epsilon", 5, "--random-state", 1, "--quiet")
    assert command(*asked, "--schema", "klinik.toml", *FLAGS, "--output", "flags.json").code == 0
    declared = 'missing_codes = [-99]\n[file]\ndelimiter = ";"\ndecimal = ","\nencoding = "cp1252"\n'
    Path("full.toml").write_text(declared + SCHEMA, encoding="utf-8")
    given = (*asked, "--schema", "full.toml", "--invalid-rows", "zero", "--output", "schema.json")
    assert command(*given).code == 0
    flags, schema = load("flags.json"), load("schema.json")
    assert flags.params.equals(schema.params)
    facts = {fact["name"]: fact["value"] for fact in flags.certificate.parsed["public"]}
    assert facts["file"] == {"delimiter": ";", "decimal": ",", "encoding": "iso8859-1"}
    assert facts["missing_codes"] == ["-99"]
    assert facts["dates"]["aufnahme"]["unit"] == "years"


def test_a_stored_fit_knows_how_its_table_was_written(command: Command, klinik: Path) -> None:
    asked = ("fit", "klinik.csv", FORMULA, "--schema", "klinik.toml", "--epsilon", 5, "--quiet", *FLAGS)
    assert command(*asked, "--output", "fit.json").code == 0
    same = command("predict", "fit.json", "klinik.csv")
    assert len(same.out.splitlines()) == 801
    text = Path("klinik.csv").read_text(encoding="latin-1").replace(",", ".").replace(";", ",")
    Path("other.csv").write_text(text, encoding="utf-8")
    flags = ("--delimiter", "comma", "--decimal", ".", "--encoding", "utf-8")
    assert command("predict", "fit.json", "other.csv", *flags).out == same.out


def test_a_template_has_what_the_first_line_says(command: Command, klinik: Path) -> None:
    text = command("schema", "klinik.csv").out
    assert 'delimiter = ";"' in text
    assert 'encoding = "cp1252"' in text
    assert '# decimal = ","' in text
    assert '[columns."größe"]' in text
    assert "Gynäkologie" not in text
