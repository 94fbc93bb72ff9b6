"""One Newton step from a pilot, and the matrices of its variance.

    M = mean w h z z',   Q = mean w² a² z z',   θ = pilot - M⁻¹(g(pilot) + noise)

with row weights w, slopes a and curvatures h at the pilot. From a pilot with error e the step
leaves an error of order e², and its own noise enters linearly; further noisy steps would add bias.
Before it: columns are standardised and whitened, so that loose public bounds cost nothing but the
logarithm of their width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import GradientSum, SecondMoments
from tacit.contract.release import Sandwich
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates, triangular
from tacit.solvers.descent import run_stage
from tacit.solvers.levels import Level, first_level, second_level
from tacit.solvers.pilot import counted_less, follow_count, followed_clip
from tacit.solvers.sandwich import ask_sandwich, wobble_of
from tacit.solvers.standardising import Standards, linear_map, standardise

LONGEST_STEP = 3.0
"""Cap on the step's norm in whitened coordinates, in units of the response's own spread."""
RARE_REACH = 1.5
"""Size of a rare column's largest value, in norms beyond which rows are downweighted."""

FARTHEST = {Code.LOGISTIC: 8.0, Code.BOUNDED_POISSON: 4.0}
"""Bound on what a step leaves out, in standard errors, from which intervals are doubted.

Steps that are noise stay below, as measured from n·μ/d = 100 on. What a logistic step leaves is a
tenth of the bound, as curvatures rise on one side and fall on the other; rates rise on both.
"""

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Beginning:
    """What is known before the first step: coordinates, where to start, and the response's level.

    `clip` is the norm beyond which rows are downweighted, `mean_row` the prepared row of medians
    and `spread` that of the response, in whose units steps are long or short. `rare` says that a
    column has one value but for a few records.
    """

    coordinates: Coordinates
    start: Vector
    level: Level
    clip: float
    mean_row: Vector
    spread: float
    rare: bool = False


def infer(gate: Gate, plan: Plan) -> tuple[Coordinates, Vector, Sandwich]:
    """Run the whole route; return coordinates, coefficients in them, and what intervals need."""
    if plan.inference is None:
        raise SettingError("The plan pays for no intervals.")
    known = begin(gate, plan, followed_clip(plan, plan.inference.clip_factor))
    coordinates, level, clip = known.coordinates, known.level, known.clip
    stage = follow_count(plan, plan.stages[0])
    stage = replace(stage, step_size=stage.step_size / level.curvature)
    bound = clip * level.loss.lipschitz
    pilot, noise = run_stage(gate, plan, stage, coordinates, known.start, bound, level.loss)
    level = second_level(gate, plan, coordinates, pilot, level, noise)
    theta, sandwich = take_step(gate, plan, coordinates, pilot, clip, level, known.mean_row)
    return coordinates, theta, replace(sandwich, rare=known.rare)


def begin(gate: Gate, plan: Plan, clip_factor: float) -> Beginning:
    """Standardise by counts, ask for the level of the response, whiten by one look."""
    width = plan.design.width
    found = Standards(np.zeros(width + 1), np.ones(width + 1))
    if plan.standardising is not None:
        found = standardise(gate, plan, plan.standardising)
    centers, scales = found.centers, found.scales
    level = first_level(gate, plan, centers, scales)
    clip = clip_factor * math.sqrt(width)
    if plan.private:
        scales[list(found.rare)] /= RARE_REACH * clip
    coordinates = look_once(gate, plan, linear_map(plan, centers, scales), found.rare)
    start = np.zeros(width)
    if plan.design.intercept:
        start[-1] = level.start
    mean_row = np.append(centers[:-2], 1.0) if plan.design.intercept else centers[:-1]
    return Beginning(
        coordinates,
        coordinates.working(start),
        level,
        clip,
        mean_row,
        float(scales[-1]),
        bool(found.rare),
    )


def look_once(gate: Gate, plan: Plan, matrix: Matrix, rare: tuple[int, ...] = ()) -> Coordinates:
    """Whiten by one look at the standardised rows; columns that are rare are not widened.

    The few records that a rare column tells of are as long as rows may be. Whitened to a mean
    square of one they would be far longer, and their weights would take away what they tell.
    """
    whitening, width = plan.whitening, plan.design.width
    if whitening is None:
        raise SettingError("The plan does not whiten.")
    bound = whitening.row_factor * math.sqrt(width)
    # Of a large table a part will do, if its rows are standardised.
    every = 1 if plan.standardising is None or counted_less(plan) else whitening.every
    answer = gate.ask(SecondMoments(bound, matrix, every=every))
    kept = np.zeros(width)
    kept[list(rare)] = plan.count
    values, vectors = np.linalg.eigh(answer.value + np.diag(kept))
    ridge = whitening.ridge * answer.noise_scale * math.sqrt(2 * width)
    floor = 1e-12 * max(float(values.max()), 1.0)
    spread = np.maximum(values, floor) + ridge
    root = (vectors * np.sqrt(plan.count / spread)) @ vectors.T
    return Coordinates(triangular(matrix @ root)[0], float(width))


def take_step(
    gate: Gate,
    plan: Plan,
    coordinates: Coordinates,
    pilot: Vector,
    clip: float,
    level: Level,
    mean_row: Vector,
) -> tuple[Vector, Sandwich]:
    """Ask for curvature, score and gradient at the pilot, and step once."""
    matrix, loss = coordinates.matrix, level.loss
    asked = ask_sandwich(gate, plan, coordinates, pilot, clip, loss)
    gradient = gate.ask(GradientSum(pilot, clip * loss.lipschitz, matrix, True, loss))
    # By the declared number of records, as the matrices are; the step has no scale.
    pull, step_noise = gradient.value / plan.records, gradient.noise_scale / plan.records
    step = np.asarray(np.linalg.lstsq(asked.curvature, pull, rcond=1e-13)[0])
    longest = LONGEST_STEP * max(1.0, loss.lipschitz)
    capped = plan.private and bool(np.linalg.norm(step) > longest)
    if capped:
        step *= longest / np.linalg.norm(step)
    variance = asked.score / plan.records + step_noise**2 * np.eye(len(step))
    left = left_out(step, asked.curvature, variance)
    sandwich = replace(
        asked,
        capped=capped,
        step_noise=step_noise,
        level=level.share,
        dispersion=level.dispersion,
        wobble=wobble_of(plan, coordinates, asked, level.wobble, mean_row),
        far=plan.private and left > FARTHEST.get(loss.code, math.inf),
    )
    return pilot - step, sandwich


def left_out(step: Vector, curvature: Matrix, variance: Matrix) -> float:
    """Bound on the error that a Newton step s leaves, over the standard error of the result.

    Where the third derivative is no larger than the second, the step leaves at most
    ½ √(mean h (z·s)⁴) in the norm of M, about ½ √3 s'Ms / √h for rows z with unit second moments.
    The result's own variance there is the trace of M⁻¹ times the score's variance, over d.
    """
    own = float(np.trace(np.linalg.lstsq(curvature, variance, rcond=1e-13)[0])) / len(step)
    mean = float(np.trace(curvature)) / len(step)
    tiny = np.finfo(float).tiny
    left = math.sqrt(3.0) / 2 * float(step @ curvature @ step)
    return left / (math.sqrt(max(mean, tiny)) * math.sqrt(max(own, tiny)))
