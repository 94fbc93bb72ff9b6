"""Draw the pictures of docs/theory: bounds beside what is measured, on simulated records.

python -m tools.theory_pictures [NAME …]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.accounting import gaussian
from tacit.planning import bounds
from tacit.planning.bounds import NoisyDescent
from tacit.report.figure import BLUE, GREEN, GREY, INK, ORANGE, drawn, empty_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
Floats = NDArray[np.float64]
BOUND: dict[str, Any] = {"color": INK, "linestyle": "--", "linewidth": 1.4}
RUNS = 20


def logistic_rows(n: int, d: int, rank: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows of norm 1 that span `rank` dimensions, and labels -1 and 1 of a logistic model."""
    generator = np.random.default_rng(seed)
    X = np.zeros((n, d))
    X[:, :rank] = generator.standard_normal((n, rank))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(generator.random(n) < 1 / (1 + np.exp(-4 * X[:, 0])), 1.0, -1.0)


def loss(X: Floats, y: Floats, theta: Floats) -> float:
    """Mean logistic loss."""
    return float(np.logaddexp(0, -y * (X @ theta)).mean())


def gradient(X: Floats, y: Floats, theta: Floats) -> Floats:
    """Mean gradient of the logistic loss."""
    return np.asarray(-X.T @ (y / (1 + np.exp(y * (X @ theta)))) / len(y))


def minimiser(X: Floats, y: Floats, radius: float = math.inf) -> Floats:
    """The best coefficients within a ball."""
    theta = np.zeros(X.shape[1])
    for _ in range(3000):
        theta = theta - 4.0 * gradient(X, y, theta)
        theta = theta / max(1.0, float(np.linalg.norm(theta)) / radius)
    return theta


def descended(
    X: Floats, y: Floats, facts: NoisyDescent, steps: int, size: float, radius: float = math.inf, seed: int = 0
) -> Floats:
    """Averages of the iterates of noisy projected descent, step by step."""
    generator = np.random.default_rng(seed)
    theta, total, found = np.zeros(X.shape[1]), np.zeros(X.shape[1]), []
    for step in range(steps):
        total += theta
        found.append(total / (step + 1))
        noise = facts.noise * math.sqrt(steps) * generator.standard_normal(X.shape[1])
        theta = theta - size * (gradient(X, y, theta) + noise)
        theta = theta / max(1.0, float(np.linalg.norm(theta)) / radius)
    return np.array(found)


def _axes(figure: Figure, rows: int, columns: int) -> list[Axes]:
    return list(np.ravel(figure.subplots(rows, columns)))


def _finish(figure: Figure, axes: list[Axes], title: str) -> Figure:
    for one in axes:
        tidy(one)
        if one.get_legend_handles_labels()[0]:
            one.legend(frameon=False, fontsize=9)
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure


def trajectories() -> Figure:
    """Excess of the average iterate along the way, below Theorem 1 for as many steps, and the smooth form."""
    figure = empty_figure(10.4, 4.4, w_pad=0.14, h_pad=0.1)
    axes = _axes(figure, 1, 2)
    X, y = logistic_rows(2000, 5, 5)
    facts, radius = NoisyDescent(2000, 5, 1.0), 5.0
    least = loss(X, y, minimiser(X, y, radius))
    for steps, colour in ((100, ORANGE), (1000, BLUE)):
        size = facts.lipschitz_step_size(radius, steps)
        for seed in range(8):
            path = descended(X, y, facts, steps, size, radius, seed)
            excess = [loss(X, y, theta) - least for theta in path]
            label = f"T = {steps}" if seed == 0 else None
            axes[0].plot(range(1, steps + 1), excess, color=colour, linewidth=0.8, alpha=0.7, label=label)
        axes[0].scatter([steps], [facts.lipschitz(radius, steps)], color=colour, marker="v", s=60, zorder=5)
    axes[0].scatter([], [], color=INK, marker="v", s=60, label="bound at T")
    axes[0].set(xscale="log", yscale="log", xlabel="noisy gradients", ylabel="excess loss of the average")
    sizes = np.geomspace(300, 30_000, 7).astype(int)
    measured: dict[str, list[float]] = {"Theorem 1, T = 400": [], "smooth, T = βs": []}
    for n in sizes:
        X, y = logistic_rows(int(n), 5, 5, seed=1)
        own, best = NoisyDescent(int(n), 5, 1.0), minimiser(X, y)
        norm, least = float(np.linalg.norm(best)), loss(X, y, best)
        step = own.lipschitz_step_size(norm, 400)
        ends = [descended(X, y, own, 400, step, norm, seed)[-1] for seed in range(RUNS)]
        measured["Theorem 1, T = 400"].append(float(np.mean([loss(X, y, end) for end in ends])) - least)
        steps = own.smooth_steps(norm, 0.25)
        ends = [descended(X, y, own, steps, own.smooth_time(norm) / steps, seed=seed)[-1] for seed in range(RUNS)]
        measured["smooth, T = βs"].append(float(np.mean([loss(X, y, end) for end in ends])) - least)
    bound = [[NoisyDescent(int(n), 5, 1.0).lipschitz(norm, 400) for n in sizes]]
    bound.append([NoisyDescent(int(n), 5, 1.0).smooth(norm, 0.25) for n in sizes])
    for (name, values), colour, line in zip(measured.items(), (ORANGE, BLUE), bound, strict=True):
        axes[1].plot(sizes, values, color=colour, marker="o", markersize=4, label=name)
        axes[1].plot(sizes, line, color=colour, linestyle="--", linewidth=1.2)
    axes[1].set(xscale="log", yscale="log", xlabel="records n", ylabel="excess loss (dashed: bound)")
    return _finish(figure, axes, "Noisy gradient descent, μ = 1: measured excess and its bounds")


def rank() -> Figure:
    """At rank 3 the excess does not grow with the dimension, and stays below the rank bound."""
    figure = empty_figure(6.4, 4.2, w_pad=0.14, h_pad=0.1)
    (axes,) = [figure.add_subplot()]
    n, steps, dimensions = 1000, 300, (10, 30, 100, 300, 1000)
    facts, found, limits, full = NoisyDescent(n, 3, 1.0), [], [], []
    for d in dimensions:
        X, y = logistic_rows(n, d, 3)
        best = minimiser(X, y)
        norm, least = float(np.linalg.norm(best)), loss(X, y, best)
        size = norm / math.sqrt(steps * (1 + 3 * facts.noise**2 * steps))
        ends = [loss(X, y, descended(X, y, facts, steps, size, seed=seed)[-1]) for seed in range(RUNS)]
        found.append(float(np.mean(ends)) - least)
        limits.append(facts.rank(norm, steps, 3))
        full.append(NoisyDescent(n, d, 1.0).lipschitz(norm, steps))
    axes.plot(dimensions, found, color=BLUE, marker="o", label="measured, rows of rank 3")
    axes.plot(dimensions, limits, **BOUND, label="bound by the rank")
    axes.plot(dimensions, full, color=GREY, linestyle=":", label="bound by the dimension")
    axes.set(xscale="log", yscale="log", xlabel="dimension d", ylabel="excess loss")
    return _finish(figure, [axes], "A fixed rank: the error is flat as d grows 100 times")


def iterations() -> Figure:
    """Rounds until an iterate is as near as its noise and sampling allow: log n for descent, log log n for Newton."""
    figure = empty_figure(10.4, 4.2, w_pad=0.14, h_pad=0.1)
    left, right = _axes(figure, 1, 2)
    X, y = logistic_rows(4000, 3, 3)
    best = minimiser(X, y)
    curvature = hessian(X, best)
    least, most = np.linalg.eigvalsh(curvature)[[0, -1]]
    sizes = np.geomspace(1e4, 1e12, 13)
    start = best + 0.03 * np.array([1.0, 1.0, -1.0]) / math.sqrt(3)
    for name, newton, colour in (("gradient descent", False, ORANGE), ("Newton", True, BLUE)):
        found = [rounds_needed(X, y, best, start, float(n), newton=newton) for n in sizes]
        left.plot(sizes, found, color=colour, marker="o", markersize=4, label=name)
    left.plot(
        sizes,
        [bounds.descent_iterations(int(n), least, most) for n in sizes],
        **BOUND,
        label="bounds: log n, log log n",
    )
    left.plot(sizes, [bounds.newton_iterations(int(n), 1.0) for n in sizes], **BOUND)
    left.set(xscale="log", yscale="log", xlabel="records n", ylabel="rounds until ‖θ - θ*‖ ≤ 1/√n + noise")
    before, after = newton_sizes(X, y, best)
    right.scatter(before, after, color=BLUE, s=9, alpha=0.6, label="measured")
    grid = np.geomspace(before.min(), 1.0, 60)
    right.plot(grid, [bounds.newton_contraction(r, 1.0) for r in grid], **BOUND, label="γ r² e^{γr}")
    right.plot(grid, 16 * grid**2, color=GREY, linestyle=":", label="16 γ r²")
    right.axvline(bounds.newton_region(1.0), color=ORANGE, linewidth=1.4, label="1/(16γ)")
    right.set(xscale="log", yscale="log", xlabel="r before a full step", ylabel="r after it")
    return _finish(figure, [left, right], "How many rounds, and where Newton's steps square the distance")


def hessian(X: Floats, theta: Floats) -> Floats:
    """Mean curvature of the logistic loss."""
    chance = 1 / (1 + np.exp(-X @ theta))
    return np.asarray((X.T * (chance * (1 - chance))) @ X / len(X))


def rounds_needed(X: Floats, y: Floats, best: Floats, start: Floats, n: float, *, newton: bool) -> int:
    """Rounds until an iterate with noise for n records is within 1/√n plus three of its noises of the minimum."""
    generator = np.random.default_rng(0)
    most = float(np.linalg.eigvalsh(hessian(X, best))[-1])
    theta = start.copy()
    for step in range(1, 5000):
        noise = 2 * math.sqrt(50) / n * generator.standard_normal(len(theta))
        step_to = np.linalg.inv(hessian(X, theta)) if newton else np.eye(len(theta)) / most
        theta = theta - step_to @ (gradient(X, y, theta) + noise)
        noisy = 3 * 2 * math.sqrt(50) / n * float(np.linalg.norm(np.linalg.inv(hessian(X, best)), 2))
        if float(np.linalg.norm(theta - best)) <= 1 / math.sqrt(n) + noisy:
            return step
    return 5000


def newton_sizes(X: Floats, y: Floats, best: Floats) -> tuple[Floats, Floats]:
    """Decrement / √(least curvature), r, before and after a full Newton step, from random starts."""
    generator, before, after = np.random.default_rng(2), [], []
    for _ in range(300):
        theta = best + 10 ** generator.uniform(-3, 0.3) * generator.standard_normal(len(best)) / math.sqrt(len(best))
        sizes = []
        for _ in range(2):
            H, g = hessian(X, theta), gradient(X, y, theta)
            direction = np.linalg.solve(H, g)
            sizes.append(math.sqrt(g @ direction / np.linalg.eigvalsh(H)[0]))
            theta = theta - direction
        before.append(sizes[0])
        after.append(sizes[1])
    return np.array(before), np.array(after)


def noise() -> Figure:
    """The classical deviation of Gaussian noise beside the exact one: too much, and beyond ε of 8 too little."""
    figure = empty_figure(10.4, 4.2, w_pad=0.14, h_pad=0.1)
    left, right = _axes(figure, 1, 2)
    epsilons = np.geomspace(0.05, 20, 60)
    for delta, colour in ((1e-5, BLUE), (1e-9, ORANGE)):
        exact = np.array([1 / gaussian.mu(epsilon, delta) for epsilon in epsilons])
        classical = math.sqrt(2 * math.log(1.25 / delta)) / epsilons
        left.plot(epsilons, exact, color=colour, label=f"exact, δ = {delta:g}")
        left.plot(epsilons, classical, color=colour, linestyle="--", linewidth=1.2)
        right.plot(epsilons, classical / exact, color=colour, label=f"δ = {delta:g}")
    left.plot([], [], **BOUND, label="classical √(2 ln(1.25/δ))/ε")
    left.set(xscale="log", yscale="log", xlabel="ε", ylabel="noise / sensitivity")
    right.axhline(1.0, color=INK, linewidth=0.9)
    right.axvspan(1.0, 20, color=GREY, alpha=0.12, linewidth=0)
    right.set(xscale="log", xlabel="ε (grey: the classical formula has no proof)", ylabel="classical / exact")
    return _finish(figure, [left, right], "The Gaussian mechanism: classical and exact noise")


def error_split() -> Figure:
    """Error of a noisy descent in its statistical and its privacy part, and the floor below every method."""
    figure = empty_figure(10.4, 4.2, w_pad=0.14, h_pad=0.1)
    left, right = _axes(figure, 1, 2)
    sizes, steps, mu, p = np.geomspace(200, 2e5, 8).astype(int), 20, 0.5, 4
    found = [mean_errors(int(n), p, mu, steps) for n in sizes]
    rates = np.array([bounds.error_split(p, int(n), mu, steps) for n in sizes])
    left.plot(sizes, found, color=BLUE, marker="o", markersize=4, label="measured, last of 20 steps")
    left.plot(sizes, rates[:, 0], color=GREEN, linestyle="--", label="√(p/n)")
    left.plot(sizes, rates[:, 1], color=ORANGE, linestyle="--", label="√K·p/(μn)")
    left.plot(sizes, rates.sum(axis=1), **BOUND, label="their sum")
    left.set(xscale="log", yscale="log", xlabel="records n", ylabel="‖error‖ of a mean of 4 numbers")
    budgets = np.geomspace(0.05, 5, 9)
    reached = [math.sqrt(2 / math.pi) * 2 / (1000 * mu) for mu in budgets]
    floor = [bounds.minimax_mean_error(1000, mu) for mu in budgets]
    right.plot(budgets, reached, color=BLUE, marker="o", markersize=4, label="Gaussian mechanism")
    right.plot(budgets, floor, **BOUND, label="no μ-GDP method is below")
    right.set(xscale="log", yscale="log", xlabel="μ", ylabel="E|error| by privacy, n = 1000, records in [-1, 1]")
    return _finish(figure, [left, right], "What sampling costs, what privacy costs, and what nobody can avoid")


def mean_errors(n: int, p: int, mu: float, steps: int) -> float:
    """Mean error of noisy steps for the mean of n vectors within the unit cube, by the last iterate."""
    generator, errors = np.random.default_rng(n), []
    bound = math.sqrt(p)
    for _ in range(200):
        data_mean = generator.normal(0, 1 / math.sqrt(3 * n), p)
        theta = np.zeros(p)
        for _ in range(steps):
            noisy = 2 * bound * math.sqrt(steps) / (mu * n) * generator.standard_normal(p)
            theta = theta - 0.5 * (theta - data_mean + noisy)
        errors.append(float(np.linalg.norm(theta)))
    return float(np.mean(errors))


def others() -> Figure:
    """Strong convexity, the exponential mechanism, and privacy of the last iterate, each beside what is measured."""
    figure = empty_figure(12.4, 4.0, w_pad=0.14, h_pad=0.1)
    axes = _axes(figure, 1, 3)
    sizes = np.geomspace(30, 1000, 7).astype(int)
    found = [strongly_convex_excess(int(n), 1000) for n in sizes]
    axes[0].plot(sizes, found, color=BLUE, marker="o", markersize=4, label="measured")
    limits = [NoisyDescent(int(n), 1, 1.0, 2.0).strongly_convex(1.0, 1000) for n in sizes]
    axes[0].plot(sizes, limits, **BOUND, label="bound")
    axes[0].set(xscale="log", yscale="log", xlabel="records n", ylabel="excess", title="strongly convex, T = 1000")
    X, y = logistic_rows(500, 1, 1)
    grid = np.linspace(-2, 2, 4001)
    values = np.array([loss(X, y, np.array([at])) for at in grid])
    epsilons = np.geomspace(0.1, 30, 9)
    excess = []
    for epsilon in epsilons:
        weights = np.exp(-epsilon * 500 * (values - values.min()) / 8)
        excess.append(float(weights @ (values - values.min()) / weights.sum()))
    axes[1].plot(epsilons, excess, color=BLUE, marker="o", markersize=4, label="exact expectation")
    limits = [bounds.exponential_mechanism(500, 1, epsilon, 2.0) for epsilon in epsilons]
    axes[1].plot(epsilons, limits, **BOUND, label="bound")
    axes[1].set(xscale="log", yscale="log", xlabel="ε", title="exponential mechanism")
    steps = np.unique(np.geomspace(1, 1000, 25).astype(int))
    for curvature, colour in ((0.05, ORANGE), (0.5, BLUE)):
        k = 1 - 0.4 * curvature
        mus = [bounds.last_iterate_mu(1.0, int(t), step_size=0.4, curvature=curvature, smoothness=1.0) for t in steps]
        exact = [sum(k**j for j in range(t)) / math.sqrt(sum(k ** (2 * j) for j in range(t))) for t in steps]
        axes[2].plot(steps, mus, color=colour, linestyle="--", label=f"bound, m = {curvature}")
        axes[2].scatter(steps, exact, color=colour, s=12)
    axes[2].plot(steps, np.sqrt(steps), color=GREY, linestyle=":", label="all iterates: √T")
    axes[2].set(xscale="log", yscale="log", xlabel="steps T", ylabel="μ / μ of one step", title="last iterate alone")
    return _finish(figure, axes, "Three more bounds (dots: attained)")


def strongly_convex_excess(n: int, steps: int) -> float:
    """Mean excess of noisy steps 2/(t + 1) for a mean of numbers, weights ∝ t."""
    generator, excesses, facts = np.random.default_rng(n), [], NoisyDescent(n, 1, 1.0, 2.0)
    for _ in range(40):
        mean, theta, total = generator.uniform(-1, 1, n).mean(), 0.0, 0.0
        for t in range(1, steps + 1):
            total += t * theta
            noisy = facts.noise * math.sqrt(steps) * generator.standard_normal()
            theta = float(np.clip(theta - 2 / (t + 1) * (theta - mean + noisy), -1, 1))
        excesses.append((total * 2 / (steps * (steps + 1)) - mean) ** 2 / 2)
    return float(np.mean(excesses))


PICTURES: dict[str, Callable[[], Figure]] = {
    "theory-trajectories": trajectories,
    "theory-rank": rank,
    "theory-iterations": iterations,
    "theory-noise": noise,
    "theory-error-split": error_split,
    "theory-others": others,
}


def main(names: list[str]) -> None:
    """Draw the pictures that are named, or all."""
    for name in names or list(PICTURES):
        drawn(PICTURES[name], FOLDER / f"{name}.png")
        print(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
