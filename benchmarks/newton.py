"""Noisy Newton runs away without its safeguards, and never with them; and it is soon there.

The talk's form: coefficients and scale in one undamped Newton step on noised score and curvature,
rows downweighted to √2, at n = 1000, μ = 2, four coefficients and K = 20 steps, nothing repaired.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import Figure, write
from tacit.contract.plan import Penalty, Plan, Solution
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Continuous, Response
from tacit.losses import classification, regression
from tacit.losses.constants import expected_square
from tacit.losses.loss import Loss
from tacit.planning.simulated_gate import SimulatedGate
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.newton import Newton
from tacit.solvers.solver import PublicFacts, SolverOptions

RUNS = 10_000
TABLES = 300
CELLS = ((4, 0.16), (4, 0.5), (10, 20 * 10**1.5 / 1000), (20, 20 * 20**1.5 / 1000))
"""Coefficients and μ of tables of 1000 records, where n·μ is 20·d^1.5 or more."""
FAR = 2.0
"""Distance from the truth, in deviations of the errors, that is called running away."""
BOUND, RESPONSE_BOUND = 10.0, 20.0
"""Public bounds of features and response."""

Vector = NDArray[np.float64]


def truth(coefficients: int) -> Vector:
    """Intercept and slopes of all simulations."""
    found = np.zeros(coefficients)
    found[: min(3, coefficients)] = [0.5, 1.0, -1.0][:coefficients]
    return found


def plan_for(loss: Loss, records: int, coefficients: int, mu: float, wishes: SolverOptions | None = None) -> Plan:
    """Plan of a fit at bounds of ±10, and ±20 for the response."""
    labels: Response = Binary("y", (0, 1))
    if loss is regression.SQUARED:
        labels = Continuous.of("y", -RESPONSE_BOUND, RESPONSE_BOUND)
    names = [f"x{j}" for j in range(coefficients - 1)]
    design = matrix_design(names, labels, bounds=(-BOUND, BOUND), row_norm=None, intercept=True)
    budget = Budget(mu=mu, delta=1e-6)
    facts = PublicFacts(design, records, Relation.REPLACE_ONE, "row", budget, Penalty(), loss)
    return make_plan(facts, SolverOptions(solver="newton") if wishes is None else wishes)


def simulate(plan: Plan, generator: np.random.Generator) -> Solution:
    """Draw a table from a true model and run a plan on it."""
    X = generator.standard_normal((plan.records, plan.design.width - 1))
    beta = truth(plan.design.width)
    linear = beta[0] + X @ beta[1:]
    if plan.loss.name == classification.LOGISTIC.name:
        y = (generator.random(len(X)) < classification.logistic_probability(linear)).astype(float)
    else:
        y = (linear + generator.standard_normal(len(X))) / RESPONSE_BOUND
    rows = np.column_stack([np.clip(X / BOUND, -1, 1), np.ones(len(X))])
    return plan.solver.run(SimulatedGate(plan, rows, np.clip(y, -1, 1) if y.min() < 0 else y, generator), plan)


def error(plan: Plan, solution: Solution) -> float:
    """Distance of slopes and intercept from the truth."""
    user = plan.design.to_user() @ solution.theta + plan.design.shift()
    return float(np.linalg.norm(user - truth(plan.design.width)))


def unguarded(
    generator: np.random.Generator,
    step_size: float,
    *,
    records: int = 1000,
    coefficients: int = 4,
    mu: float = 2.0,
    steps: int = 20,
    threshold: float = 1.345,
) -> float:
    """Distance from the truth after the talk's steps; infinite where they broke down."""
    X = np.column_stack([np.ones(records), generator.standard_normal((records, coefficients - 1))])
    y = X @ np.ones(coefficients) + generator.standard_normal(records)
    weight = np.minimum(1.0, 2.0 / np.einsum("ij,ij->i", X, X))
    kappa, each = expected_square(threshold), mu / math.sqrt(2 * steps)
    score_noise = math.sqrt(8 * threshold**2 + threshold**4 / 4) / (each * records)
    bend_noise = 2 * (2 + threshold**2) / (each * records)
    theta, scale = np.zeros(coefficients), 1.0
    for _ in range(steps):
        r = (y - X @ theta) / scale
        psi = np.clip(r, -threshold, threshold)
        score = np.append(-(X.T @ (weight * psi)), -np.sum(weight * (psi**2 - kappa)) / 2) / records
        Z = np.column_stack([X, r])
        bend = (Z.T * (weight * (np.abs(r) < threshold))) @ Z / (records * scale)
        noise = np.triu(generator.standard_normal(bend.shape))
        noise = noise + np.triu(noise, 1).T
        score = score + score_noise * generator.standard_normal(len(score))
        step = step_size * np.linalg.lstsq(bend + bend_noise / scale * noise, score, rcond=None)[0]
        theta, scale = theta - step[:-1], scale - step[-1]
        if not (abs(scale) < 1e6 and np.abs(theta).max() < 1e6) or scale == 0:
            return math.inf
    return float(np.linalg.norm(theta - 1.0))


def compare(loss: Loss, coefficients: int, mu: float, tables: int) -> tuple[float, float, int]:
    """Root mean squared errors of Newton and of majorised Newton, and Newton's rounds."""
    errors, rounds = [], []
    for solver in ("newton", "majorised-newton"):
        plan = plan_for(loss, 1000, coefficients, mu, SolverOptions(solver=solver))
        rounds.append(len(plan.solver.step_sizes) if isinstance(plan.solver, Newton) else 0)
        off = [error(plan, simulate(plan, np.random.default_rng([table, 7]))) for table in range(tables)]
        errors.append(float(np.sqrt(np.mean(np.square(off)))))
    return errors[0], errors[1], rounds[0]


def count_far(plan: Plan, runs: int, seed: int) -> tuple[int, float]:
    """How many of so many runs end far away, and how far the farthest."""
    generator, far, farthest = np.random.default_rng(seed), 0, 0.0
    for done in range(runs):
        distance = error(plan, simulate(plan, generator))
        far += not distance <= FAR
        farthest = max(farthest, distance)
        if done % 500 == 499:
            print(f"\r  run {done + 1} of {runs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return far, farthest


def run() -> None:
    """Measure and record."""
    generator = np.random.default_rng(5)
    shares = {size: np.mean([unguarded(generator, size) > FAR for _ in range(500)]) for size in (1.0, 0.5, 0.1)}
    figures, details = [], {f"ran away at step {size:g}": float(s) for size, s in shares.items()}
    percent = 100 * float(shares[1.0])
    figures.append(Figure("talk's form, undamped: ran away", percent, "%", "about 98", percent > 90))
    for name, loss in (("least squares", regression.SQUARED), ("logistic", classification.LOGISTIC)):
        far, farthest = count_far(plan_for(loss, 1000, 4, 2.0), RUNS, seed=6)
        figures.append(Figure(f"{name}: ran away of {RUNS}", far, "", "0", far == 0))
        details[f"{name}: farthest"] = farthest
    worst, most = 0.0, 0
    for name, loss in (("logistic", classification.LOGISTIC), ("least squares", regression.SQUARED)):
        for coefficients, mu in CELLS:
            own, other, rounds = compare(loss, coefficients, mu, TABLES)
            worst, most = max(worst, own / other), max(most, rounds)
            cell = f"{name}, n = 1000, d = {coefficients}, μ = {mu:.3g}"
            details[f"{cell}: error"] = own
            details[f"{cell}: error of majorised Newton"] = other
    figures.append(Figure("error over majorised Newton's, worst of 8 cells", worst, "", "at most 1", worst <= 1))
    figures.append(Figure("rounds, most", most, "", "at most 20", most <= 20))
    write("newton", figures, details)
