"""Compare the speed of this tree with that of another commit, both alternated in one run.

    python -m tools.compare_speed COMMIT [--pairs 9] [--topics gradient,estimators,inference]

Each tree has a process of its own, which loads the benchmarks of that tree and runs one measured
function at a time on request. The trees take turns, and every other pair is run in reverse order.
Printed are the median seconds of both and the median of the ratios. The exit status is 1 where a
ratio is above 1.05.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).parents[1]
TOPICS = ("gradient", "estimators", "inference")
SLOWEST = 1.05
OURS = ("tacit", "exact float64", "exact float32 rows")
"""What the benchmarks call the functions of Tacit, as against those of rivals."""


class Tree:
    """A process that runs the benchmarks of one tree."""

    def __init__(self, root: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, line: str) -> str:
        """Send a line and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def serve() -> None:
    """Load a topic and time one of its functions, as the lines of standard input ask."""
    answers, sys.stdout = sys.stdout, sys.stderr
    functions: dict[str, Callable[[], object]] = {}
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        verb, _, name = line.strip().partition(" ")
        if verb == "load":
            functions.clear()
            functions.update(_functions_of(name))
            for function in functions.values():
                function()
            _say(answers, "|".join(functions))
        else:
            start = time.perf_counter()
            functions[name]()
            _say(answers, str(time.perf_counter() - start))


def _say(stream: TextIO, text: str) -> None:
    print(text, file=stream, flush=True)


def _functions_of(topic: str) -> dict[str, Callable[[], object]]:
    """Run a topic once with a stopwatch that keeps the functions of Tacit instead."""
    record: Any = importlib.import_module("benchmarks.record")
    found: dict[str, Callable[[], object]] = {}

    def kept(functions: Mapping[str, Callable[[], object]], repeats: int = 0) -> dict[str, float]:
        del repeats
        for name, function in functions.items():
            if name in OURS:
                found[f"{topic} {len(found) + 1}, {_named(name, function)}"] = function
        return dict.fromkeys(functions, 1.0)

    record.interleaved = kept
    record.write = lambda *_: None
    benchmark: Any = importlib.import_module(f"benchmarks.{topic}")
    if topic == "inference":
        X, y = benchmark.table(benchmark.ROWS, benchmark.COLUMNS)
        with_intervals, without = benchmark.model(inference=True), benchmark.model(inference=False)
        return {
            "inference, with intervals": lambda: with_intervals.fit(X, y),
            "inference, without": lambda: without.fit(X, y),
        }
    benchmark.run()
    return found


def _named(name: str, function: Any) -> str:
    owner = getattr(getattr(function, "func", None), "__self__", None)
    return name if owner is None else type(owner).__name__


def compare(here: Tree, there: Tree, topic: str, pairs: int) -> Iterator[tuple[str, float, float, float]]:
    """Median seconds of both trees and the median ratio, for every function of a topic."""
    names = here.ask(f"load {topic}").split("|")
    there.ask(f"load {topic}")
    for name in names:
        times: dict[Tree, list[float]] = {here: [], there: []}
        for pair in range(pairs):
            for tree in (here, there) if pair % 2 else (there, here):
                times[tree].append(float(tree.ask(f"time {name}")))
        ratios = [now / before for now, before in zip(times[here], times[there], strict=True)]
        medians = (statistics.median(times[tree]) for tree in (there, here))
        yield (name, *medians, statistics.median(ratios))  # type: ignore[misc]


@contextlib.contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """Check a commit out into a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        yield Path(folder)


def main(arguments: list[str]) -> int:
    """Print the table."""
    if arguments == ["--serve"]:
        serve()
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--topics", default=",".join(TOPICS))
    chosen = parser.parse_args(arguments)
    slower = False
    with tree_of(chosen.commit) as folder:
        for topic in chosen.topics.split(","):
            here, there = Tree(ROOT), Tree(folder)
            for name, before, now, ratio in compare(here, there, topic, chosen.pairs):
                slower |= ratio > SLOWEST
                print(f"{name}: {before:.3f} s before, {now:.3f} s now, ratio {ratio:.3f}", flush=True)
            here.close()
            there.close()
    return int(slower)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
