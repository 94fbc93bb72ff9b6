"""How many flipped bits of a ledger go unnoticed."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import LedgerError
from tacit.ledger import Ledger
from tacit.privacy import Budget, Gaussian


def unnoticed_flips(folder: Path) -> tuple[int, int]:
    """Flipped bits of a small ledger, every bit of it once, and how many went unnoticed."""
    path, copy = folder / "whole", folder / "flipped"
    ledger = Ledger(path, budget=Budget(mu=1.0), dataset="clinic")
    for _ in range(3):
        charge = ledger.reserve([Gaussian(1, 100)], relation="replace-one", unit="row")
        ledger.commit(charge, "sha256:" + "a" * 64)
    whole, unnoticed = path.read_bytes(), 0
    for place in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << (place % 8)
        copy.write_bytes(flipped)
        try:
            Ledger(copy).verify()
        except LedgerError:
            continue
        unnoticed += 1
    return len(whole) * 8, unnoticed
