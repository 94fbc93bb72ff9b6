import builtins
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from tacit.accounting.composition import mu_squared_of
from tacit.certificate.certificate import Certificate
from tacit.contract.plan import Penalty, Plan, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.contract.sensitivity import price_for
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.documents.canonical_json import canonical, digest_of
from tacit.documents.signature import PREFIX, new_key, read_public_key, sign, verify
from tacit.errors import CertificateError, FileError, SettingError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.gradient import Gradient
from tacit.solvers.noisy_steps import Descent


def make_certificate(epsilon: float = 1.0) -> Certificate:
    budget = Budget(epsilon=epsilon, delta=1e-6)
    relation = Relation.REPLACE_ONE
    price = price_for(QueryKind.GRADIENT, mu_squared_of(budget) / 5, relation, records=100, width=2)
    plan = Plan(
        solver=Gradient(Descent(20, 1.0, 0.0, None, "average")),
        loss=classification.LOGISTIC,
        design=matrix_design(["a"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True),
        records=100,
        relation=relation,
        unit="row",
        budget=budget,
        steps=(Step(QueryKind.GRADIENT, price, 5, Purpose.DESCENT),),
        penalty=Penalty(),
        forecast=None,
    )
    return Certificate.issue(Release(plan, np.array([1.0, 2.0])))


ISSUED = make_certificate()


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "curator.pem"
    new_key(path)
    return path


def test_a_signed_certificate_is_verified_against_its_key(key: Path) -> None:
    signed = sign(ISSUED, key)
    public = read_public_key(f"{key}.pub")
    assert signed.digest == ISSUED.digest
    for given in (public, public.upper(), f"{key}.pub", key.with_name("curator.pem.pub")):
        found = Certificate.from_json(signed.to_json()).check(given)
        assert (found.consistent, found.signed, found.signer) == (True, True, public)
        assert "the one you gave" in found.statement
        assert "consistency" not in found.statement


def test_a_key_that_was_not_given_is_somebody_you_must_know(key: Path) -> None:
    found = sign(ISSUED, key).check()
    assert found.signed
    assert f"key {found.signer}, whose owner you must know" in found.statement


def test_another_key_is_refused(key: Path, tmp_path: Path) -> None:
    other = new_key(tmp_path / "other.pem")
    with pytest.raises(CertificateError, match="not the one you gave"):
        sign(ISSUED, key).check(other)


def test_any_flipped_byte_of_the_signature_is_found(key: Path) -> None:
    signature = sign(ISSUED, key).document["signature"]
    for name, count in (("value", 64), ("public_key", 32)):
        for position in range(count):
            raw = bytearray.fromhex(signature[name])
            raw[position] ^= 1 << (position % 8)
            flipped = ISSUED.with_signature({**signature, name: raw.hex()})
            with pytest.raises(CertificateError, match="signature does not fit"):
                flipped.check()


def test_a_signature_does_not_carry_over_to_another_certificate(key: Path) -> None:
    signature = sign(ISSUED, key).document["signature"]
    moved = make_certificate(epsilon=0.5).with_signature(signature)
    with pytest.raises(CertificateError, match="did not sign this digest"):
        moved.check()


def test_a_signature_for_another_purpose_is_refused(key: Path) -> None:
    loaded = serialization.load_pem_private_key(key.read_bytes(), password=None)
    assert isinstance(loaded, ed25519.Ed25519PrivateKey)
    public = loaded.public_key().public_bytes_raw().hex()
    raw = bytes.fromhex(ISSUED.digest.removeprefix("sha256:"))

    def by(message: bytes) -> dict[str, str]:
        value = loaded.sign(message).hex()
        return {"algorithm": "ed25519", "public_key": public, "value": value}

    assert verify(ISSUED.digest, by(PREFIX + raw)) == public
    for message in (raw, ISSUED.digest.encode(), PREFIX + ISSUED.digest.encode()):
        with pytest.raises(CertificateError):
            verify(ISSUED.digest, by(message))


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "none"},
        {"algorithm": "ed25519\n"},
        {"value": ""},
        {"value": None},
        {"value": "AB" * 64},
        {"public_key": "zz" * 32},
        {"public_key": 7},
        {"further": "field"},
    ],
)
def test_what_is_no_signature_is_refused(key: Path, change: dict[str, Any]) -> None:
    document = sign(ISSUED, key).document
    document["signature"] |= change
    with pytest.raises(CertificateError, match="signature"):
        Certificate.from_json(json.dumps(document))


def test_what_does_not_add_up_is_not_signed(key: Path) -> None:
    document = ISSUED.document
    document["total"]["epsilon"] /= 2
    document["digest"] = digest_of(document)
    with pytest.raises(CertificateError, match=r"total\.epsilon"):
        sign(Certificate(canonical(document)), key)


def test_only_the_owner_may_read_a_key_and_nobody_overwrites_it(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    old = os.umask(0)
    try:
        public = new_key(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (tmp_path / "key.pem.pub").read_text(encoding="ascii") == f"{public}\n"
    content = path.read_bytes()
    with pytest.raises(FileError, match="exists"):
        new_key(path)
    (tmp_path / "key.pem.pub").unlink()
    with pytest.raises(FileError, match="exists"):
        new_key(path)
    assert path.read_bytes() == content
    # The public half of a key that was never made is not left behind.
    assert [item.name for item in tmp_path.iterdir()] == ["key.pem"]
    with pytest.raises(FileError, match="cannot be written"):
        new_key(tmp_path / "nowhere" / "key.pem")


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"
    garbage = tmp_path / "garbage.pem"
    garbage.write_bytes(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    large = tmp_path / "large.pem"
    large.write_bytes(b"a" * 5000)
    other = tmp_path / "other.pem"
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    curve = ec.generate_private_key(ec.SECP256R1())
    other.write_bytes(curve.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    locked = tmp_path / "locked.pem"
    password = serialization.BestAvailableEncryption(b"secret")
    secret = ed25519.Ed25519PrivateKey.generate()
    locked.write_bytes(secret.private_bytes(pem, pkcs8, password))
    for path in (missing, garbage, large, other, locked, tmp_path):
        with pytest.raises(FileError):
            sign(ISSUED, path)
    for given in ("", "ab" * 31, "no\0file", str(missing), garbage, tmp_path):
        with pytest.raises(FileError):
            read_public_key(given)


def test_without_the_library_one_is_told_how_to_get_it(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = sign(ISSUED, key)
    original = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    for attempt in (lambda: new_key(tmp_path / "further.pem"), lambda: sign(ISSUED, key), signed.check):
        with pytest.raises(SettingError, match=r"pip install tacit\[sign\]"):
            attempt()
    assert not (tmp_path / "further.pem").exists()
    assert ISSUED.check().consistent
    assert signed.rederive() == ISSUED.rederive()


PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
EIGHTH = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826


def small_order_keys() -> list[bytes]:
    """All spellings of the eight points of small order: either sign, and y + p where it fits."""
    ys = [0, 1, PRIME - 1, EIGHTH, PRIME - EIGHTH]
    ys += [y + PRIME for y in ys if y + PRIME < 2**255]
    return [(y + sign * 2**255).to_bytes(32, "little") for y in ys for sign in (0, 1)]


@pytest.mark.parametrize("key", small_order_keys(), ids=bytes.hex)
def test_a_key_of_small_order_vouches_for_nothing(key: bytes) -> None:
    # R the neutral point and S = 0: such a key accepts it for one message in eight, or for all.
    forged = (1).to_bytes(32, "little") + bytes(32)
    signature = {"algorithm": "ed25519", "public_key": key.hex(), "value": forged.hex()}
    for number in range(16):
        with pytest.raises(CertificateError, match="no key of anybody"):
            verify(f"sha256:{number:064x}", signature)
    with pytest.raises(CertificateError, match="no key of anybody"):
        ISSUED.with_signature(signature).check()


def test_the_points_are_of_small_order() -> None:
    """Each accepts a signature that nobody made, by the library alone: the test has a subject."""
    forged = (1).to_bytes(32, "little") + bytes(32)
    fooled = 0
    for key in small_order_keys():
        public = ed25519.Ed25519PublicKey.from_public_bytes(key)
        for number in range(64):
            try:
                public.verify(forged, number.to_bytes(4, "little"))
            except InvalidSignature:
                continue
            fooled += 1
            break
    assert fooled >= 8


def test_another_spelling_of_a_key_or_of_s_is_refused(key: Path) -> None:
    signature = sign(ISSUED, key).document["signature"]
    raw = bytes.fromhex(signature["value"])
    larger = int.from_bytes(raw[32:], "little") + ORDER
    value = (raw[:32] + larger.to_bytes(32, "little")).hex()
    with pytest.raises(CertificateError, match="signature does not fit"):
        ISSUED.with_signature({**signature, "value": value}).check()
    for y in range(2, 19):
        spelled = (PRIME + y).to_bytes(32, "little").hex()
        with pytest.raises(CertificateError, match="no key of anybody"):
            verify(ISSUED.digest, {**signature, "public_key": spelled})
