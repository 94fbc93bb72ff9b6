"""Draw docs/pictures/scale.png: seconds of a private and of a plain logistic fit against rows, columns and workers.

python -m tools.scale_picture [--panels workers | --again]

With `--panels` only some of rows, columns and workers are measured again, with `--again` none.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

import tacit
from benchmarks.parquet import NAMES, make_file, schema
from benchmarks.scale import MODELS, table
from tacit.report.figure import BLUE, GREY, drawn, empty_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1]
PICTURE, MEASURED = FOLDER / "docs" / "pictures" / "scale.png", FOLDER / "benchmarks" / "results" / "scale_picture.json"
WIDTH, LENGTH = 20, 20_000
STORED = 10_000_000
"""Records of the file that workers share."""
WORKERS: Sequence[int] = (1, 2, 4)
ROWS: Sequence[int] = (10_000, 30_000, 100_000, 300_000)
COLUMNS: Sequence[int] = (20, 50, 100, 200, 500, 1000, 2000)
Points = list[tuple[int, dict[str, float]]]


def by_rows() -> Points:
    """Processor seconds by rows."""
    return [(rows, processor_seconds(rows, WIDTH)) for rows in ROWS]


def by_columns() -> Points:
    """Processor seconds by columns."""
    return [(columns, processor_seconds(LENGTH, columns)) for columns in COLUMNS]


def by_workers() -> Points:
    """Seconds by the clock of whole fits of a Parquet file, the least of two; scikit-learn reads and fits it too."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = Path(folder) / "table.parquet"
        make_file(data, STORED)
        facts = tacit.Schema.parse(schema())

        def plain() -> None:
            table = pq.read_table(data)
            X = np.column_stack([table[name].to_numpy() for name in NAMES])
            MODELS["logistic"][1].fit(X, table["y"].to_numpy())

        alone = _least(plain)
        formula = "y ~ " + " + ".join(NAMES)
        return [
            (
                workers,
                {
                    "tacit": _least(partial(tacit.glm, formula, data, facts, epsilon=1.0, cluster=workers)),
                    "scikit-learn": alone,
                },
            )
            for workers in WORKERS
        ]


def _least(function: Callable[[], object], times: int = 2) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


PANELS: Mapping[str, tuple[str, str, Callable[[], Points]]] = {
    "rows": (f"rows, {WIDTH} columns", "processor seconds", by_rows),
    "columns": (f"columns, {LENGTH:,} rows", "processor seconds", by_columns),
    "workers": (f"workers on two cores, a file of 10^7 × {WIDTH}", "seconds by the clock", by_workers),
}


def processor_seconds(rows: int, columns: int) -> dict[str, float]:
    """Seconds of the processor in all threads, the least of six interleaved fits: other work changes them little."""
    X, y = table("logistic", rows, columns)
    found = {"tacit": math.inf, "scikit-learn": math.inf}
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore")
        for _ in range(6):
            for name, model in zip(found, MODELS["logistic"], strict=True):
                start = time.process_time()
                model.fit(X, y)
                found[name] = min(found[name], time.process_time() - start)
    return found


def picture(found: Mapping[str, Points]) -> Figure:
    """All panels with both fits."""
    figure = empty_figure(13.0, 3.6)
    for place, (name, (title, unit, _)) in enumerate(PANELS.items(), start=1):
        axes = figure.add_subplot(1, len(PANELS), place)
        points = found[name]
        sizes = [size for size, _ in points]
        for label, colour, marker in (("tacit", BLUE, "o"), ("scikit-learn", GREY, "s")):
            axes.plot(sizes, [it[label] for _, it in points], color=colour, marker=marker, label=label)
        if name == "workers":
            axes.set_xticks(sizes)
            axes.set_ylim(bottom=0.0)
        else:
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_xlabel(title)
        axes.set_ylabel(unit)
        axes.legend(frameon=False)
        tidy(axes)
    return figure


def main(arguments: list[str]) -> int:
    """Measure, unless what was measured is to be drawn again, and draw; each panel is stored when it is measured."""
    found = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    asked = arguments[1].split(",") if arguments[:1] == ["--panels"] else list(PANELS)
    for name in [] if arguments == ["--again"] else asked:
        found[name] = PANELS[name][2]()
        MEASURED.write_text(
            json.dumps({name: found[name] for name in PANELS if name in found}, indent=2) + "\n", "utf-8"
        )
    drawn(lambda: picture(found), PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
