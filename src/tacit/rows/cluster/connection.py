"""The coordinator's line to the workers of a Dask cluster: calls, replies, and who was lost.

Private: what workers reply. Dask schedules nothing here but one actor a worker, to which calls go; a call that is not
answered is never repeated by Dask. distributed takes long to import, so it is imported where it is first needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.contract.cluster import Cluster
from tacit.errors import ClusterError, ClusterLost, FileError
from tacit.rows.cluster.codes import Code, Reply
from tacit.rows.cluster.handshake import Fingerprint, Probe, fingerprint
from tacit.rows.cluster.local_workers import local_workers
from tacit.rows.cluster.wall import (
    PAGES,
    TLS,
    is_inside,
    require_inside,
    require_trusted,
    require_trusted_scheduler,
    security_of,
)
from tacit.rows.cluster.worker import PartitionHolder

POLL = 0.5
"""Seconds between two looks at who is still there, while a reply is awaited."""
START = 60.0
"""Seconds in which a cluster must answer, and in which a first worker must be there."""
EXTRA = 'A cluster needs Dask: pip install "tacit[cluster]".'

Call = tuple[str, Sequence[Any]]
"""A method of the worker and what it is called with."""


async def executed(worker: Any, key: str, method: str, given: Sequence[Any]) -> Reply:
    """Reply of a method of the actor of some key, from a worker that can be called."""
    from distributed.protocol import to_serialize

    arguments = [to_serialize(argument) for argument in given]
    result = await worker.actor_execute(function=method, actor=key, args=arguments, kwargs={})
    return result["result"] if result["status"] == "OK" else (Code.FAILED, None)


@dataclass
class Heartbeat:
    """When a worker was last heard of, by the clock of this process."""

    seen: float
    noticed: float


@dataclass
class Connection:
    """Workers by address, each with its actor; all gave the handshake.

    Guarantee: a worker that is lost, paused or not heard of is given up for good: what it might still reply is not
    awaited. A worker of other sources, libraries or bits is refused, and never asked for a record.
    """

    cluster: Cluster
    probe: Probe
    client: Any = field(repr=False)
    closing: contextlib.ExitStack = field(repr=False)
    actors: dict[str, Any] = field(default_factory=dict, repr=False)
    _given_up: set[str] = field(default_factory=set, repr=False)
    _heard: dict[str, Heartbeat] = field(default_factory=dict, repr=False)
    _own: Fingerprint | None = field(default=None, repr=False)

    @classmethod
    def open(cls, cluster: Cluster, probe: Probe) -> Connection:
        """Connect, check that the wall holds, and shake hands with every worker."""
        if importlib.util.find_spec("distributed") is None:
            raise ClusterError(EXTRA)
        closing = contextlib.ExitStack()
        try:
            address, waited = cluster.address, 1
            if cluster.workers is not None:
                address, waited = closing.enter_context(local_workers(cluster.workers)), cluster.workers
            require_inside(str(address))
            # After workers of our own were started: it takes as long as they do.
            import distributed

            try:
                client = distributed.Client(
                    address, security=security_of(cluster), set_as_default=False, timeout=cluster.patience, name="tacit"
                )
            except Exception:  # noqa: BLE001 - whatever listens there may be no scheduler, and answer anything
                raise ClusterError(f"No Dask scheduler answers at {address}. Nothing was spent.") from None
            closing.callback(_quietly, client.close)
            found = cls(cluster, probe, client, closing)
            require_trusted(found._info())
            require_trusted_scheduler(client)
            # Meanwhile workers start.
            found._own = fingerprint(probe)
            try:
                client.wait_for_workers(waited, timeout=START)
            except (TimeoutError, OSError):
                raise ClusterError("The cluster has no workers. Nothing was spent.") from None
            found.join(strict=True)
            if not found.actors:
                raise ClusterError("The cluster has no workers. Nothing was spent.")
        except BaseException:
            closing.close()
            raise
        return found

    def join(self, *, strict: bool) -> None:
        """Take on workers that are not known yet; where not `strict`, those that are not trusted are passed over."""
        info = self._info()
        if strict:
            require_trusted(info)
        known = self.actors.keys() | self._given_up
        new = [address for address in info["workers"] if address not in known and is_inside(address)]
        for address, actor in self._make_actors(new, strict=strict):
            self.actors[address] = actor
        fresh = [address for address in new if address in self.actors]
        if not fresh:
            return
        if self._own is None:
            self._own = fingerprint(self.probe)
        replies = self.call(dict.fromkeys(fresh, ("hello", (self.probe,))))
        for address in fresh:
            if address not in replies:
                # Lost before it could answer; the others may do.
                continue
            code, found = replies[address]
            complaint = _complaint(self._own, found) if code is Code.DONE else "does not compute public sums"
            if complaint is not None:
                self.give_up(address)
                if strict:
                    raise ClusterError(f"A worker {complaint}. Nothing was spent.")

    def require_workers(self) -> None:
        """Take on whoever joined; where nobody is left, wait as long as for a worker that is not heard of."""
        deadline = time.monotonic() + self.cluster.patience
        self.join(strict=False)
        while not self.actors and time.monotonic() < deadline:
            time.sleep(POLL)
            self.join(strict=False)
        if not self.actors:
            raise ClusterLost("Every worker of the cluster was lost.")

    def _make_actors(self, addresses: Sequence[str], *, strict: bool) -> Iterator[tuple[str, Any]]:
        futures = {
            address: self.client.submit(
                PartitionHolder, actor=True, workers=[address], allow_other_workers=False, pure=False
            )
            for address in addresses
        }
        for address, future in futures.items():
            if self._is_made(address, future):
                yield address, future
            elif strict and address in self._info()["workers"]:
                raise ClusterError("A worker cannot load this version of Tacit. Nothing was spent.")

    def _is_made(self, address: str, future: Any) -> bool:
        """Whether an actor is there; not where its worker was lost meanwhile, or cannot make it."""
        deadline = time.monotonic() + START
        while time.monotonic() < deadline and address in self._info()["workers"]:
            try:
                return future.exception(timeout=POLL) is None
            except TimeoutError:
                continue
            except (Exception, asyncio.CancelledError):  # noqa: BLE001 - of a lost worker Dask says all kinds of things
                return False
        return False

    def _info(self) -> Any:
        try:
            return self.client.scheduler_info(n_workers=-1)
        except (OSError, TimeoutError, RuntimeError, ValueError, asyncio.CancelledError):
            raise lost_scheduler() from None

    def call(self, calls: Mapping[str, Call]) -> dict[str, Reply]:
        """Call workers at once; of those that are lost there is no reply, and they are given up."""
        if not calls:
            return {}
        try:
            replies: dict[str, Reply] = self.client.sync(self._call, calls)
        except (OSError, RuntimeError, asyncio.CancelledError):
            raise lost_scheduler() from None
        for address in calls:
            if address not in replies:
                self.give_up(address)
        return replies

    async def _call(self, calls: Mapping[str, Call]) -> dict[str, Reply]:
        self._heard.clear()
        waiting = {
            asyncio.ensure_future(self._reply(address, method, given)): address
            for address, (method, given) in calls.items()
            if address in self.actors
        }
        replies: dict[str, Reply] = {}
        for task in waiting:
            # Somebody must ask for an exception, or Python complains of it; its text goes nowhere.
            task.add_done_callback(_failed)
        try:
            while waiting:
                done, _ = await asyncio.wait(waiting, timeout=POLL, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    address = waiting.pop(task)
                    if not _failed(task):
                        replies[address] = task.result()
                gone = set() if done else await self._silent(waiting.values())
                for task in [task for task, address in waiting.items() if address in gone]:
                    del waiting[task]
                    task.cancel()
        finally:
            for task in waiting:
                task.cancel()
        if len(replies) < len(calls):
            # Is it a worker that is lost, or the scheduler, by way of which all are called?
            await self._silent(())
        return replies

    async def _reply(self, address: str, method: str, given: Sequence[Any]) -> Reply:
        """Call an actor by way of the scheduler. Dask's own proxy of an actor may wait for ever when one is lost."""
        from distributed.actor import ProxyRPC

        worker = ProxyRPC(self.client.scheduler, address)
        return await executed(worker, self.actors[address].key, method, given)

    async def _silent(self, addresses: Iterable[str]) -> set[str]:
        """Those of some workers that are gone, or were not heard of for too long."""
        if self.client.status != "running":
            raise lost_scheduler()
        try:
            info = await asyncio.wait_for(self.client.scheduler.identity(n_workers=-1), self.cluster.patience)
        except (OSError, TimeoutError, asyncio.CancelledError):
            raise lost_scheduler() from None
        now, gone = time.monotonic(), set[str]()
        for address in addresses:
            worker = info["workers"].get(address)
            if worker is None:
                gone.add(address)
                continue
            beat = self._heard.setdefault(address, Heartbeat(worker["last_seen"], now))
            if worker["last_seen"] != beat.seen:
                self._heard[address] = Heartbeat(worker["last_seen"], now)
            elif now - beat.noticed > self.cluster.patience:
                gone.add(address)
        return gone

    def give_up(self, address: str) -> None:
        """Never ask a worker again; its actor is released, so that it drops what it holds."""
        self._given_up.add(address)
        self.actors.pop(address, None)

    def close(self) -> None:
        """Leave the cluster; workers of this fit's own are ended."""
        self.actors.clear()
        self.closing.close()


def _failed(task: asyncio.Future[Reply]) -> bool:
    return task.cancelled() or task.exception() is not None


def _complaint(own: Fingerprint, found: Fingerprint) -> str | None:
    """What is wrong with a worker, None if nothing is."""
    if differences := own.differences(found):
        return (
            f"differs from this process in {', '.join(differences)}: a record's integers could depend on who computes"
        )
    if found.spills:
        return "lets Dask spill to disk; start it with --memory-limit 0"
    if not found.inside:
        return f"listens in the clear beyond its machine. {TLS}"
    if found.pages:
        return PAGES
    return None


def lost_scheduler() -> ClusterLost:
    """The error for a scheduler that is gone."""
    return ClusterLost("The scheduler of the cluster was lost.")


def _quietly(close: Any) -> None:
    with contextlib.suppress(OSError, RuntimeError, TimeoutError, FileError, asyncio.CancelledError):
        close()
