"""A connection without Dask: actors in this process, some of which are lost in rounds that a test names."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.contract.cluster import Cluster
from tacit.errors import ClusterLost
from tacit.rows.cluster.cluster_store import ClusterStore
from tacit.rows.cluster.codes import Reply
from tacit.rows.cluster.partitions import split
from tacit.rows.cluster.worker import PartitionHolder, Reading
from tacit.rows.sources.opening import describe, open_source

MOST_ROUNDS = 40
"""Rounds after which a store is taken to go round for ever."""


class ScriptedConnection:
    """Workers by letter; `lost` has (round of sums, worker) of those that do not reply, `joining` who comes when."""

    probe = None

    def __init__(
        self, workers: str, lost: Iterable[tuple[int, str]] = (), joining: Mapping[int, str] | None = None
    ) -> None:
        self.cluster = Cluster(workers=len(workers))
        self.actors = {at: PartitionHolder() for at in workers}
        self.lost, self.joining, self.rounds, self.calls = set(lost), dict(joining or {}), 0, 0

    def call(self, calls: Mapping[str, tuple[str, Sequence[Any]]]) -> dict[str, Reply]:
        self.calls += 1
        assert self.calls < MOST_ROUNDS, "the store asks for ever"
        self.rounds += any(method == "total" for method, _ in calls.values())
        replies: dict[str, Reply] = {}
        for at, (method, given) in calls.items():
            if method == "total" and (self.rounds, at) in self.lost:
                del self.actors[at]
            elif at in self.actors:
                replies[at] = getattr(self.actors[at], method)(*given)
        return replies

    def require_workers(self) -> None:
        for at in [self.joining.pop(when) for when in sorted(self.joining) if when <= self.rounds]:
            self.actors[at] = PartitionHolder()
        if not self.actors:
            raise ClusterLost("Every worker was lost.")

    def close(self) -> None:
        self.actors.clear()


def scripted_store(paths: Sequence[Path], design: Any, connection: ScriptedConnection) -> ClusterStore:
    parts = split(open_source([str(path) for path in paths], fewest=0))
    reading = Reading(describe(parts[0].path, design.reading.file), design, "zero", "float32")
    return ClusterStore(connection, reading, parts, bytes(32))  # type: ignore[arg-type]
