"""Trajectories: how far each solver is from the truth after so many answers, at one budget.

The points at which a solver asks are recorded at its gate and taken to the user's scale. One panel
has public bounds that hug the features, the other loose ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.cells import Cell, plan_of, row_bound
from benchmarks.coverage.designs import Design
from benchmarks.coverage.plain import Sample, fit
from benchmarks.record import RESULTS, Figure, write
from tacit import Budget, LogisticRegression
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, Query
from tacit.engine.gate import PlannedGate
from tacit.errors import SettingError
from tacit.mechanisms.query_responder import Responder
from tacit.report.figure import FAINT, INK, STYLE
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RECORDS, WIDTH, MU, RUNS, ROUNDS = 4000, 4, 1.0, 40, 400
BOUNDS = (3.0, 10.0)
FILE = "trajectories.png"
DESIGN = Design("logistic", "clean", WIDTH)

Vector = NDArray[np.float64]
Path_ = list[tuple[int, Vector]]


@dataclass
class RecordingGate:
    """Passes queries on, and keeps the points at which they were asked."""

    gate: PlannedGate
    plan: Plan
    asked: int = 0
    points: Path_ = field(default_factory=list)

    def ask(self, query: Query) -> Answer:
        """Answer as the gate does."""
        theta = getattr(query, "theta", None)
        if theta is not None:
            matrix = getattr(query, "matrix", None)
            prepared = theta if matrix is None else matrix @ theta
            self.points.append((self.asked, self.plan.design.to_user() @ prepared))
        self.asked += 1
        return self.gate.ask(query)


def walk(plan: Plan, X: Vector, y: Vector, seed: int) -> Path_:
    """Points of one run and its result, each with the number of answers before it."""
    store = admit(open_source(X, y), plan.design, invalid_rows="error", dtype=np.float32)
    with Responder(store, private=True, seed=seed) as responder:
        gate = RecordingGate(PlannedGate(plan, responder), plan)
        found = plan.solver.run(gate, plan)
    return [*gate.points, (gate.asked, plan.design.to_user() @ found.theta)]


def tail_averages(path: Path_) -> Path_:
    """After each answer the mean of the second half of the points so far."""
    return [(asked, np.mean([point for _, point in path[k // 2 : k + 1]], axis=0)) for k, (asked, _) in enumerate(path)]


@dataclass(frozen=True)
class Line:
    """A solver as it is drawn."""

    label: str
    color: str
    settings: dict[str, Any]
    seen: Callable[[Path_], Path_] = lambda path: path


LINES = (
    Line("gradient descent, iterates", "#8d99a3", {"solver": "gradient", "output": "last"}),
    Line("gradient descent, tail average", "#e08e0b", {"solver": "gradient", "output": "tail"}, tail_averages),
    Line("noisy Newton, iterates", "#2e8b57", {"solver": "newton"}),
    Line("pilot and one Newton step", "#1f6fb2", {"inference": True}),
)


def model(settings: dict[str, Any], bound: float) -> LogisticRegression:
    """The estimator of a line; plain descent takes as many steps as are drawn."""
    descent: dict[str, Any] = {"iterations": ROUNDS} if settings.get("solver") == "gradient" else {}
    return LogisticRegression(budget=Budget(mu=MU), bounds=(-bound, bound), classes=(0, 1), **settings, **descent)


def errors(line: Line, bound: float) -> tuple[list[int], list[float]] | None:
    """Root mean square error over runs, over that without noise, against answers; None if unknown.

    A solver that this version does not have is left out.
    """
    try:
        plan = model(line.settings, bound).plan(RECORDS, WIDTH - 1)
    except SettingError:
        return None
    usual = plan_of(Cell("logistic", "clean", RECORDS, WIDTH, MU))
    truth = DESIGN.coefficients()
    squares: dict[int, list[float]] = {}
    exact = []
    for run in range(RUNS):
        generator = np.random.default_rng([7, run])
        X, y = DESIGN.draw(RECORDS, generator)
        sample = Sample.of(X, y, row_bound(usual))
        exact.append(float(np.sum((fit("logistic", usual, sample, truth).values - truth) ** 2)))
        for asked, point in line.seen(walk(plan, X, y, run)):
            squares.setdefault(asked, []).append(float(np.sum((point - truth) ** 2)))
    answers = sorted(squares)
    level = math.sqrt(float(np.mean(exact)))
    return answers, [math.sqrt(float(np.mean(squares[k]))) / level for k in answers]


def draw(axes: Axes, bound: float) -> dict[str, float]:
    """One panel; return where each line ends."""
    last = {}
    for line in LINES:
        found = errors(line, bound)
        if found is None:
            continue
        answers, sizes = found
        ours = "one Newton" in line.label
        axes.plot(
            np.array(answers) + 1,
            sizes,
            color=line.color,
            linewidth=2.6 if ours else 1.8,
            label=line.label,
            zorder=4 if ours else 3,
        )
        axes.scatter([answers[-1] + 1], sizes[-1:], color=line.color, s=42, zorder=5, clip_on=False)
        last[line.label] = sizes[-1]
        if ours:
            axes.annotate(
                f"{answers[0]} answers place\nand whiten the rows",
                (answers[0] + 1, sizes[0]),
                xytext=(answers[0] / 1.35, 3.2),
                ha="right",
                va="center",
                fontsize=9.5,
                color=line.color,
            )
    axes.axhline(1.0, color=INK, linewidth=1.0, linestyle="--", label="without noise", zorder=2)
    axes.set_title(f"public bounds ±{bound:g}", fontsize=12, fontweight="bold", loc="left")
    axes.set_yscale("log")
    axes.set_ylim(0.8, 40)
    ticks = (1, 2, 5, 10, 20)
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.set_xscale("log")
    rounds = (1, 5, 20, 100, 400)
    axes.set_xticks(rounds, [str(each) for each in rounds])
    axes.minorticks_off()
    axes.set_xlim(1, 1.05 * ROUNDS)
    axes.set_xlabel("answers asked of the records")
    axes.grid(color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return last


def picture(path: Path) -> dict[str, dict[str, float]]:
    """Both panels in one file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawn

    with mpl.rc_context(STYLE):
        figure = Drawn(figsize=(11.6, 4.9))
        figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.1, rect=(0, 0, 1, 0.93))
        left, right = figure.subplots(1, 2, sharey=True)
        found = {f"±{bound:g}": draw(axes, bound) for axes, bound in zip((left, right), BOUNDS, strict=True)}
        left.set_ylabel("error over that of the fit without noise")
        left.legend(frameon=False, fontsize=9.5, loc="upper right")
        title = f"Logistic regression, n = {RECORDS:,}, {WIDTH} coefficients, μ = {MU:g}"
        figure.suptitle(title, x=0.012, y=0.98, ha="left", fontsize=14, fontweight="bold")
        figure.savefig(path, dpi=130, metadata={"Software": None})
    return found


def run() -> None:
    """Draw and record."""
    found = picture(RESULTS / FILE)
    label = LINES[-1].label
    figures = [
        Figure(
            f"error of {label} over that without noise, bounds {bound}",
            ends[label],
            "×",
            "at most 1.3",
            ends[label] <= 1.3,
        )
        for bound, ends in found.items()
    ]
    write("trajectories", figures, {"where lines end": found, "runs": RUNS})
