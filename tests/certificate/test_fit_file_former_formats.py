"""Documents of 0.1.0, made by 0.1.0, are read, checked and used as they were."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.certificate.certificate import Certificate
from tacit.certificate.fit_file import StoredFit
from tacit.cli.app import run
from tacit.documents.canonical_json import canonical, digest_of
from tacit.errors import CertificateError
from tacit.ledger.joint_certificate import JointCertificate

FORMER = Path(__file__).parents[1] / "fixtures" / "0.1.0"
EXPECTED: dict[str, Any] = json.loads((FORMER / "expected.json").read_text(encoding="utf-8"))
FITS = sorted(EXPECTED["predictions"])
DOCUMENTS = sorted(path.name for path in FORMER.glob("*.json") if path.name != "expected.json")


@pytest.mark.parametrize("name", FITS)
def test_fits_predict_the_same(name: str, tmp_path: Path) -> None:
    fit = tacit.load(FORMER / f"fit-{name}.json")
    found = fit.predict(pa.table(EXPECTED["new"]))
    np.testing.assert_allclose(found, EXPECTED["predictions"][name], rtol=1e-13)
    assert fit.not_covered == ("design", "family")
    assert len(fit.params)
    assert str(fit.summary())
    fit.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text(encoding="utf-8")) == json.loads(
        (FORMER / f"fit-{name}.json").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_all_of_them_verify(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    key = ["--key", EXPECTED["public_key"]] if "signed" in name else []
    assert run(["verify", str(FORMER / name), *key]) == 0
    assert run(["verify", str(FORMER / name), *key, "--json"]) == 0
    out = capsys.readouterr().out
    assert ("It does not cover the design and the family" in out) == name.startswith("fit")
    document = json.loads(out[out.rindex('{\n  "consistent"') :])
    assert document["signed"] == ("signed" in name)
    if name.startswith("fit"):
        assert (document["covers"], document["not_covered"]) == (["terms"], ["design", "family"])


def test_what_the_former_certificate_does_not_cover_can_be_altered_and_is_said_so() -> None:
    text = (FORMER / "fit-binomial-signed.json").read_text(encoding="utf-8")
    document = json.loads(text)
    document["design"]["response"]["classes"].reverse()
    document["digest"] = digest_of(document)
    found = StoredFit.from_json(canonical(document)).check(EXPECTED["public_key"])
    assert found.not_covered == ("design", "family")
    assert "no check can tell" in found.statement


def test_a_fit_cannot_be_passed_off_as_of_the_former_format() -> None:
    """A certificate that covers the design does not stand in a file that leaves it uncovered."""
    former = json.loads((FORMER / "fit-binomial.json").read_text(encoding="utf-8"))
    certificate = {**former["certificate"], "format": "tacit-certificate/2"}
    certificate["released"] = {"covers": ["terms"], "sha256": "0" * 64}
    certificate["digest"] = digest_of(certificate)
    former["certificate"] = certificate
    former["digest"] = digest_of(former)
    with pytest.raises(CertificateError, match="another format"):
        StoredFit.from_json(canonical(former))


@pytest.mark.parametrize("name", ["ledger.json", "ledger-odd.json", "ledger-square.json"])
def test_the_square_of_a_former_ledger_is_exact(name: str) -> None:
    certificate = JointCertificate.from_json((FORMER / name).read_bytes())
    assert certificate.check().consistent
    document = certificate.document
    first, slash, rest = document["total"]["mu_squared"].partition("/")
    for change in (1, -1):
        document["total"]["mu_squared"] = f"{int(first) + change}{slash}{rest}"
        document["digest"] = digest_of(document)
        with pytest.raises(CertificateError, match="mu_squared"):
            JointCertificate(canonical(document)).check()


def test_certificates_read_and_write_as_they_were() -> None:
    text = (FORMER / "certificate.json").read_text(encoding="utf-8")
    certificate = Certificate.from_json(text)
    assert certificate.to_json() + "\n" == text
    assert certificate.covers == ("terms",)
