"""A worker of a cluster: opens and admits its own partitions, keeps their tiles, and answers integer sums of them.

Private: everything held, and every sum. A worker is inside the wall. It answers the coordinator alone, with codes in
place of exceptions; a store never leaves it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Never

import numpy as np
from threadpoolctl import ThreadpoolController

from tacit.design.design import Design
from tacit.rows.admission.admit_rows import MEMORY_LIMIT, admit
from tacit.rows.cluster.codes import Code, Refused, Reply, guarded
from tacit.rows.cluster.exchange import Hashes, Piece, Pieces, gathered_persons, sorted_out, unit_hashes
from tacit.rows.cluster.handshake import Fingerprint, Probe, fingerprint
from tacit.rows.cluster.partitions import CountedFiles, Partition, open_partitions
from tacit.rows.sources.declared_cells import DeclaredSource
from tacit.rows.sources.opening import Description
from tacit.rows.sources.source import Source
from tacit.rows.storage.batch_store import BatchStore
from tacit.rows.storage.store import Layout, Store, not_pickled
from tacit.rows.storage.tiles import Integers

Step = tuple[Callable[..., Store], tuple[Any, ...]]
"""A public change of all records, such as a map to other coordinates: a function of a store and public numbers."""


class Held(NamedTuple):
    """What the coordinator hears of admitted records: their layout, and how many each file has."""

    layout: Layout
    counts: tuple[int, ...]


class PaddedSum(NamedTuple):
    """A sum over one assignment, and the zero records in it that fill up tiles; None of a batch, which has no count."""

    total: Integers
    padding: int | None


@dataclass(frozen=True)
class Reading:
    """How partitions are read: the columns that files have, the design, and what invalid records do. All public."""

    columns: Description
    design: Design
    invalid_rows: str
    dtype: str
    memory_limit: int = MEMORY_LIMIT

    def opened(self, partitions: Sequence[Partition]) -> CountedFiles:
        """Open partitions as the coordinator's files are written."""
        return open_partitions(partitions, self.columns, self.design.reading.file)

    def declared(self, source: Source) -> Source:
        """The same records with missing codes and dates read as declared."""
        return source if self.design.reading.is_plain else DeclaredSource.of(source, self.design.reading)


@dataclass
class _Assignment:
    store: Store
    counts: tuple[int, ...]
    steps: int = 0

    def take(self, steps: Sequence[Step]) -> None:
        """Apply the steps that were not applied before; a repeated call changes nothing."""
        for function, public in steps[self.steps :]:
            self.store = function(self.store, *public)
            self.steps += 1

    @property
    def held(self) -> Held:
        return Held(self.store.layout, self.counts)


@dataclass
class PartitionHolder:
    """The actor on a worker: assignments of partitions by a name of the coordinator's choice.

    Guarantee: nothing but codes and integer sums, layouts and lengths leaves it, and rows of persons only to another
    worker that collects them. It is neither pickled nor copied.
    """

    _held: dict[str, _Assignment] = field(default_factory=dict, repr=False)
    _sorted: dict[str, Pieces] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> Never:
        raise not_pickled()

    @guarded
    def hello(self, probe: Probe) -> Fingerprint:
        """Say which sources and libraries compute here, and what they make of public records."""
        return fingerprint(probe)

    @guarded
    def admit(self, name: str, reading: Reading, partitions: Sequence[Partition], steps: Sequence[Step]) -> Held:
        """Read partitions, prepare their records, and replay the public steps so far."""
        self._drop(name)
        source = reading.opened(partitions)
        store = admit(
            reading.declared(source),
            reading.design,
            invalid_rows=reading.invalid_rows,
            dtype=np.dtype(reading.dtype),
            memory_limit=reading.memory_limit,
            fewest=0,
        )
        found = self._held[name] = _Assignment(store, tuple(source.counts))
        found.take(steps)
        return found.held

    @guarded
    def sort_out(
        self,
        name: str,
        reading: Reading,
        partitions: Sequence[Partition],
        key: bytes,
        buckets: int,
        wanted: Sequence[int],
    ) -> None:
        """Read partitions, and lay the prepared records of each wanted bucket of persons ready for who collects it."""
        source = reading.declared(reading.opened(partitions))
        self._sorted[name] = sorted_out(
            source, reading.design, reading.invalid_rows, reading.dtype, key, buckets, wanted
        )

    @guarded
    def units(self, reading: Reading, partitions: Sequence[Partition], key: bytes) -> list[Hashes]:
        """Keyed hashes of the units of each partition: whether one has records in two is for the coordinator to see."""
        unit = reading.design.attached.unit
        column = "" if unit is None else unit.column
        return [unit_hashes(reading.declared(reading.opened([part])), column, key) for part in partitions]

    async def pieces(self, name: str, bucket: int) -> Reply:
        """The records of one bucket, for the worker that collects it; asynchronous, so that two may ask each other."""
        found = self._sorted.get(name)
        return (Code.FORGOTTEN, None) if found is None else (Code.DONE, found.of(bucket))

    @guarded
    def collect(
        self,
        name: str,
        reading: Reading,
        buckets: Sequence[int],
        places: Mapping[str, tuple[str, str]],
        steps: Sequence[Step],
    ) -> Held:
        """Collect the records of some buckets from all workers and bound each person's contribution."""
        self._drop(name)
        parts = []
        for bucket in buckets:
            for where, place in places.items():
                own = self._sorted.get(where)
                parts.append(fetched(*place, where, bucket) if own is None else own.of(bucket))
        found = self._held[name] = _Assignment(gathered_persons(parts, reading.design, reading.dtype), ())
        found.take(steps)
        return found.held

    @guarded
    def forget_sorted(self) -> None:
        """Give up what was laid ready."""
        self._sorted.clear()

    @guarded
    def apply(self, steps: Sequence[Step]) -> dict[str, Held]:
        """Apply public steps to all records; those that were applied before are passed over."""
        for assignment in self._held.values():
            assignment.take(steps)
        return {name: assignment.held for name, assignment in self._held.items()}

    @guarded
    def total(
        self, steps: int, function: Callable[..., Any], query: Any, bound: int, asked: Mapping[str, Integers | None]
    ) -> dict[str, PaddedSum]:
        """Integer sum of each assignment asked for, over all its records or those of a batch, in place order."""
        sums: dict[str, PaddedSum] = {}
        for name, batch in asked.items():
            found = self._held.get(name)
            if found is None or found.steps != steps:
                raise Refused(Code.FORGOTTEN)
            # Threads of a library beside our own would wait for each other, on a busy machine for most of the time.
            with _blas().limit(limits=1, user_api="blas"):
                if batch is None:
                    sums[name] = PaddedSum(*found.store.padded_total(function, query, bound))
                else:
                    own = BatchStore(found.store, Listed(batch).members)
                    sums[name] = PaddedSum(own.total(function, query, bound), None)
        return sums

    @guarded
    def close(self) -> None:
        """Give all records up."""
        for name in list(self._held):
            self._drop(name)
        self._sorted.clear()

    def _drop(self, name: str) -> None:
        found = self._held.pop(name, None)
        if found is not None:
            found.store.close()


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def fetched(address: str, key: str, where: str, bucket: int) -> Piece:
    """A bucket from another worker, by its address and the key of its actor."""
    from distributed import get_worker
    from distributed.protocol import to_serialize
    from distributed.utils import sync

    worker = get_worker()

    async def ask() -> Any:
        given = [to_serialize(where), to_serialize(bucket)]
        return await worker.rpc(address).actor_execute(function="pieces", actor=key, args=given, kwargs={})

    try:
        reply = sync(worker.loop, ask)
    except (OSError, KeyError, TimeoutError):
        raise Refused(Code.FORGOTTEN) from None
    if reply["status"] != "OK" or reply["result"][0] is not Code.DONE:
        raise Refused(Code.FORGOTTEN)
    piece: Piece = reply["result"][1]
    return piece


@dataclass(frozen=True)
class Listed:
    """Places of a batch within one assignment, in order, repeated as drawn."""

    places: Integers

    def members(self, first: int, count: int) -> Integers:
        """Those from a first one on, so many, less the first."""
        low, high = np.searchsorted(self.places, [first, first + count])
        return self.places[low:high] - first
