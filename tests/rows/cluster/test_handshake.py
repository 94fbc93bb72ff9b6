"""The handshake tells apart what could make a record's integers depend on who computes them."""

import zoneinfo
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit.engine.cluster_use import public_probe
from tacit.rows.cluster.handshake import LIBRARIES, fingerprint, package_digest, zone_rules


def test_the_same_process_has_the_same_fingerprint() -> None:
    own = fingerprint(public_probe())
    assert own.differences(fingerprint(public_probe())) == []
    assert set(LIBRARIES) <= set(own.versions)
    assert not own.spills
    assert not own.pages


def test_every_difference_is_named() -> None:
    own = fingerprint(public_probe())
    other = {**own.versions, "numba": "0.1"}
    assert own.differences(replace(own, versions=other)) == ["numba"]
    assert own.differences(replace(own, sources="0")) == ["Tacit's own sources"]
    assert own.differences(replace(own, bits="0")) == ["the bits of public sums"]
    assert own.differences(replace(own, zones="0")) == ["the rules of time zones"]


def test_one_bit_of_a_record_changes_the_bits_of_the_probe() -> None:
    probe = public_probe()
    X = probe.X.copy()
    X[5, 3] = np.nextafter(X[5, 3], np.inf) + 2.0**-20
    assert fingerprint(replace(probe, X=X)).bits != fingerprint(probe).bits


def test_rules_of_time_zones_that_changed_have_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time with a zone is read as a day of that zone: two machines must know the same rules."""
    found = []
    for year in ("2025a", "2025b"):
        (tmp_path / "tzdata.zi").write_text(f"# version {year}")
        monkeypatch.setattr(zoneinfo, "TZPATH", (str(tmp_path / "none"), str(tmp_path)))
        found.append(zone_rules())
    assert len({*found, zone_rules()}) == 2


def test_the_digest_is_of_all_sources() -> None:
    assert len(package_digest()) == 64
