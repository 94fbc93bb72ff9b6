"""Where a fit runs: an address, a number of workers, or both refused."""

import pytest

import tacit
from tacit.contract.cluster import Cluster
from tacit.errors import SettingError


def test_addresses_and_numbers_are_clusters() -> None:
    assert Cluster.of(None) is None
    assert Cluster.of("tcp://127.0.0.1:8786") == Cluster(address="tcp://127.0.0.1:8786")
    assert Cluster.of(2) == tacit.Cluster(workers=2)
    assert Cluster.of(Cluster(workers=3)) == Cluster(workers=3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "address of a scheduler, or a number"),
        ({"address": "tcp://127.0.0.1:1", "workers": 2}, "address of a scheduler, or a number"),
        ({"workers": 0}, "workers"),
        ({"address": "127.0.0.1:8786"}, "tcp://127.0.0.1:8786"),
        ({"address": "tls://host:1", "ca_file": "ca.pem"}, "three files"),
        ({"workers": 1, "patience": 0.0}, "patience"),
        ({"workers": 1, "patience": float("nan")}, "patience"),
    ],
)
def test_what_is_no_cluster_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        Cluster(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [True, 1.5, ["tcp://127.0.0.1:8786"]])
def test_other_things_are_refused(given: object) -> None:
    with pytest.raises(SettingError, match=r"tacit\.Cluster"):
        Cluster.of(given)
