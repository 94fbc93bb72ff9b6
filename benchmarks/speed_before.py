"""Seconds of one long fit by this tree and by an older commit, in turns: whether it has become slower."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from tools.compare_speed import ROOT, Tree, tree_of

BEFORE = "7f19856"
"""The commit whose time of 0.82 of scikit-learn's was to be kept."""
PAIRS = 9
SERVE = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from tacit import LogisticRegression
rng = np.random.default_rng(1)
X = rng.standard_normal((1_000_000, 50))
margin = X @ (1.5 * rng.standard_normal(50) / np.sqrt(50))
y = (rng.random(len(X)) < 1 / (1 + np.exp(-margin))).astype(int)
model = LogisticRegression(epsilon=1.0, bounds=(-10, 10))
model.fit(X, y)
for _ in sys.stdin:
    start = time.perf_counter()
    model.fit(X, y)
    print(time.perf_counter() - start, flush=True)
"""


class Fits(Tree):
    """A process that fits 10^6 × 50 by the sources of one tree, once for every line it is sent."""

    def __init__(self, root: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(root / "src"), "TACIT_REMEMBER_FITS": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


def speed_before() -> dict[str, float]:
    """Median seconds of both trees, and the median ratio of pairs in alternating order."""
    times: dict[str, list[float]] = {"tacit": [], "before": []}
    with tree_of(BEFORE) as folder:
        trees = {"tacit": Fits(ROOT), "before": Fits(folder)}
        for tree in trees.values():
            tree.ask("fit")
        for pair in range(PAIRS):
            for name in sorted(trees, reverse=bool(pair % 2)):
                times[name].append(float(trees[name].ask("fit")))
        for tree in trees.values():
            tree.close()
    ratios = [now / then for now, then in zip(times["tacit"], times["before"], strict=True)]
    return {name: statistics.median(found) for name, found in times.items()} | {"ratio": statistics.median(ratios)}
