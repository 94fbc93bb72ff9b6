"""Whether a record is noticed outside of its own row: every poisoned cell in every role.

The tests put each cell into one role of each kind of table; here it stands in every one. A fault is
an error, a warning, another number of records, or another bit of another record.
"""

from __future__ import annotations

import time

from benchmarks.record import Figure, write
from tests.rows.test_noninterference import BESIDE, FRAMES, MATRICES, columns_of, matrices_of, tables_of


def run() -> None:
    """Compare all neighbouring tables and count the faults."""
    start = time.perf_counter()
    groups = ((FRAMES, tables_of), (MATRICES, matrices_of), (BESIDE, columns_of))
    faults = compared = 0
    for kinds, compare in groups:
        for kind in kinds:
            found, tried = compare(kind, each=True)
            faults, compared = faults + len(found), compared + tried
            print(f"  {kind}: {tried} compared, {len(found)} noticed")
    seconds = time.perf_counter() - start
    write(
        "noninterference",
        [
            Figure("poisoned records compared", compared, "", "at least 5000", compared >= 5000),
            Figure("records that were noticed", faults, "", "0", faults == 0),
        ],
        {"seconds": seconds},
    )
