"""A ledger of version 0.1, written anew in the form of this version."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import FileError, LedgerError
from tacit.ledger.chain import Chain
from tacit.ledger.log_file import written
from tacit.ledger.new_file import create
from tacit.ledger.sqlite_ledger import is_version_one, read_entries


def upgrade(old: Path, new: Path) -> None:
    """Write the entries of an old ledger to a new file, each with the hash it had.

    The old file is not changed. While both exist they are two ledgers with a budget each: charge
    the old one no more, and move it away.

    Guarantee
    ---------
    - The new ledger holds every entry of the old one and goes on with its chain.
    - An existing file is never overwritten.

    Raises
    ------
    LedgerError
        If the old file is not a ledger of version 0.1, or damaged.
    FileError
        If the new file exists or cannot be written.
    """
    if not old.is_file():
        raise FileError(f"the ledger {old} cannot be read: no such file")
    if not is_version_one(old):
        raise LedgerError(
            f"{old} is not a ledger of version 0.1, so there is nothing to upgrade. A copy of a "
            "ledger would be another ledger with a whole budget of its own"
        )
    if old.stat().st_nlink > 1:
        # What a crash left in its log lies beside one of the names only.
        raise LedgerError(
            f"{old} has a second name (a hard link), beside which charges may lie that are not in "
            "the file yet; remove the other name first"
        )
    entries = read_entries(old)
    # An old ledger whose chain does not hold is not made to look like a new one.
    Chain(entries)
    if not entries or not create(new, written(entries)):
        raise FileError(f"{new} exists; a ledger is written to a new file")
