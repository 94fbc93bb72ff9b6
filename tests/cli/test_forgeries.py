"""Forged documents of 2 MB cost a verifier no more than 2 seconds, and never a traceback."""

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.cli.app import run
from tacit.cli.output import Screen
from tacit.cli.verify import verify
from tacit.documents.canonical_json import canonical, digest_of
from tacit.errors import CertificateError

FORMER = Path(__file__).parents[1] / "fixtures" / "0.1.0"
SIZE = 2 * 10**6
SECONDS = 6.0
"""Of processor time. Two are asked of a quiet machine; on a shared one the same work takes up to three times as long.

The faults that this is for took 15 s and more.
"""

Document = dict[str, Any]


def gaussian(squared: str = "1", variance: str = "1000003") -> Document:
    return {"event": "gaussian", "squared_sensitivity": squared, "variance": variance, "label": ""}


def repeated(inner: Document, times: str) -> Document:
    return {"event": "repeated", "inner": inner, "times": times}


def nested(depth: int, times: str) -> Document:
    event = gaussian()
    for _ in range(depth):
        event = repeated(event, times)
    return event


def filled(make: Callable[[int], Any], size: int = SIZE) -> list[Any]:
    """As many different items as fit into the size."""
    count = size // (len(canonical({"": make(10**6)})) + 2)
    return [make(number) for number in range(count)]


LONG = "7" * 460
WIDE = {f"k{number}": number for number in range(SIZE // 18)}


def minimum(number: int) -> Document:
    """An entry of a perturbed objective, which is costly to price."""
    document = json.loads((FORMER / "fit-binomial-perturbed.json").read_text("utf-8"))
    entry = next(entry for entry in document["certificate"]["events"] if entry["query"] == "perturbed-minimum")
    return {**entry, "label": str(number)}


# What is put where, of the certificate of a fit.
SINGLE: dict[str, Callable[[Document], Any]] = {
    "many events": lambda d: d["events"].extend(filled(lambda k: d["events"][0])),
    "many minima": lambda d: d.update(events=filled(minimum)),
    "eight minima": lambda d: d.update(events=[minimum(k) for k in range(8)]),
    "huge counts": lambda d: [e.update(times=10**1000) for e in d["events"]],
    "huge count": lambda d: d["events"][0].update(times=2**63 - 1),
    "huge bound": lambda d: d["events"][0]["sensitivity"].update(bound="9" * SIZE),
    "huge bits": lambda d: d["events"][0]["noise"].update(bits=10**9),
    "huge event": lambda d: d["events"][0].update(event=nested(16, LONG)),
    "deep event": lambda d: d["events"][0].update(event=nested(23, "2")),
    "wide event": lambda d: d["events"][0].update(event=WIDE),
    "wide list": lambda d: d["public"][0].update(value=[[]] * (SIZE // 3)),
    "long list": lambda d: d["public"][0].update(value=[0] * (SIZE // 2)),
    "many facts": lambda d: d.update(public=filled(lambda k: {**d["public"][0], "name": str(k)})),
    "assumed facts": lambda d: d.update(public=filled(lambda k: {"name": str(k), "value": True, "source": "assumed"})),
    "many keys": lambda d: d.update(WIDE),
    "many inner keys": lambda d: d["total"].update(WIDE),
    "long unit": lambda d: d.update(unit="row " * (SIZE // 4)),
    "speaking unit": lambda d: d.update(unit="row. Signed by key 00, the one you gave."),
    "long solver": lambda d: d.update(solver="x" * SIZE),
    "long label": lambda d: d["events"][0].update(label="\u202e" * (SIZE // 6)),
    "long why": lambda d: d.update(why_not_private="x" * SIZE),
    "long square": lambda d: d["total"].update(mu_squared="9" * SIZE),
    "long digest": lambda d: d.update(digest="sha256:" + "0" * SIZE),
    "long signature": lambda d: d.update(signature={"value": "0" * SIZE}),
    "long covers": lambda d: d.update(released={"covers": ["x"] * (SIZE // 4), "sha256": ""}),
    "huge budget": lambda d: d["budget"].update(epsilon=1e308, delta=5e-324),
    "tiny budget": lambda d: d["budget"].update(epsilon=5e-324),
    "huge rho": lambda d: d["budget"].update(epsilon=None, rho=1e308),
    "huge records": lambda d: d["records"].update(value=10**1000),
    "a list as format": lambda d: d.update(format=[FORMER.name] * 1000),
    "a list as relation": lambda d: d.update(relation=["replace-one"]),
}
CHARGE = {"sequence": 1, "time": "", "label": "", "release": None}


def charges(make: Callable[[int], Any]) -> Callable[[Document], None]:
    return lambda d: d.update(charges=filled(lambda k: {**CHARGE, "events": [make(k)]}))


def composed(make: Callable[[int], Any]) -> Callable[[Document], None]:
    return lambda d: d["charges"][0].update(events=[{"event": "composed", "events": filled(make), "label": ""}])


JOINT: dict[str, Callable[[Document], Any]] = {
    "many charges": charges(lambda k: gaussian(variance=str(2 * k + 10**6 + 1))),
    "many long charges": charges(lambda k: gaussian(f"{LONG}/{10**459 + 2 * k + 1}", str(10**458 + 2 * k + 1))),
    "many events": composed(lambda k: gaussian(variance=str(2 * k + 10**6 + 1))),
    "many long events": composed(lambda k: gaussian("1", str(10**460 + 2 * k + 1))),
    "some long events": lambda d: d["charges"][0].update(
        events=[gaussian("1", str(10**400 + 2 * number + 1)) for number in range(3100)]
    ),
    "huge counts": charges(lambda k: nested(15, str(10**458 + k))),
    "huge exponents": charges(lambda k: gaussian("1/" + LONG, LONG)),
    "deep event": lambda d: d["charges"][0].update(events=[nested(18, "2")]),
    "deep and wide": lambda d: d["charges"][0].update(events=filled(lambda k: nested(12, "2"))),
    "sampled": charges(
        lambda k: {"event": "poisson-sampled", "inner": gaussian(variance=str(k + 1)), "rate": "1/7", "label": ""}
    ),
    "stopped": charges(
        lambda k: {
            "event": "random-stopping",
            "inner": gaussian(variance=str(k + 1)),
            "law": {"law": "poisson", "mean": "9"},
            "label": "",
        }
    ),
    "votes": charges(lambda k: {"event": "votes", "variance": str(k + 1), "queries": LONG}),
    "many analysts": lambda d: d.update(
        format="tacit-ledger-certificate/2",
        capacity="1/2",
        charges=filled(
            lambda k: {
                **CHARGE,
                **dict.fromkeys(("project", "formula", "file", "key"), None),
                "analyst": str(k),
                "events": [gaussian(variance=str(10**9))],
            }
        ),
    ),
    "empty charges": lambda d: d.update(charges=[[]] * (SIZE // 3)),
    "no charges": lambda d: d.update(charges=[]),
    "many keys": lambda d: d["charges"][0].update(WIDE),
    "long square": lambda d: d["total"].update(mu_squared="9" * SIZE),
    "long fraction": lambda d: d["total"].update(mu_squared="9" * 4200 + "/" + "7" * 4200),
    "long unit": lambda d: d.update(unit="row " * (SIZE // 4)),
    "long dataset": lambda d: d.update(dataset="x" * SIZE),
    "speaking unit": lambda d: d.update(unit="row. Signed by key 00, the one you gave."),
    "huge budget": lambda d: d["budget"].update(epsilon=1e308, delta=5e-324),
    "huge mu": lambda d: d["budget"].update(epsilon=None, mu=1e308),
    "tiny budget": lambda d: d["budget"].update(epsilon=5e-324),
    "huge entries": lambda d: d["ledger"].update(entries=10**1000),
    "a list as format": lambda d: d.update(format=[1]),
    "a list as relation": lambda d: d.update(relation=[]),
}
# Documents that no honest writer of JSON would write.
RAW = {
    "huge whole number": '{"format": ' + "9" * SIZE + "}",
    "huge float": '{"format": 0.' + "9" * SIZE + "}",
    "huge exponent": '{"format": 1e' + "9" * SIZE + "}",
    "many numbers": '{"format": [' + "9" * 1000 + ("," + "9" * 1000) * (SIZE // 1001) + "]}",
    "deep lists": "[" * SIZE,
    "deep objects": '{"a":' * (SIZE // 5),
    "closed deep lists": '{"a":' + "[" * (SIZE // 2) + "]" * (SIZE // 2) + "}",
    "empty lists": '{"format": [' + "[]," * (SIZE // 3) + "[]]}",
    "many empty lists": '{"format": [' + "[]," * (2**24 // 3 - 10) + "[]]}",
    "duplicate keys": '{"a": 1, ' * 1 + '"a": 1,' * (SIZE // 7) + '"a": 1}',
    "not a number": '{"format": NaN}',
    "infinity": '{"format": -Infinity}',
    "half a character": '{"format": "' + "\\ud800" * (SIZE // 6) + '"}',
    "one long string": '"' + "x" * SIZE + '"',
    "many escapes": '{"format": "' + "\\u0041" * (SIZE // 6) + '"}',
    "white space": " " * SIZE,
    "cut short": '{"format": "tacit-certificate/2", "total": {',
    "not text": "\udcff",
}


def forge(name: str, change: Callable[[Document], Any]) -> str:
    """Alter a document and compute its digest again, where it can still be computed."""
    document = json.loads((FORMER / name).read_text(encoding="utf-8"))
    digest = document["digest"]
    change(document)
    if document["digest"] == digest:
        document["digest"] = digest_of(document)
    return canonical(document)


def seconds(text: str, capsys: pytest.CaptureFixture[str]) -> tuple[bool, float]:
    """Whether a document is accepted, and how much time that took; any other error escapes."""
    Path("forged.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    accepted, began = False, time.process_time()
    with contextlib.suppress(CertificateError):
        verify(Path("forged.json"), screen=Screen())
        accepted = True
    took = time.process_time() - began
    assert len(capsys.readouterr().out) < 20_000
    return accepted, took


HARMLESS = {"long unit", "speaking unit", "long solver", "long dataset", "long label"}
HARMLESS |= {"wide list", "long list", "many facts", "assumed facts", "huge entries", "huge rho", "huge mu"}


@pytest.mark.parametrize("kind", SINGLE)
def test_certificates(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    accepted, took = seconds(forge("certificate.json", SINGLE[kind]), capsys)
    assert took < SECONDS
    assert not accepted or kind in HARMLESS


@pytest.mark.parametrize("kind", JOINT)
def test_certificates_of_ledgers(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    accepted, took = seconds(forge("ledger.json", JOINT[kind]), capsys)
    assert took < SECONDS
    assert not accepted or kind in HARMLESS


@pytest.mark.parametrize("kind", RAW)
def test_raw_documents(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    accepted, took = seconds(RAW[kind], capsys)
    assert took < SECONDS
    assert not accepted


@pytest.mark.parametrize("kind", ["many charges", "huge counts", "a list as format", "long unit"])
def test_the_command_refuses_or_verifies(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("forged.json").write_text(forge("ledger.json", JOINT[kind]), encoding="utf-8")
    for mode in ([], ["--json"]):
        code = run(["verify", "forged.json", *mode])
        captured = capsys.readouterr()
        assert code == (0 if kind in HARMLESS else 4)
        assert "Traceback" not in captured.err


@pytest.mark.parametrize("name", ["certificate.json", "ledger.json"])
def test_a_unit_is_quoted_wherever_it_is_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("forged.json").write_text(forge(name, SINGLE["speaking unit"]), encoding="utf-8")
    assert run(["verify", "forged.json"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("Signed by key") == 2
    assert out.count('"row. Signed by key 00, the one you gave."') == 2
