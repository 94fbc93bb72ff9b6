"""`tacit report`: one page, from a certificate, a fit or a ledger; bad files are refused and nothing is written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.conftest import fresh_process

Command = Callable[..., Any]
FIT = ("fit", "clinic.csv", "readmit ~ age", "--schema", "clinic.toml", "--epsilon", 3, "-q")
__all__ = ["fresh_process"]


@pytest.fixture
def kept(clinic: Path, command: Command) -> Path:
    assert command("key", "key.pem").code == 0
    assert command(*FIT, "-o", "fit.json", "--certificate", "certificate.json", "--sign", "key.pem").code == 0
    assert command("ledger", "create", "ledger.db", "--epsilon", 4).code == 0
    return clinic


def test_a_page_and_text_of_each_kind(kept: Path, command: Command) -> None:
    for name in ("certificate.json", "fit.json", "ledger.db"):
        done = command("report", name, "--text", f"{name}.txt", "--force")
        assert (done.code, done.err) == (0, "")
        assert "The report is in" in done.out
        page = Path(name).with_suffix(".html").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>")
        assert "Privacy report of a" in Path(f"{name}.txt").read_text(encoding="utf-8")
    signed = command("report", "fit.json", "-o", "signed.html", "--key", "key.pem.pub", "--json").document
    assert signed == {"output": "signed.html", "text": None, "good": True, "verdict": signed["verdict"]}
    assert "Signed by" in Path("signed.html").read_text(encoding="utf-8")


def test_a_ledger_and_its_certificate_say_the_same(kept: Path, command: Command) -> None:
    assert command(*FIT, "--ledger", "ledger.db", "--delta", 1e-6).code == 0
    assert command("ledger", "certificate", "ledger.db", "-o", "joint.json").code == 0
    pages = []
    for name in ("ledger.db", "joint.json"):
        assert command("report", name, "--text", f"{name}.txt").code == 0
        pages.append(Path(f"{name}.txt").read_text(encoding="utf-8"))
    assert all("One charge: private, with ε = " in page for page in pages)
    assert all("readmit ~ age" in page for page in pages)
    assert "Left: about" in pages[0]


def altered(kept: Path) -> None:
    document = json.loads((kept / "certificate.json").read_text(encoding="utf-8"))
    document["total"]["epsilon"] = 0.1
    (kept / "altered.json").write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("missing.json",), 3, "cannot be read"),
        ((".",), 3, "cannot be read"),
        (("clinic.csv",), 4, "cannot be read as JSON"),
        (("clinic.toml",), 4, "cannot be read as JSON"),
        (("other.json",), 4, "format"),
        (("altered.json",), 4, "digest"),
        (("damaged.db",), 4, ""),
        (("fit.json", "-o", "page.pdf"), 2, "a report is an .html file"),
        (("fit.json", "-o", "fit.json"), 2, "a report is an .html file"),
        (("fit.json", "-o", "nowhere/page.html"), 3, "directory does not exist"),
        (("fit.json", "--key", "00"), 3, "cannot be read"),
        (("fit.json", "--key", "00" * 32), 4, ""),
        (("ledger.db", "--key", "00"), 2, "a ledger is not signed"),
    ],
)
def test_bad_files_and_names_are_refused(
    kept: Path, command: Command, arguments: tuple[str, ...], code: int, words: str
) -> None:
    altered(kept)
    (kept / "other.json").write_text('{"format": "something else"}', encoding="utf-8")
    (kept / "damaged.db").write_bytes((kept / "ledger.db").read_bytes()[:-20])
    before = set(kept.rglob("*"))
    done = command("report", *arguments)
    assert done.code == code, done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert set(kept.rglob("*")) == before


def test_an_existing_page_is_kept_unless_forced(kept: Path, command: Command) -> None:
    assert command("report", "fit.json").code == 0
    done = command("report", "fit.json")
    assert done.code == 3
    assert "exists" in done.err
    assert command("report", "fit.json", "--force").code == 0
