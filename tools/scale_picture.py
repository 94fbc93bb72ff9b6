"""Draw docs/pictures/scale.png: processor seconds of a private and of a plain logistic fit against rows and columns.

python -m tools.scale_picture
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from benchmarks.scale import MODELS, table
from tacit.report.figure import BLUE, GREY, drawn, empty_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1]
PICTURE, MEASURED = FOLDER / "docs" / "pictures" / "scale.png", FOLDER / "benchmarks" / "results" / "scale_picture.json"
WIDTH, LENGTH = 20, 20_000
ROWS: Sequence[int] = (10_000, 30_000, 100_000, 300_000)
COLUMNS: Sequence[int] = (20, 50, 100, 200, 500, 1000, 2000)
Points = list[tuple[int, dict[str, float]]]


def measured() -> dict[str, Points]:
    """Seconds by rows at 20 columns, and by columns at 20,000 rows."""
    return {
        f"rows, {WIDTH} columns": [(rows, processor_seconds(rows, WIDTH)) for rows in ROWS],
        f"columns, {LENGTH:,} rows": [(columns, processor_seconds(LENGTH, columns)) for columns in COLUMNS],
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


def picture(found: dict[str, Points]) -> Figure:
    """Both panels with both fits."""
    figure = empty_figure(9.0, 3.6)
    for place, (name, points) in enumerate(found.items(), start=1):
        axes = figure.add_subplot(1, 2, place)
        sizes = [size for size, _ in points]
        for label, colour, marker in (("tacit", BLUE, "o"), ("scikit-learn", GREY, "s")):
            axes.plot(sizes, [it[label] for _, it in points], color=colour, marker=marker, label=label)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(name)
        axes.set_ylabel("processor seconds")
        axes.legend(frameon=False)
        tidy(axes)
    return figure


def main(arguments: list[str]) -> int:
    """Measure, unless what was measured is to be drawn again, and draw."""
    if arguments != ["--again"]:
        MEASURED.write_text(json.dumps(measured(), indent=2) + "\n", encoding="utf-8")
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    drawn(lambda: picture(found), PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
