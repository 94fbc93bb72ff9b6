"""Connecting: clusters that cannot be reached, or whose workers differ, are refused before anything is spent."""

import contextlib
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import distributed
import pytest

import tacit
from tacit.engine.cluster_use import public_probe
from tacit.errors import ClusterError
from tacit.rows.cluster import worker
from tacit.rows.cluster.codes import Code
from tacit.rows.cluster.connection import Connection
from tacit.rows.cluster.handshake import Fingerprint
from tests.rows.cluster.clusters import FORMULA, schema, table, where, workers, write


def test_no_scheduler_is_a_clear_refusal(tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", table(300), [], "csv")
    nobody = tacit.Cluster("tcp://127.0.0.1:9", patience=0.5)
    with pytest.raises(ClusterError, match=r"No Dask scheduler answers.*Nothing was spent"):
        tacit.glm(FORMULA, folder, schema(), epsilon=1.0, cluster=nobody)


def test_what_is_no_scheduler_may_answer_anything() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    line, _ = server.accept()
                    # Dask reads the length of a message here: 3 EB.
                    line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        stranger = tacit.Cluster(f"tcp://127.0.0.1:{server.getsockname()[1]}", patience=2.0)
        with pytest.raises(ClusterError, match=r"No Dask scheduler answers.*Nothing was spent"):
            Connection.open(stranger, public_probe())


def test_nothing_goes_to_another_machine_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[str]()
    monkeypatch.setattr(distributed, "Client", lambda address, **_: calls.append(address))
    with pytest.raises(ClusterError, match="in the clear"):
        Connection.open(tacit.Cluster("tcp://198.51.100.7:8786"), public_probe())
    assert calls == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sources": "0" * 64}, "Tacit's own sources"),
        ({"bits": "0" * 64}, "the bits of public sums"),
        ({"versions": {}}, "numba"),
        ({"spills": True}, "--memory-limit 0"),
        ({"pages": True}, "--no-dashboard"),
    ],
)
def test_a_worker_that_differs_refuses_the_cluster(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], said: str
) -> None:
    real = vars(worker)["fingerprint"]

    def other(probe: Any) -> Fingerprint:
        made: Fingerprint = replace(real(probe), **change)
        return made

    monkeypatch.setattr(worker, "fingerprint", other)
    with pytest.raises(ClusterError, match=rf"{said}.*Nothing was spent"):
        Connection.open(where(cluster), public_probe())


def test_a_worker_that_spills_is_refused_as_it_is() -> None:
    with workers(1, memory_limit="1GB") as spilling, pytest.raises(ClusterError, match="spill"):
        Connection.open(where(spilling), public_probe())


def test_calls_are_answered_and_a_lost_worker_is_given_up() -> None:
    with workers(2) as mortal:
        connection = Connection.open(where(mortal), public_probe())
        first, second = connection.actors
        asked = {first: ("close", ()), second: ("close", ())}
        assert {code for code, _ in connection.call(asked).values()} == {Code.DONE}
        lost = next(it for it in mortal.workers.values() if it.address == first)
        mortal.sync(lost.close)
        assert set(connection.call(asked)) == {second}
        assert set(connection.actors) == {second}
        # It is never asked again, even by name.
        assert set(connection.call(asked)) == {second}
        connection.close()
