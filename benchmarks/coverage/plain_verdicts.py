"""What is asked of labels, and whether counts are against it.

| what | asked |
|---|---|
| nominal intervals, all of a cell | 93–97% cover |
| nominal intervals, each coefficient | 91.5–98.5% cover |
| conservative intervals, all of a cell and each coefficient | at least 94% cover |
| tests of a true null, nominal | 3.5–6.5% reject at the 5% level |
| tests of a true null, conservative | at most 6% reject |
| joint tests | 3.5–6.5% reject; conservative ones at most 6% |

A share is against a bound only if a binomial with the bound as its chance has a tail below 1e-4
there. Intervals of one fit are dependent, so their number is that of as many independent ones.
"""

from __future__ import annotations

import math

from scipy.special import bdtr, bdtrc

from benchmarks.coverage.plain_tally import LabelCount, Tally

RARE = 1e-4
FEWEST = 200
"""Labels with fewer cases are judged over all cells of a population."""
FEWEST_OF_ONE = 30
POOLED, EACH, SAFE = (0.93, 0.97), (0.915, 0.985), (0.94, 1.0)
SIZE, SAFE_SIZE = (0.035, 0.065), (0.0, 0.06)


def tail(hits: float, cases: float, low: float, high: float) -> float:
    """The chance of so extreme a share at the bound that it violates; 1 within the bounds."""
    if cases < 1:
        return 1.0
    whole = max(1, math.floor(cases))
    share = hits / cases
    if share < low:
        return float(bdtr(math.floor(share * whole + 1e-9), whole, low))
    if share > high:
        return float(bdtrc(math.ceil(share * whole - 1e-9) - 1, whole, high))
    return 1.0


def complaint(what: str, hits: float, cases: float, asked: tuple[float, float]) -> str | None:
    """Words about a share that is against what is asked, or None."""
    chance = tail(hits, cases, *asked)
    if chance >= RARE:
        return None
    share = hits / cases
    sign, bound = ("<", asked[0]) if share < asked[0] else (">", asked[1])
    return f"{what} {share:.3f} {sign} {bound:g}"


def coverage_complaints(label: str, count: LabelCount, names: tuple[str, ...]) -> list[str]:
    """What is wrong with the intervals of a label."""
    asked = POOLED if label == "nominal" else SAFE
    effective = count.effective
    found = [complaint(label, count.coverage * effective, effective, asked)]
    asked = EACH if label == "nominal" else SAFE
    for name, cases, covered in zip(names, count.cases, count.covered, strict=True):
        if cases >= FEWEST_OF_ONE:
            found.append(complaint(f"{label} {name}", covered, cases, asked))
    return [each for each in found if each]


def size_complaints(tally: Tally) -> list[str]:
    """What is wrong with the tests of true hypotheses."""
    found = []
    for label, count in tally.labels.items():
        if label in {"nominal", "conservative"}:
            asked = SIZE if label == "nominal" else SAFE_SIZE
            cases = count.null_cases * (count.effective / count.total if count.total else 0)
            hits = count.null_rejected / max(count.null_cases, 1) * cases
            found.append(complaint(f"size {label}", hits, cases, asked))
    for label, (cases, rejected) in tally.joint.items():
        if label in {"nominal", "conservative"}:
            asked = SIZE if label == "nominal" else SAFE_SIZE
            found.append(complaint(f"joint size {label}", rejected, cases, asked))
    return [each for each in found if each]


def cell_complaints(tally: Tally, names: tuple[str, ...]) -> list[str]:
    """What is wrong in a cell with labels that have cases enough; any other label is a fault."""
    found = []
    for label, count in tally.labels.items():
        if label == "withheld":
            continue
        if label not in {"nominal", "conservative"}:
            found.append(f"label {label!r} says nothing")
        elif count.total >= FEWEST:
            found += coverage_complaints(label, count, names)
    return found
