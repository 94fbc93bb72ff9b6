"""A stored fit that was altered after it was kept is refused, wherever it was altered."""

import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.certificate.stated_parts import fingerprint_of
from tacit.cli.output import Screen
from tacit.cli.verify import verify
from tacit.documents.canonical_json import canonical, digest_of
from tacit.errors import CertificateError

Command = Callable[..., Any]
Document = dict[str, Any]
Place = tuple[str | int, ...]

MUTATIONS = 500
OUTSIDE = {"format", "certificate", "digest"}


@pytest.fixture
def fits(clinic: Path, command: Command) -> dict[str, Document]:
    """A fit with intervals and a factor, signed, and one that is not."""
    fit = ("fit", "clinic.csv", "readmit ~ age + C(ward)", "--schema", "clinic.toml")
    assert command("key", "key.pem").code == 0
    assert command(*fit, "--epsilon", 9, "-o", "signed.json", "--sign", "key.pem").code == 0
    assert command(*fit, "--epsilon", 9, "-o", "unsigned.json").code == 0
    names = ("signed", "unsigned")
    return {name: json.loads(Path(f"{name}.json").read_text("utf-8")) for name in names}


def places(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value of a document and where it stands, containers included."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key), inner
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def changed(value: Any) -> Iterator[Any]:
    """Other values of the same type, and the same value as another type."""
    match value:
        case bool():
            yield from (not value, int(value), str(value))
        case int():
            yield from (value + 1, float(value), str(value))
        case float():
            yield from (value / 2, -value, 0.0, str(value), None)
            yield int(value)
        case str():
            yield from (value + "x", value.upper(), "", 1, [value])
        case None:
            yield from (0.0, "", [], {})
        case list():
            yield from (value[::-1], value[:-1], [*value, None], [value], {})
            yield [*value, *value[:1]]
        case dict():
            yield from ({**value, "further": None}, dict(list(value.items())[1:]), [value], None)


def mutations(document: Document) -> Iterator[tuple[Place, Document]]:
    """The document with one thing changed, deleted, added, swapped, reordered or retyped."""
    spelled = canonical(document)

    def at(path: Place, change: Callable[[Any, Any], None]) -> Iterator[tuple[Place, Document]]:
        altered = json.loads(spelled)
        inner = altered
        for key in path[:-1]:
            inner = inner[key]
        change(inner, path[-1])
        if canonical(altered) != spelled:
            yield path, altered

    def put(value: Any) -> Callable[[Any, Any], None]:
        return lambda inner, key: inner.__setitem__(key, value)

    def swap(inner: Any, key: Any) -> None:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        other = keys[(keys.index(key) + 1) % len(keys)]
        inner[key], inner[other] = inner[other], inner[key]

    for path, value in places(document):
        if path == ("digest",):
            continue
        for other in changed(value):
            yield from at(path, put(other))
        yield from at(path, lambda inner, key: inner.__delitem__(key))
        yield from at(path, swap)


def forged(document: Document, *, certificate: bool) -> Document:
    """The forger's document: digests recomputed as far as he can, the signature as it was."""
    inner = document.get("certificate")
    if certificate and isinstance(inner, dict):
        parts = {name: document[name] for name in set(document) - OUTSIDE}
        inner = {**inner, "released": fingerprint_of(parts)}
        document = {**document, "certificate": {**inner, "digest": digest_of(inner)}}
    return {**document, "digest": digest_of(document)}


def drawn(document: Document, *, certificate: bool, inside: bool) -> list[tuple[Place, Document]]:
    """So many of all forgeries, the same in every run; with those of the certificate or not."""
    found = [m for m in mutations(document) if inside or m[0][0] != "certificate"]
    altered = [(path, forged(other, certificate=certificate)) for path, other in found]
    # An alteration of what the forger then computes again is none.
    altered = [case for case in altered if canonical(case[1]) != canonical(document)]
    assert len(altered) >= MUTATIONS
    return random.Random(0).sample(altered, MUTATIONS)


def passing(cases: list[tuple[Place, Document]], key: str | None) -> list[Place]:
    """The places where `tacit verify` let an alteration pass."""
    passed = []
    for path, document in cases:
        Path("altered.json").write_text(json.dumps(document), encoding="utf-8")
        # Any other error would be a traceback, and fails here.
        with contextlib.suppress(CertificateError):
            verify(Path("altered.json"), key=key, screen=Screen())
            passed.append(path)
    return passed


@pytest.mark.parametrize("recomputed", [False, True])
def test_500_of_500_alterations_of_a_signed_fit_are_refused(fits: dict[str, Document], recomputed: bool) -> None:
    cases = drawn(fits["signed"], certificate=recomputed, inside=True)
    assert len(cases) == MUTATIONS
    assert passing(cases, "key.pem.pub") == []


def test_500_of_500_alterations_beside_an_untouched_certificate_are_refused(fits: dict[str, Document]) -> None:
    cases = drawn(fits["unsigned"], certificate=False, inside=False)
    assert len(cases) == MUTATIONS
    assert passing(cases, None) == []


def swap_classes(document: Document) -> None:
    document["design"]["response"]["classes"].reverse()


def halve_bounds(document: Document) -> None:
    for column in document["design"]["columns"]:
        column["upper"] /= 2


def call_it_nominal(document: Document) -> None:
    document["reliability"]["notes"] = ["All is well."]


@pytest.mark.parametrize("change", [swap_classes, halve_bounds, call_it_nominal])
def test_the_command_refuses_what_predictions_and_summaries_would_use(
    fits: dict[str, Document], change: Callable[[Document], None]
) -> None:
    document = fits["signed"]
    change(document)
    for recomputed in (False, True):
        text = json.dumps(forged(document, certificate=recomputed))
        Path("altered.json").write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "tacit", "verify", "altered.json", "--key", "key.pem.pub"],
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 4
        assert done.stderr.startswith("error: ")


def test_where_nobody_signed_nobody_can_tell(fits: dict[str, Document], command: Command) -> None:
    """Said in docs/certificate.md: a forger of an unsigned fit recomputes every digest."""
    document = fits["unsigned"]
    document["design"]["response"]["classes"].reverse()
    text = json.dumps(forged(document, certificate=True))
    Path("altered.json").write_text(text, encoding="utf-8")
    done = command("verify", "altered.json")
    assert done.code == 0
    assert "nobody vouches for it" in done.out
    assert command("verify", "altered.json", "--key", "key.pem.pub").code == 4


def test_a_part_that_a_later_version_adds_is_covered_and_kept(fits: dict[str, Document], command: Command) -> None:
    document = fits["unsigned"]
    document["further"]["curvature"] = {"matrix": [[1.0]]}
    Path("later.json").write_text(json.dumps(forged(document, certificate=True)), "utf-8")
    assert command("verify", "later.json").code == 0
    assert command("verify", "later.json", "--json").document["not_covered"] == []
    again = json.loads(Path("later.json").read_text("utf-8"))
    again["further"]["curvature"]["matrix"][0][0] = 2.0
    Path("later.json").write_text(json.dumps(forged(again, certificate=False)), "utf-8")
    assert command("verify", "later.json").code == 4
