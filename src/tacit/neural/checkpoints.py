"""Checkpoints of a training, and the journal of its steps: neither noise is repeated nor a charge lost.

A line of the journal is on disk before its step is answered. So the journal never counts fewer steps than were taken,
whenever a program ends. Everything in a checkpoint is released.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.contract.plan import Plan
from tacit.documents.canonical_json import digest_of, plain
from tacit.errors import FileError, SettingError
from tacit.files import replacing
from tacit.privacy import event_json
from tacit.solvers.network_descent import NetworkDescent, NetworkState

JOURNAL = "journal.jsonl"
FORMAT = "tacit-training/1"
_ARRAYS = ("theta", "first", "second", "total")


def plan_digest(plan: Plan) -> str:
    """A digest of all that fixes a training but its first weights: prices, shapes, settings, architecture."""
    solver = plan.solver
    if not isinstance(solver, NetworkDescent):
        raise SettingError("Only trainings of networks have checkpoints.")
    numbers = {
        name: getattr(solver, name)
        for name in (
            *("steps", "clip", "step_size", "slots", "chunk"),
            *("optimiser", "momentum", "schedule", "tail", "weights"),
        )
    }
    stated = {
        "events": [event_json.to_json(event) for event in plan.events()],
        "records": plan.records,
        "relation": str(plan.relation),
        "loss": plan.loss.name,
        "architecture": solver.network.description,
        "budget": {name: plain(getattr(plan.budget, name)) for name in ("epsilon", "delta")},
        **numbers,
    }
    return digest_of(plain(stated))


@dataclass(frozen=True)
class TrainingFolder:
    """The folder of one training: its journal, and a file for each checkpoint."""

    path: Path

    def begin(self, plan: Plan) -> None:
        """Start a journal; a folder that holds one is refused."""
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with (self.path / JOURNAL).open("x", encoding="ascii") as stream:
                stream.write(json.dumps({"format": FORMAT, "plan": plan_digest(plan)}) + "\n")
                _sync(stream)
        except FileExistsError as error:
            raise SettingError(
                f"{self.path} holds a training already. Call resume(X, y) to go on with it, or choose another folder. "
                "Nothing was spent."
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other programs from going on with the same training at the same time."""
        with (self.path / JOURNAL).open("rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise SettingError("Another program is going on with this training. Nothing was spent.") from error
            yield

    def require(self, plan: Plan) -> None:
        """Refuse a training of another plan."""
        first = self._lines()[0]
        if first.get("format") != FORMAT:
            raise FileError(f"{self.path / JOURNAL} is no journal of a training.")
        if first.get("plan") != plan_digest(plan):
            raise SettingError(
                "These checkpoints are of another plan: another module, number of records, budget or setting. Use the "
                "settings of that training. Nothing was spent."
            )

    @property
    def taken(self) -> int:
        """How many steps were begun so far, repeated ones included."""
        # A last line that was cut off had not been answered yet, and counts all the same.
        return len(self._lines()) - 1

    def note_step(self, number: int) -> None:
        """Note, durably, that a step begins."""
        with (self.path / JOURNAL).open("a", encoding="ascii") as stream:
            stream.write(json.dumps({"step": number}) + "\n")
            _sync(stream)

    def _lines(self) -> list[dict[str, Any]]:
        try:
            text = (self.path / JOURNAL).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{self.path} holds no training: there is no readable {JOURNAL}.") from error
        head, *rest = text.splitlines() or [""]
        try:
            first = json.loads(head)
        except ValueError as error:
            raise FileError(f"{self.path / JOURNAL} is no journal of a training.") from error
        return [first, *({} for _ in rest)]

    def save(self, state: NetworkState) -> Path:
        """Write a checkpoint, completely or not at all."""
        file = self.path / f"step-{state.done:08d}.npz"
        arrays = {name: getattr(state, name) for name in _ARRAYS}
        with replacing(file) as draft, draft.open("wb") as stream:
            np.savez(stream, done=state.done, averaged=state.averaged, **arrays)
        return file

    def load(self, step: int | None = None) -> NetworkState:
        """The state of a checkpoint, the latest unless a step is named."""
        found = sorted(self.path.glob("step-*.npz"))
        if step is not None:
            found = [file for file in found if file.name == f"step-{step:08d}.npz"]
        if not found:
            raise FileError(f"{self.path} has no checkpoint{'' if step is None else f' of step {step}'}.")
        try:
            with np.load(found[-1], allow_pickle=False) as stored:
                theta, first, second, total = (np.array(stored[name], dtype=np.float64) for name in _ARRAYS)
                done, averaged = int(stored["done"]), int(stored["averaged"])
        except (OSError, ValueError, KeyError) as error:
            raise FileError(f"{found[-1]} is no checkpoint of a training.") from error
        arrays = (theta, first, second, total)
        if len({array.shape for array in arrays}) != 1 or not all(np.isfinite(array).all() for array in arrays):
            raise FileError(f"{found[-1]} is no checkpoint of a training.")
        return NetworkState(done, theta, first, second, total, averaged)


def _sync(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())
