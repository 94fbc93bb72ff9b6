"""How many charges several processes get out of one budget."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tacit.ledger import Ledger
from tacit.privacy import Budget

PROCESSES, ATTEMPTS, ROOM = 8, 100, 500
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


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Run a program in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def accepted_under_contention(folder: Path) -> int:
    """Charges that several processes get out of a budget for `ROOM`."""
    path = folder / "contended"
    Ledger(path, budget=Budget(mu=1.0))
    spenders = [start(SPENDER, path, ATTEMPTS, ROOM) for _ in range(PROCESSES)]
    accepted = sum(int(spender.communicate()[0]) for spender in spenders)
    Ledger(path).verify()
    return accepted
