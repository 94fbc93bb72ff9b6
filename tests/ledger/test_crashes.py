"""A writer that dies within any system call of an append, thousands of times, under two names."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.ledger.entry import Entry, EntryKind
from tacit.ledger.storage import FileStorage

FIRST = Entry.follow(None, EntryKind.OPEN, 0, {})
APPENDS = 200


class Killed(BaseException):
    """Stands for the end of the process: nothing of the library catches it."""


class Fate:
    """Ends an append before, within or after one of its system calls."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        self.left: int | None = None

    def draw(self) -> None:
        self.left = self.generator.randrange(6) if self.generator.random() < 0.4 else None

    def meets(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if self.left is None:
                return real(*arguments)
            self.left -= 1
            if self.left >= 0:
                return real(*arguments)
            moment = self.generator.choice(("before", "within", "after"))
            # The header is written in one step: it is within one page and one sector.
            if moment == "within" and len(arguments) == 3 and arguments[2] > 0:
                number, data, place = arguments
                real(number, data[: self.generator.randrange(len(data))], place)
            elif moment == "after":
                real(*arguments)
            raise Killed

        return call


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_t44_no_acknowledged_entry_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    generator = random.Random(seed)
    fate, names = Fate(generator), (tmp_path / "one", tmp_path / "two")
    FileStorage(names[0]).create(FIRST)
    names[1].hardlink_to(names[0])
    storages = [FileStorage(path) for path in names]
    acknowledged, written, killed = [FIRST], {FIRST}, 0
    # No power is cut here, so nothing need be on the disk.
    calls: dict[str, Callable[..., Any]] = {
        "pwrite": os.pwrite,
        "ftruncate": os.ftruncate,
        "fdatasync": lambda number: None,
    }
    for name, real in calls.items():
        monkeypatch.setattr(os, name, fate.meets(real))
    for _ in range(APPENDS):
        which = generator.randrange(2)
        fate.draw()
        try:
            with storages[which].session(alone=True) as session:
                last = session.entries(acknowledged[-1].sequence - 1)[-1]
                label = {"label": "x" * generator.randrange(300)}
                entry = Entry.follow(last, EntryKind.RESERVE, 0, label)
                written.add(entry)
                session.append(entry)
        except Killed:
            killed += 1
            storages[which] = FileStorage(names[which])
        else:
            acknowledged.append(entry)
    monkeypatch.undo()
    for path in names:
        with FileStorage(path).session(alone=False) as session:
            kept = session.entries()
        # Every one that was told of, and no other but those that were being written.
        assert set(acknowledged) <= set(kept) <= written
        assert [entry.sequence for entry in kept] == list(range(len(kept)))
        assert len(kept) <= len(acknowledged) + killed
    assert killed > APPENDS / 10
