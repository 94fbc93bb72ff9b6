"""`tacit verify` and `tacit key`."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tacit.certificate.fit_file import StoredFit
from tacit.certificate.holdout_certificate import HoldoutCertificate
from tacit.certificate.stated_parts import fingerprint_of
from tacit.contract.holdout_price import holdout_price
from tacit.documents.canonical_json import digest_of, plain
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

Command = Callable[..., Any]
FIT = ("fit", "clinic.csv", "readmit ~ age", "--schema", "clinic.toml")
FILES = ("-o", "fit.json", "--certificate", "certificate.json")


@pytest.fixture
def kept(clinic: Path, command: Command) -> Path:
    assert command("key", "key.pem").code == 0
    assert command(*FIT, "--epsilon", 3, *FILES).code == 0
    signed = ("-o", "signed.json", "--certificate", "s.json", "--sign", "key.pem")
    assert command(*FIT, "--epsilon", 3, *signed).code == 0
    return clinic


def alter(path: str, change: Callable[[dict[str, Any]], None], *, redigest: bool) -> None:
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    change(document)
    if redigest:
        document["digest"] = digest_of(document)
    Path(path).write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("name", ["certificate.json", "fit.json"])
def test_unsigned_says_consistency_only(kept: Path, command: Command, name: str) -> None:
    done = command("verify", name)
    assert (done.code, done.err) == (0, "")
    assert "Only consistency was checked" in done.out
    assert "noise / sensitivity" in done.out
    document = command("verify", name, "--json").document
    assert document["consistent"] is True
    assert document["signed"] is False
    assert document["signer"] is None
    assert document["private"] is True
    assert 2.9 < document["epsilon"] <= 3
    assert document["relation"] == "replace-one"
    assert document["digest"].startswith("sha256:")


@pytest.mark.parametrize("name", ["s.json", "signed.json"])
def test_signed(kept: Path, command: Command, name: str) -> None:
    public = Path("key.pem.pub").read_text(encoding="utf-8").strip()
    for key in ("key.pem.pub", public):
        document = command("verify", name, "--key", key, "--json").document
        assert (document["signed"], document["signer"]) == (True, public)
    assert command("verify", name, "--key", "ab" * 32).code == 4


def test_a_key_asks_for_a_signature(kept: Path, command: Command) -> None:
    done = command("verify", "certificate.json", "--key", "key.pem.pub")
    assert done.code == 4
    assert "signature is missing" in done.err


def smaller_epsilon(document: dict[str, Any]) -> None:
    document["total"]["epsilon"] /= 2


def fewer_times(document: dict[str, Any]) -> None:
    next(event for event in document["events"] if event["times"] > 1)["times"] = 1


def other_relation(document: dict[str, Any]) -> None:
    document["relation"] = "zero-out"


@pytest.mark.parametrize("change", [smaller_epsilon, fewer_times, other_relation])
@pytest.mark.parametrize("redigest", [False, True])
def test_altered_certificates(
    kept: Path, command: Command, change: Callable[[dict[str, Any]], None], redigest: bool
) -> None:
    alter("certificate.json", change, redigest=redigest)
    for mode in ((), ("--json",)):
        done = command("verify", "certificate.json", *mode)
        assert done.code == 4
        message = done.document["error"]["message"] if mode else done.err
        assert ("digest" in message.lower()) is not redigest


def test_an_altered_fit(kept: Path, command: Command) -> None:
    alter("fit.json", lambda document: document["terms"].reverse(), redigest=False)
    assert command("verify", "fit.json").code == 4


@pytest.mark.parametrize(("name", "code"), [("clinic.csv", 4), ("absent.json", 3)])
def test_what_is_no_certificate(kept: Path, command: Command, name: str, code: int) -> None:
    assert command("verify", name).code == code


def test_no_guarantee_is_said_to_be_none(clinic: Path, command: Command) -> None:
    assert command(*FIT, "--epsilon", "inf", *FILES).code == 0
    done = command("verify", "certificate.json")
    assert done.code == 0
    assert "No guarantee is stated" in done.out
    assert command("verify", "certificate.json", "--json").document["epsilon"] == "inf"


def test_keys_are_never_overwritten(tmp_path: Path, command: Command) -> None:
    done = command("key", "key.pem", "--json")
    assert done.document["public_key"] == "key.pem.pub"
    assert Path("key.pem.pub").read_text(encoding="utf-8").strip() == done.document["public"]
    assert Path("key.pem").stat().st_mode & 0o077 == 0
    before = Path("key.pem").read_bytes()
    assert command("key", "key.pem").code == 3
    assert Path("key.pem").read_bytes() == before


def test_the_certificate_of_a_holdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.chdir(tmp_path)
    budget, relation = Budget(epsilon=1.0, delta=0.0), Relation.REPLACE_ONE
    price = holdout_price(budget, relation, 3, 100)
    made = HoldoutCertificate.issue(price, budget, relation, "row", records=100, answers=[], seeded=False)
    Path("holdout.json").write_text(made.to_json(), encoding="utf-8")
    done = command("verify", "holdout.json")
    assert (done.code, done.err) == (0, "")
    assert "answer of the holdout" in done.out
    assert command("verify", "holdout.json", "--json").document["epsilon"] <= 1.0
    alter("holdout.json", lambda it: it.update(releases=2), redigest=True)
    assert command("verify", "holdout.json").code == 4


def test_a_fit_is_found_among_the_charges_of_a_ledger(kept: Path, command: Command) -> None:
    assert command("ledger", "create", "clinic.ledger", "--epsilon", 9, "--delta", 1e-6).code == 0
    for name in ("one", "two"):
        charged = ("--ledger", "clinic.ledger", "-o", f"{name}.json")
        assert command(*FIT, "--epsilon", 1, "--delta", 1e-6, *charged).code == 0
    assert command("ledger", "certificate", "clinic.ledger", "-o", "joint.json").code == 0
    found = command("verify", "joint.json", "--fit", "two.json")
    assert found.code == 0
    assert "is charge 2 of 2: readmit ~ age" in found.out
    assert "standard errors, intervals and labels were compared" in " ".join(found.out.split())
    release = command("verify", "two.json", "--json").document["release"]
    assert release.removeprefix("sha256:")[:8] in command("ledger", "show", "clinic.ledger").out
    assert command("verify", "joint.json", "--fit", "fit.json").code == 4
    assert command("verify", "fit.json", "--fit", "fit.json").code == 2


def test_other_intervals_are_found_beside_the_charge_of_a_ledger(kept: Path, command: Command) -> None:
    assert command("ledger", "create", "clinic.ledger", "--epsilon", 9, "--delta", 1e-6).code == 0
    assert command(*FIT, "--epsilon", 3, "--delta", 1e-6, "--ledger", "clinic.ledger", "-o", "one.json").code == 0
    assert command("ledger", "certificate", "clinic.ledger", "-o", "joint.json").code == 0
    stored = StoredFit.read("one.json")
    terms = tuple(replace(term, std_err=(term.std_err or 0) / 2) for term in stored.estimates.terms)
    document = {**stored.document, "terms": plain([asdict(term) for term in terms])}
    parts = {name: document[name] for name in stored.certificate.covers}
    certificate = {**stored.certificate.document, "released": fingerprint_of(parts)}
    document["certificate"] = {**certificate, "digest": digest_of(certificate)}
    Path("forged.json").write_text(json.dumps({**document, "digest": digest_of(document)}), encoding="utf-8")
    assert command("verify", "forged.json").code == 0
    refused = command("verify", "joint.json", "--fit", "forged.json")
    assert refused.code == 4
    assert "other standard errors or intervals than follow from its release" in " ".join(refused.err.split())
    assert command("verify", "joint.json", "--fit", "one.json").code == 0


def test_the_words_of_a_charge_do_not_command_a_terminal(kept: Path, command: Command) -> None:
    assert command("ledger", "create", "clinic.ledger", "--epsilon", 9, "--delta", 1e-6).code == 0
    charged = ("--ledger", "clinic.ledger", "-o", "one.json")
    assert command(*FIT, "--epsilon", 1, "--delta", 1e-6, *charged).code == 0
    assert command("ledger", "certificate", "clinic.ledger", "-o", "joint.json").code == 0
    speaking = "a\x1b[2J\x07\u202e\x9b31m"
    alter("joint.json", lambda it: it["charges"][0].update(formula=speaking, time=speaking), redigest=True)
    done = command("verify", "joint.json", "--fit", "one.json")
    assert done.code == 0
    assert "is charge 1 of 1" in done.out
    assert all(character.isprintable() or character == "\n" for character in done.out)


def test_intervals_that_were_added_to_a_fit_without_any_are_not_vouched_for(kept: Path, command: Command) -> None:
    assert command("ledger", "create", "clinic.ledger", "--epsilon", 9, "--delta", 1e-6).code == 0
    charged = ("--ledger", "clinic.ledger", "-o", "bare.json", "--no-inference")
    assert command(*FIT, "--epsilon", 1, "--delta", 1e-6, *charged).code == 0
    assert command("ledger", "certificate", "clinic.ledger", "-o", "joint.json").code == 0
    bare, whole = StoredFit.read("bare.json"), StoredFit.read("fit.json")
    named = zip(bare.estimates.terms, whole.estimates.terms, strict=True)
    terms = tuple(replace(other, coef=own.coef) for own, other in named)
    inside = {**whole.document, "further": whole.further}
    document = {**bare.document, **{name: inside[name] for name in ("scatter", "covariance", "reliability", "further")}}
    document["terms"] = [asdict(term) for term in terms]
    covered = {name: part for name, part in document.items() if name not in {"format", "certificate", "digest"}}
    certificate = {**document["certificate"], "released": fingerprint_of(covered), "signature": None}
    document["certificate"] = {**certificate, "digest": digest_of(certificate)}
    Path("forged.json").write_text(json.dumps({**document, "digest": digest_of(document)}), encoding="utf-8")
    found = command("verify", "joint.json", "--fit", "forged.json", "--json")
    assert found.code == 0
    assert "standard errors and intervals cannot be" in found.document["compared"]
