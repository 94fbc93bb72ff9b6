"""Write golden plans and fits anew, and show what changed.

    python -m tools.golden [plans] [fits] [runs] [statements] [--check]

With --check nothing is written, and the exit status is 1 where something differs.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tools.golden import compare, fits, plans, runs, statements

MOST_LINES = 60
KINDS: Mapping[str, Any] = {"plans": plans, "fits": fits, "runs": runs, "statements": statements}


def present(name: str) -> dict[str, object]:
    """What the code of now plans or fits, as it would be stored."""
    kind = KINDS[name]
    table = {case: kind.described(make) for case, make in kind.cases()}
    table["machine"] = fits.machine()
    return dict(json.loads(json.dumps(table)))


def main(arguments: list[str]) -> int:
    """Compare, show, and store unless only a check was asked for."""
    names = [name for name in KINDS if name in arguments] or list(KINDS)
    changed = False
    for name in names:
        now = present(name)
        stored = compare.read(name) if (compare.FOLDER / f"{name}.json.gz").exists() else {}
        found = list(compare.differences(stored, now))
        changed |= bool(found)
        print(f"{name}: {len(now)} cases, {len(found)} differences")
        for line in found[:MOST_LINES]:
            print(f"  {line}")
        if len(found) > MOST_LINES:
            fields = Counter(line.split(": ", 1)[1].split(" was ")[0] for line in found)
            print(f"  and {len(found) - MOST_LINES} more; the fields that changed most often:")
            for field, times in fields.most_common(20):
                print(f"    {times} times: {field}")
        if "--check" not in arguments:
            compare.write(name, now)
    return int(changed and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
