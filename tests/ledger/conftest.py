"""Every test of the ledger begins in a process that has entered no ledger yet."""

from collections.abc import Iterator

import pytest

from tacit.ledger import with_blocks as blocks
from tacit.ledger import with_blocks as notices


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    former = blocks.process
    monkeypatch.delenv(blocks.VARIABLE, raising=False)
    # Also those of forked children that ended in the middle of a block.
    for notice in notices.folder_of(notices.family()).glob("*.json"):
        notice.unlink(missing_ok=True)
    monkeypatch.setattr(blocks, "process", blocks.Process())
    yield
    monkeypatch.undo()
    if former.ever:
        notices.post(blocks.entered(), former.families)
