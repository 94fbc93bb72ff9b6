"""`python -m tests.bounty.hunt MODULE [NAME …]`: run all checks against the bugs of a module, and say which find them.

The module has `BUGS`. Every bug is seeded, and checks are run until one finds it; with --all none is left out.
"""

from __future__ import annotations

import importlib
import sys
import time

import pytest

from tests.bounty.checks import CHECKS, found_by


def tell(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Hunt for the bugs of a module; the exit code is the number of those that nobody found."""
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    bugs, everything = importlib.import_module(given[0]).BUGS, "--all" in sys.argv
    missed = 0
    for bug in bugs:
        if len(given) > 1 and bug.name not in given[1:]:
            continue
        start, findings = time.perf_counter(), 0
        with pytest.MonkeyPatch.context() as patch:
            bug.seed(patch)
            for check in CHECKS:
                finding = found_by(check)
                if finding is not None:
                    findings += 1
                    tell(f"{bug.name} | {check} | {finding}")
                    if not everything:
                        break
        missed += findings == 0
        tell(f"{bug.name}: {findings or 'NOT'} found, {time.perf_counter() - start:.0f} s")
    return missed


if __name__ == "__main__":
    sys.exit(main())
