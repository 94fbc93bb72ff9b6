"""Two writers charge one ledger under two names of its file and are killed again and again.

`python -m benchmarks.ledger.names KIND CHARGES SEED` prints what became of the charges as JSON. A
charge is acknowledged when its writer has written a line with its sequence, hash and label to a
file of its own, to the end of the line, after `Ledger.reserve` returned. Half of the writers are
killed from outside at a random instant; the others end themselves with SIGKILL within a random
system call of an append: before it, halfway through the line that it writes, or right after it.
(The header is 101 bytes within one page, which the system copies in one step: a kill comes before
or after it.)
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tacit.ledger import Ledger
from tacit.privacy import Budget, Gaussian

KINDS = ("bind mount", "symbolic link", "hard link")
ROOT = Path(__file__).parents[2]
LONGEST_PAUSE = 0.05
"""Seconds between two looks at what was acknowledged, at most."""
MOST_BETWEEN_KILLS = 40
"""Charges that are acknowledged between two kills from outside, at most."""
LATEST_CALL = 120
"""System call of an append at which a writer ends itself, at most."""


@dataclass(frozen=True)
class Outcome:
    """What became of the charges of one trial."""

    acknowledged: int
    lost: int
    doubled: int
    unacknowledged: int
    cut_short: int
    kills: int


def may_mount() -> bool:
    """Whether this user may mount, in a mount namespace of its own."""
    folder = tempfile.gettempdir()
    command = ["unshare", "--mount", "mount", "--bind", folder, folder]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def trial(kind: str, charges: int, seed: int) -> Outcome | None:
    """Run one trial in a process of its own; None where mounting is needed and not permitted."""
    command = [sys.executable, "-m", "benchmarks.ledger.names", kind, str(charges), str(seed)]
    if kind == "bind mount":
        if not may_mount():
            return None
        # In a mount namespace of its own: nothing stays mounted, whatever happens.
        command = ["unshare", "--mount", *command]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return Outcome(**json.loads(done.stdout))


def give_second_name(path: Path, kind: str) -> Path:
    """Make another name of the file, in another folder."""
    other = path.parent / "elsewhere" / "other"
    other.parent.mkdir()
    if kind == "symbolic link":
        other.symlink_to(path)
    elif kind == "hard link":
        other.hardlink_to(path)
    else:
        other.touch()
        subprocess.run(["mount", "--bind", path, other], check=True)
    return other


def write_until_killed(name: Path, log: Path, seed: int | None) -> None:
    """Charge the ledger and acknowledge every charge, without end."""
    ledger = Ledger(name)
    if seed is not None:
        end_within_a_call(random.Random(seed))
    acknowledged = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    for number in range(10**9):
        label = f"{log.name}-{number}"
        made = ledger.reserve([Gaussian(1, 10**9)], relation="zero-out", unit="row", label=label)
        os.write(acknowledged, f"{made.sequence} {made.hash} {label}\n".encode())


def end_within_a_call(generator: random.Random) -> None:
    """End this process within a system call of an append that is drawn."""
    left, moment = generator.randrange(LATEST_CALL), generator.choice(("before", "half", "after"))

    def ending(real: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            if moment == "half" and len(arguments) == 3 and arguments[2] > 0:
                number, data, place = arguments
                real(number, data[: len(data) // 2], place)
            elif moment == "after":
                real(*arguments)
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments)

    for name in ("pwrite", "fdatasync"):
        real = getattr(os, name)
        setattr(os, name, lambda *arguments, real=real: ending(real, *arguments))


def start(*arguments: Any) -> int:
    """Run a writer in a forked process; return its number."""
    process = os.fork()
    if process == 0:
        try:
            write_until_killed(*arguments)
        finally:
            # Only an error leads here.
            sys.excepthook(*sys.exc_info())
            os._exit(1)
    return process


def run_writers(names: tuple[Path, Path], logs: Path, charges: int, seed: int) -> int:
    """Keep two writers running until enough charges are acknowledged; return the kills."""
    generator, kills = random.Random(seed), 0

    def begin(which: int) -> int:
        own = generator.randrange(2**32) if generator.random() < 0.5 else None
        return start(names[which], logs / f"{which}-{kills}", own)

    writers = [begin(0), begin(1)]
    done, next_kill = 0, 0
    try:
        while done < charges:
            time.sleep(generator.random() * LONGEST_PAUSE)
            done = len(acknowledged_in(logs))
            # After some charges, not after some time: a busy machine makes progress as well.
            if done >= next_kill:
                os.kill(writers[generator.randrange(2)], signal.SIGKILL)
                next_kill = done + generator.randrange(MOST_BETWEEN_KILLS)
            for which in range(2):
                if has_been_killed(writers[which]):
                    kills += 1
                    writers[which] = begin(which)
    finally:
        for writer in writers:
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
    return kills + len(writers)


def has_been_killed(writer: int) -> bool:
    """Whether a writer is no more; it may end by a kill alone."""
    ended = os.waitid(os.P_PID, writer, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return False
    if ended.si_code == os.CLD_EXITED:
        raise RuntimeError("a writer ended with an error")
    os.waitpid(writer, 0)
    return True


def acknowledged_in(logs: Path) -> list[tuple[int, str, str]]:
    """Sequence, hash and label of every charge whose line is complete."""
    # A kill can cut a write short; a writer has a file of its own, so only its last line.
    lines = [line for log in logs.iterdir() for line in log.read_text().split("\n")[:-1]]
    return [(int(number), hash_, label) for number, hash_, label in map(str.split, lines)]


def measure(kind: str, charges: int, seed: int) -> Outcome:
    """Run the writers and compare what they saw with what the ledger holds."""
    with tempfile.TemporaryDirectory() as folder:
        path, logs = Path(folder) / "ledger", Path(folder) / "acknowledged"
        logs.mkdir()
        Ledger(path, budget=Budget(mu=1.0))
        names = (path, give_second_name(path, kind))
        try:
            kills = run_writers(names, logs, charges, seed)
            # Under the other name as well: both lead to the same entries.
            checks = {Ledger(name).verify() for name in names}
            kept = Ledger(path).charges()
            hashes = {line["sequence"]: line["hash"] for line in lines_of(path)}
        finally:
            if kind == "bind mount":
                subprocess.run(["umount", names[1]], check=True)
        seen = acknowledged_in(logs)
        cut_short = sum(log.read_text().rpartition("\n")[2] != "" for log in logs.iterdir())
    labels = Counter(charge.label for charge in kept)
    lost = [line for line in seen if hashes.get(line[0]) != line[1] or not labels[line[2]]]
    for line in lost:
        print(f"lost: {line}, in its place: {hashes.get(line[0])}", file=sys.stderr)
    doubled = sum(labels.values()) - len(labels)
    if len(checks) != 1:
        raise RuntimeError("the two names lead to different entries")
    return Outcome(len(seen), len(lost), doubled, len(kept) - len(seen), cut_short, kills)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Entries as they stand in the file, read without Tacit."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[1:-1] if line]


if __name__ == "__main__":
    print(json.dumps(asdict(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))))
