"""The ledger under contention, under kill -9, and with flipped bytes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.record import Figure, write
from tacit.errors import LedgerError
from tacit.ledger import Ledger
from tacit.privacy import Budget, Gaussian

PROCESSES, ATTEMPTS, ROOM, KILLS, LONGEST_WAIT = 8, 100, 500, 50, 60.0
SPENDER = """
import sys
from tacit.errors import BudgetError
from tacit.ledger import Ledger
from tacit.privacy import Gaussian
ledger, accepted = Ledger(sys.argv[1]), 0
for _ in range(int(sys.argv[2])):
    try:
        ledger.reserve([Gaussian(1, int(sys.argv[3]))], relation="replace-one", unit="row")
    except BudgetError:
        continue
    accepted += 1
print(accepted)
"""
# A line is on disk before the next charge: it names a release that somebody has seen.
RELEASER = """
import os, sys
from tacit.ledger import Ledger
from tacit.privacy import Gaussian
path, log, name = sys.argv[1:]
ledger = Ledger(path)
with open(log, "a") as stream:
    for number in range(10**6):
        label = f"{name}-{number}"
        charge = ledger.reserve([Gaussian(1, 10**9)], relation="zero-out", unit="row", label=label)
        stream.write(label + "\\n")
        stream.flush()
        os.fsync(stream.fileno())
        ledger.commit(charge, "sha256:" + label)
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Run a program in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def accepted_under_contention(folder: Path) -> int:
    """Charges that several processes get out of a budget for `ROOM`."""
    path = folder / "contended.db"
    Ledger(path, budget=Budget(mu=1.0))
    spenders = [start(SPENDER, path, ATTEMPTS, ROOM) for _ in range(PROCESSES)]
    accepted = sum(int(spender.communicate()[0]) for spender in spenders)
    Ledger(path).verify()
    return accepted


def faults_after_kills(folder: Path) -> int:
    """Releases without a charge, and charges lost or doubled, over `KILLS` kills."""
    path, log = folder / "killed.db", folder / "released.txt"
    log.touch()
    Ledger(path, budget=Budget(mu=1.0))
    faults = 0
    for kill in range(KILLS):
        releaser = start(RELEASER, path, log, kill)
        before, deadline = log.stat().st_size, time.monotonic() + LONGEST_WAIT
        while log.stat().st_size == before and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(random.random() * 0.1)
        os.kill(releaser.pid, signal.SIGKILL)
        releaser.communicate()
        ledger = Ledger(path)
        ledger.verify()
        labels = Counter(charge.label for charge in ledger.charges())
        released = log.read_text(encoding="utf-8").splitlines()
        faults += len(set(released) - set(labels)) + sum(labels.values()) - len(labels)
        print(f"\r  kill {kill + 1} of {KILLS}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return faults


def unnoticed_flips(folder: Path) -> tuple[int, int]:
    """Flipped bytes of a small ledger, and how many of them went unnoticed."""
    path, copy = folder / "whole.db", folder / "flipped.db"
    ledger = Ledger(path, budget=Budget(mu=1.0), dataset="clinic")
    for _ in range(3):
        charge = ledger.reserve([Gaussian(1, 100)], relation="replace-one", unit="row")
        ledger.commit(charge, "sha256:" + "a" * 64)
    whole, unnoticed = path.read_bytes(), 0
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << (place % 8)
        for suffix in ("-wal", "-shm", "-journal"):
            Path(f"{copy}{suffix}").unlink(missing_ok=True)
        copy.write_bytes(flipped)
        try:
            Ledger(copy).verify()
        except LedgerError:
            continue
        unnoticed += 1
    return len(whole), unnoticed


def run() -> None:
    """Measure and record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        accepted = accepted_under_contention(folder)
        faults = faults_after_kills(folder)
        flips, unnoticed = unnoticed_flips(folder)
    write(
        "ledger",
        [
            Figure(
                f"accepted of {PROCESSES} × {ATTEMPTS} charges",
                accepted,
                "charges",
                f"exactly {ROOM}",
                accepted == ROOM,
            ),
            Figure(f"faults after {KILLS} kill -9", faults, "", "0", faults == 0),
            Figure(f"unnoticed of {flips} flipped bytes", unnoticed, "", "0", unnoticed == 0),
        ],
        {},
    )
