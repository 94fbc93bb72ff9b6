"""Checkpoints of a training, and the journal of its steps: neither noise is repeated nor a charge lost.

A line of the journal is on disk before its step is answered. So the journal never counts fewer steps than were taken,
whenever a program ends. It notes the digest of each checkpoint too, so that one of another training is refused, whose
steps it has not counted. Everything in a checkpoint is released.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
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

JOURNAL, SAVED = "journal.jsonl", "saved"
FORMAT = "tacit-training/2"
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
        self._note({"step": number})

    def _note(self, line: dict[str, Any]) -> None:
        with (self.path / JOURNAL).open("ab+") as stream:
            if stream.tell() > 0:
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    # A line that was cut off counts as a line of its own.
                    stream.write(b"\n")
            stream.write(json.dumps(line).encode("ascii") + b"\n")
            _sync(stream)

    def _lines(self) -> list[dict[str, Any]]:
        """The first line, and one for each step: every further line but those of checkpoints, whatever it holds."""
        first, *rest = self._all_lines()
        return [first, *(line for line in rest if line.keys() != {SAVED})]

    def _all_lines(self) -> list[dict[str, Any]]:
        try:
            text = (self.path / JOURNAL).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{self.path} holds no training: there is no readable {JOURNAL}.") from error
        first, *rest = [_parsed(line) for line in text.splitlines() or [""]]
        if not first:
            raise FileError(f"{self.path / JOURNAL} is no journal of a training.")
        return [first, *rest]

    def save(self, state: NetworkState) -> Path:
        """Write a checkpoint, completely or not at all."""
        file = self.path / f"step-{state.done:08d}.npz"
        arrays = {name: getattr(state, name) for name in _ARRAYS}
        written = io.BytesIO()
        np.savez(written, done=state.done, averaged=state.averaged, **arrays)
        self._note({SAVED: hashlib.sha256(written.getvalue()).hexdigest()})
        with replacing(file) as draft:
            draft.write_bytes(written.getvalue())
        return file

    def is_at_start(self, step: int | None) -> bool:
        """Whether to go on from the first weights: as step 0, or because a program ended before any checkpoint."""
        return step == 0 or (step is None and not any(self.path.glob("step-*.npz")))

    def load(self, step: int | None = None) -> NetworkState:
        """The state of a checkpoint, the latest unless a step is named."""
        found = sorted(self.path.glob("step-*.npz"))
        if step is not None:
            found = [file for file in found if file.name == f"step-{step:08d}.npz"]
        if not found:
            raise FileError(f"{self.path} has no checkpoint{'' if step is None else f' of step {step}'}.")
        content = found[-1].read_bytes()
        if {SAVED: hashlib.sha256(content).hexdigest()} not in self._all_lines():
            raise FileError(
                f"{found[-1]} is no checkpoint of a training that this folder's journal has counted, or was changed "
                "since. Nothing was spent."
            )
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                theta, first, second, total = (np.array(stored[name], dtype=np.float64) for name in _ARRAYS)
                done, averaged = int(stored["done"]), int(stored["averaged"])
        except (OSError, ValueError, KeyError) as error:
            raise FileError(f"{found[-1]} is no checkpoint of a training.") from error
        arrays = (theta, first, second, total)
        if len({array.shape for array in arrays}) != 1 or not all(np.isfinite(array).all() for array in arrays):
            raise FileError(f"{found[-1]} is no checkpoint of a training.")
        return NetworkState(done, theta, first, second, total, averaged)


def _parsed(line: str) -> dict[str, Any]:
    """A line of the journal; one that was cut off, or holds something else, is empty."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _sync(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())
