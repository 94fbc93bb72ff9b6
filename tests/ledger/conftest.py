"""Every test of the ledger begins in a process that has entered no ledger yet."""

import os
from collections.abc import Iterator

import pytest

from tacit.ledger import blocks, notices


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    former = blocks.process
    mine = notices.family_folder() / f"{os.getpid()}.json"
    monkeypatch.delenv(notices.VARIABLE, raising=False)
    mine.unlink(missing_ok=True)
    monkeypatch.setattr(blocks, "process", blocks.Process())
    yield
    monkeypatch.undo()
    if former.ever:
        notices.post(former.posted)
