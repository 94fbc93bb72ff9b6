"""Who is inside the wall, and that nothing goes to whoever is not."""

import datetime as dt
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import tacit
from tacit.errors import ClusterError
from tacit.rows.cluster.wall import is_inside, require_trusted, security_of
from tests.rows.cluster.clusters import FORMULA, coefficients, schema, table, workers, write


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("inproc://10.0.0.1/1/2", True),
        ("tcp://127.0.0.1:8786", True),
        ("tcp://[::1]:8786", True),
        ("tcp://localhost:8786", True),
        ("tls://198.51.100.7:8786", True),
        ("tcp://198.51.100.7:8786", False),
        ("tcp://0.0.0.0:8786", False),
        ("tcp://worker.example:8786", False),
        ("ws://127.0.0.1:8786", False),
    ],
)
def test_only_loopback_and_tls_are_inside(address: str, *, inside: bool) -> None:
    assert is_inside(address) is inside


def test_one_worker_in_the_clear_refuses_the_cluster() -> None:
    fine = {"address": "tcp://127.0.0.1:1", "workers": {"tcp://127.0.0.1:2": {}}}
    require_trusted(fine)
    with pytest.raises(ClusterError, match=r"in the clear.*Nothing was spent"):
        require_trusted({**fine, "workers": {"tcp://127.0.0.1:2": {}, "tcp://198.51.100.7:3": {}}})
    with pytest.raises(ClusterError, match="--tls-ca-file"):
        require_trusted({**fine, "address": "tcp://198.51.100.7:3"})


def test_encryption_is_required_where_the_address_says_tls() -> None:
    assert security_of(tacit.Cluster("tcp://127.0.0.1:8786")) is None
    assert security_of(tacit.Cluster("tls://host:8786")).require_encryption is True


def test_a_cluster_that_listens_beyond_the_machine_is_refused(tmp_path: Path) -> None:
    with workers(1, processes=False, protocol="tcp", host="0.0.0.0") as open_to_all:
        if is_inside(open_to_all.scheduler_address):  # a machine without a network
            return
        folder = write(tmp_path / "parts", table(300), [], "csv")
        with pytest.raises(ClusterError, match="in the clear"):
            tacit.glm(FORMULA, folder, schema(), epsilon=1.0, cluster=open_to_all.scheduler_address)


@pytest.mark.parametrize(
    ("setting", "who"), [("dashboard_address", "scheduler"), ("worker_dashboard_address", "worker")]
)
def test_pages_beyond_the_loopback_are_refused_also_without_a_dashboard(tmp_path: Path, setting: str, who: str) -> None:
    folder = write(tmp_path / "parts", table(300), [], "csv")
    with workers(1, **{setting: "0.0.0.0:0"}) as shown:
        member = shown.scheduler if who == "scheduler" else shown.workers[0]
        assert member.http_server.address == "0.0.0.0"
        with pytest.raises(
            ClusterError, match=rf"{who} shows pages.*--dashboard-address 127.0.0.1:0.*Nothing was spent"
        ):
            tacit.glm(FORMULA, folder, schema(), epsilon=1.0, cluster=shown.scheduler_address)


def certificates(folder: Path) -> tuple[str, str, str]:
    """A fresh authority and one certificate that it signed."""
    now = dt.datetime.now(dt.UTC)

    def signed(name: str, key: Any, issuer: str, by: Any, *, authority: bool) -> Any:
        named = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, it)]) for it in (name, issuer)]
        made = x509.CertificateBuilder().subject_name(named[0]).issuer_name(named[1]).public_key(key.public_key())
        made = made.serial_number(x509.random_serial_number()).not_valid_before(now - dt.timedelta(days=1))
        made = made.not_valid_after(now + dt.timedelta(days=1))
        return made.add_extension(x509.BasicConstraints(authority, None), critical=True).sign(by, hashes.SHA256())

    root, own = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    pem = serialization.Encoding.PEM
    files = {
        "ca.pem": signed("ca", root, "ca", root, authority=True).public_bytes(pem),
        "cert.pem": signed("node", own, "ca", root, authority=False).public_bytes(pem),
        "key.pem": own.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    }
    for name, text in files.items():
        (folder / name).write_bytes(text)
    ssl.create_default_context(cafile=str(folder / "ca.pem"))
    return tuple(str(folder / name) for name in files)  # type: ignore[return-value]


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """A scheduler and two workers of their own that talk TLS alone."""
    files = certificates(tmp_path)
    flags = [word for pair in zip(("--tls-ca-file", "--tls-cert", "--tls-key"), files, strict=True) for word in pair]
    port = tmp_path / "scheduler.json"
    with ExitStack() as stack:

        def start(module: str, *arguments: str) -> None:
            command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, *flags, "--no-dashboard"]
            quiet: dict[str, Any] = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
            process = subprocess.Popen([*command, "--dashboard-address", "127.0.0.1:0"], cwd=tmp_path, **quiet)
            stack.callback(process.wait)
            stack.callback(process.kill)

        local = ("--host", "tls://127.0.0.1")
        start(
            "dask_scheduler", "--port", "0", "--protocol", "tls", "--scheduler-file", str(port), "--host", "127.0.0.1"
        )
        deadline = time.monotonic() + 60
        while not port.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        import json

        time.sleep(0.1)
        address = str(json.loads(port.read_text(encoding="utf-8"))["address"])
        for _ in range(2):
            start("dask_worker", address, "--no-nanny", "--nthreads", "1", "--memory-limit", "0", *local)
        yield address, files


def test_a_cluster_with_mutual_tls_has_the_bits_of_one_machine(
    tls: tuple[str, tuple[str, str, str]], tmp_path: Path
) -> None:
    address, (authority, certificate, key) = tls
    folder = write(tmp_path / "parts", table(900), [300], "parquet")
    given: dict[str, Any] = {"epsilon": 4.0, "random_state": 4, "schema": schema(unit=True)}
    where = tacit.Cluster(address, ca_file=authority, cert_file=certificate, key_file=key)
    assert address.startswith("tls://")
    assert coefficients(tacit.glm(FORMULA, folder, **given)) == coefficients(
        tacit.glm(FORMULA, folder, cluster=where, **given)
    )
    # Without a certificate that the cluster trusts nobody is let in.
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    foreign = certificates(stranger)
    outside = tacit.Cluster(address, ca_file=foreign[0], cert_file=foreign[1], key_file=foreign[2], patience=3.0)
    with pytest.raises(ClusterError, match="Nothing was spent"):
        tacit.glm(FORMULA, folder, cluster=outside, **given)
