"""A store whose records are on the workers of a cluster: sums are theirs, added once each by the coordinator.

Private: every reply. Every partition, or bucket of persons, is held by one worker. Where that worker is lost, others
read its partitions again and replay the public steps so far, and the whole sum is asked again of all. Integer sums do
not depend on who computed them, so the answer is the one without the fault, to the bit.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike

from tacit.contract.cluster import Cluster
from tacit.errors import ClusterLost, DataError, SettingError
from tacit.rows.cluster.codes import Code, Reply, error_of
from tacit.rows.cluster.connection import Call, Connection
from tacit.rows.cluster.partitions import Partition
from tacit.rows.cluster.worker import Held, PaddedSum, Reading, Step
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.storage.batch_store import Members, not_counted
from tacit.rows.storage.store import Layout, Rewrite, Store, closed
from tacit.rows.storage.tiles import Integers, public_matrix

BUCKETS_A_WORKER = 4
"""Buckets of persons for each worker at the start, so that those of a lost one can be shared."""


@dataclass
class Assignment:
    """What one worker holds under one name: partitions or buckets by number, and what it said of them."""

    worker: str
    parts: tuple[int, ...]
    held: Held | None = field(default=None, repr=False)


class ClusterStore(Store):
    """Records of files, held by workers.

    Guarantee
    ---------
    - A partition enters a sum exactly once, whatever workers are lost, late or asked again: all that is added is of
      one round, in which every assignment replied, and assignments share no partition and leave none out.
    - How many records fill up tiles is told by the same replies as the sum.
    - Sums are those of one machine, to the bit.
    - A store is neither pickled nor copied; workers answer sums, never blocks.
    """

    def __init__(self, connection: Connection, reading: Reading, partitions: Sequence[Partition], key: bytes) -> None:
        self._connection, self._reading, self._partitions, self._key = connection, reading, tuple(partitions), key
        self._steps: list[Step] = []
        self._assignments: dict[str, Assignment] = {}
        self._names = 0
        self._buckets, self._open = 0, True
        try:
            grouped = reading.design.attached.unit is not None
            if grouped and not (connection.cluster.units_together and self._units_are_together()):
                self._buckets = BUCKETS_A_WORKER * len(connection.actors)
            self._parts = frozenset(range(self._buckets or len(partitions)))
            self._repair()
        except BaseException:
            self.close()
            raise
        super().__init__(self._common_layout())

    @property
    def padding(self) -> Never:
        """Refuse: it changes where records are read again, and belongs to one sum."""
        raise SettingError("How many records fill up tiles on a cluster is told together with a sum.")

    @property
    def workers(self) -> int:
        """How many workers hold records."""
        return len({each.worker for each in self._assignments.values()})

    def total(self, function: Callable[..., Any], query: Any, bound: int) -> Integers:
        """Sum over all partitions of an integer-valued function of blocks, as `Store.total`."""
        return self.padded_total(function, query, bound)[0]

    def padded_total(self, function: Callable[..., Any], query: Any, bound: int) -> tuple[Integers, int]:
        """`total`, and the zero records that fill up tiles of exactly the assignments that were added."""
        sums = self._sum(function, query, bound, None)
        return self._added(sums, function, query, bound), sum(one.padding or 0 for one in sums)

    def batch(self, members: Members) -> ClusterBatch:
        """Return the batch of some running numbers, counted through the partitions in their order."""
        return ClusterBatch(self, members)

    def batch_total(self, function: Callable[..., Any], query: Any, bound: int, members: Members) -> Integers:
        """Sum over a batch of running numbers."""
        if self._reading.design.attached.unit is not None:
            raise SettingError("Batches of units are not drawn on a cluster.")
        return self._added(self._sum(function, query, bound, members), function, query, bound)

    def _added(self, sums: Sequence[PaddedSum], function: Callable[..., Any], query: Any, bound: int) -> Integers:
        if not sums:
            # No partition at all: the sum of nothing.
            return np.zeros(function(self.layout, query, bound).shape, dtype=np.int64)
        return np.asarray(functools.reduce(np.add, [one.total for one in sums]))

    def _sum(self, function: Callable[..., Any], query: Any, bound: int, members: Members | None) -> list[PaddedSum]:
        """Sums of all assignments, asked in one round in which nobody was lost.

        Whatever a round with a loss replied is dropped: partitions then belong to other assignments, with other tiles.
        """
        if not self._open:
            raise closed()
        while True:
            self._repair()
            places = None if members is None else self._places(members)
            calls: dict[str, dict[str, Integers | None]] = {}
            for name, each in self._assignments.items():
                calls.setdefault(each.worker, {})[name] = None if places is None else places[name]
            steps = len(self._steps)
            replies = self._call({at: ("total", (steps, function, query, bound, own)) for at, own in calls.items()})
            for at, (code, _) in replies.items():
                if code is Code.FORGOTTEN:
                    # It began anew, without its records: they are read again.
                    self._forget(calls[at])
                else:
                    self._require(code, list(calls[at]))
            if all(replies.get(at, (None, None))[0] is Code.DONE for at in calls):
                return [replies[at][1][name] for at, own in calls.items() for name in own]

    def recast(self, matrix: ArrayLike) -> Store:
        """Return the store in other coordinates; it is the same one."""
        self.require_mappable()
        return self.applied(_recast, public_matrix(matrix, self.width))

    def applied(self, function: Callable[..., Store], *public: Any) -> Store:
        """Change all records by a function of a store and public numbers; it is replayed where they are read again."""
        if not self._open:
            raise closed()
        self._steps.append((function, public))
        try:
            self._take_last_step()
        except ClusterLost:
            # Whoever goes on with these records reads them anew, and asks for this step again.
            self._steps.pop()
            raise
        self.layout = self._common_layout()
        self.opened = self.layout.opened
        return self

    def _take_last_step(self) -> None:
        for each in self._assignments.values():
            each.held = None
        while True:
            self._repair()
            behind = {each.worker for each in self._assignments.values() if each.held is None}
            if not behind:
                return
            for at, (code, held) in self._call(dict.fromkeys(behind, ("apply", (self._steps,)))).items():
                self._require(code, [])
                for name in [name for name, each in self._assignments.items() if each.worker == at]:
                    if name in held:
                        self._assignments[name].held = held[name]
                    else:
                        # It began anew, without its records: they are read again.
                        self._forget([name])

    def moved(self, cluster: Cluster | None) -> None:
        """Have the records read again on another cluster, or on this one, with all public steps so far."""
        probe = self._connection.probe
        self.close()
        self._connection = Connection.open(cluster or self._connection.cluster, probe)
        self._open = True

    def map(self, matrix: ArrayLike) -> Never:
        """Refuse: a second copy of the records is not kept on workers."""
        del matrix
        raise SettingError("Records on a cluster are recast, not copied.")

    def block(self, index: int) -> Never:
        """Refuse: workers answer sums alone."""
        del index
        raise SettingError("Records on a cluster are summed where they are, and never fetched.")

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> Never:
        """Refuse, as for blocks."""
        del layout, rewrite
        raise SettingError("Records on a cluster are changed by public steps alone.")

    def close(self) -> None:
        """Have all workers give their records up, and leave the cluster."""
        if self._open:
            self._open = False
            self._assignments.clear()
            with contextlib.suppress(ClusterLost):
                self._connection.call(dict.fromkeys(self._connection.actors, ("close", ())))
            self._connection.close()

    def _call(self, calls: Mapping[str, Call]) -> dict[str, Reply]:
        """Call workers; assignments of those that were lost are forgotten."""
        replies = self._connection.call(calls)
        for name in [name for name, each in self._assignments.items() if each.worker not in self._connection.actors]:
            del self._assignments[name]
        return replies

    def _units_are_together(self) -> bool:
        """Whether no unit has records in two partitions: what was claimed is counted, not believed.

        Where a worker is lost while it counts, the claim is taken as unproven.
        """
        calls: dict[str, Call] = {}
        for at, parts in self._shares(range(len(self._partitions))):
            calls[at] = ("units", (self._reading, [self._partitions[part] for part in parts], self._key))
        replies = self._call(calls)
        found = [np.empty((0, 2), np.uint64)]
        for code, own in replies.values():
            self._require(code, [])
            found += own
        hashes = np.concatenate(found)
        return len(replies) == len(calls) and len(np.unique(hashes, axis=0)) == len(hashes)

    def _repair(self) -> None:
        """Have every partition that nobody holds read by somebody."""
        while True:
            held = {part for each in self._assignments.values() for part in each.parts}
            if not (missing := sorted(self._parts - held)):
                return
            if self._names or not self._connection.actors:
                # Not at the start, where all are known: others may have joined since.
                self._connection.require_workers()
            if self._buckets:
                self._collect(missing)
            else:
                self._admit(missing)

    def _admit(self, missing: Sequence[int]) -> None:
        names, calls = [], {}
        for at, parts in self._shares(missing):
            name = self._assign(at, parts)
            own = [self._partitions[part] for part in parts]
            calls[at] = ("admit", (name, self._reading, own, self._steps))
            names.append(name)
        self._take(names, self._call(calls))

    def _collect(self, missing: Sequence[int]) -> None:
        """Exchange the persons of missing buckets: all partitions are read, each by one worker."""
        places, calls = {}, {}
        for at, parts in self._shares(range(len(self._partitions))):
            name = f"sorted-{self._next()}"
            own = [self._partitions[part] for part in parts]
            calls[at] = ("sort_out", (name, self._reading, own, self._key, self._buckets, list(missing)))
            places[name] = (at, self._connection.actors[at].key)
        replies = self._call(calls)
        for code, _ in replies.values():
            self._require(code, [])
        if len(replies) == len(calls):
            names, collecting = [], {}
            for at, buckets in self._shares(missing):
                name = self._assign(at, buckets)
                collecting[at] = ("collect", (name, self._reading, buckets, places, self._steps))
                names.append(name)
            self._take(names, self._call(collecting))
        self._call(dict.fromkeys(self._connection.actors, ("forget_sorted", ())))

    def _take(self, names: Sequence[str], replies: Mapping[str, Reply]) -> None:
        """Note what workers say of new assignments; those of lost workers are gone already."""
        for name in [name for name in names if name in self._assignments]:
            code, held = replies[self._assignments[name].worker]
            if code is Code.FORGOTTEN:
                # A worker that was to send its part is lost; the others are asked again.
                self._forget([name])
                continue
            self._require(code, [name])
            self._assignments[name].held = held

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._assignments.pop(name, None)

    def _shares(self, parts: Sequence[int]) -> Iterable[tuple[str, tuple[int, ...]]]:
        """Consecutive parts for each worker, of about as many records where these are known."""
        workers = list(self._connection.actors)
        sizes = np.array([1.0 if self._buckets else self._weight(part) for part in parts])
        ends = np.cumsum(sizes)
        # The middle of a partition decides whose it is.
        owner = np.minimum(((ends - sizes / 2) / max(ends[-1], 1e-9) * len(workers)).astype(int), len(workers) - 1)
        for place, at in enumerate(workers):
            own = tuple(part for part, whose in zip(parts, owner, strict=True) if whose == place)
            if own:
                yield at, own

    def _weight(self, part: int) -> float:
        length = self._partitions[part].length
        return 1.0 + (self._partitions[part].size if length is None else length)

    def _assign(self, at: str, parts: tuple[int, ...]) -> str:
        name = f"part-{self._next()}"
        self._assignments[name] = Assignment(at, parts)
        return name

    def _next(self) -> int:
        self._names += 1
        return self._names

    def _require(self, code: Code, names: Sequence[str]) -> None:
        if code is Code.DONE:
            return
        if code is Code.INVALID_RECORDS:
            # The same words as on one machine; what is demanded is public.
            RecordEncoder.of(self._reading.design, strict=True).check(np.zeros(1, dtype=np.bool_))
            raise DataError("Some records are invalid.")
        parts = [part for name in names if name in self._assignments for part in self._assignments[name].parts]
        files = dict.fromkeys(self._partitions[part].name for part in parts if not self._buckets)
        more = f" (or one of {len(files) - 1} more)" if len(files) > 1 else ""
        raise error_of(code, f"{next(iter(files))}{more}" if files else "a file")

    def _common_layout(self) -> Layout:
        held = [each.held for each in self._assignments.values() if each.held is not None]
        return replace(held[0].layout, length=sum(one.layout.length for one in held))

    def _places(self, members: Members) -> dict[str, Integers]:
        """Places of a batch within each assignment, from running numbers through all partitions in order."""
        lengths = self._lengths()
        firsts = np.concatenate([[0], np.cumsum(lengths)])
        found: dict[str, Integers] = {}
        for name, each in self._assignments.items():
            own, start = [np.empty(0, dtype=np.int64)], 0
            for part in each.parts:
                own.append(members(int(firsts[part]), int(lengths[part])) + start)
                start += int(lengths[part])
            found[name] = np.concatenate(own)
        return found

    def _lengths(self) -> Integers:
        """Records of each partition: as its footer says, or as they were counted."""
        lengths = np.array([part.length or 0 for part in self._partitions], dtype=np.int64)
        for each in self._assignments.values():
            if each.held is not None and self._partitions[each.parts[0]].length is None:
                lengths[list(each.parts)] = each.held.counts
        return lengths


class ClusterBatch(Store):
    """One batch of records on a cluster; it is read once."""

    def __init__(self, store: ClusterStore, members: Members) -> None:
        super().__init__(store.layout)
        self._store, self._members = store, members

    def total(self, function: Callable[..., Any], query: Any, bound: int) -> Integers:
        """Sum over the batch, wherever its records are."""
        return self._store.batch_total(function, query, bound, self._members)

    @property
    def padding(self) -> Never:
        """Refuse, as for a batch on one machine."""
        raise not_counted()

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> Never:
        """Refuse: coordinates are those of the store."""
        del layout, rewrite
        raise SettingError("A batch is read, not mapped.")


def _recast(store: Store, matrix: Any) -> Store:
    return store.recast(matrix)
