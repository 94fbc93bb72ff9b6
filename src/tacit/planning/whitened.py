"""The whitened route: private second moments first, then descent in their coordinates.

Rules with q = n μ / d. They are functions of public numbers alone (docs/solvers.md has the
measurements), never of the table at hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.contract.plan import Descent, Forecast, LabelStart, Penalty, Plan, Whitening
from tacit.contract.query import Kind
from tacit.losses.loss import Code
from tacit.planning.bounds import Noise, excess_bound
from tacit.planning.pricing import assembled, between, priced
from tacit.planning.thinning import thinned_look
from tacit.planning.wishes import Facts, Wishes, passes_allowed, require_passes

MOMENTUM = 0.5
BURN_IN = 6
"""Iterates that are never averaged."""
STEPS_OF_LARGE_TABLE = 12
ENOUGH_FOR_TWO = 100.0
"""q from which a large table is spared the third look."""
CLEAR = 250.0
"""q from which the labels' odds are asked for too, and uneven labels make for longer steps."""
ODDS_SHARE = Fraction(1, 100)
CALMEST = 0.15
"""Noise variance of the margins beyond which steps are shortened."""
LABEL_START_BELOW = 5.0
"""Where q is smaller, the labels' odds are asked for first, and the intercept starts there."""
MARGIN_RADIUS = 3.0
"""Assumed root mean square of the true margins, for the forecast."""


@dataclass(frozen=True)
class Recipe:
    """What a loss's descent takes, given q; see docs/solvers.md."""

    clip_factor: float
    step_size: float
    iterations: int
    balanced: bool = False
    calmest: float | None = None
    momentum: float = MOMENTUM


def plan_whitened(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Descent in privately whitened coordinates, for labels."""
    width = facts.design.width
    quality = facts.records * math.sqrt(allowed) / width
    rounds, share, ridge = looks_of(facts, quality)
    passes = passes_allowed(facts, wishes)
    require_passes(wishes, 1 + facts.counts)
    rounds = max(1, min(rounds, passes - (wishes.iterations or 1)))
    row_factor = row_factor_of(quality)
    every = thinned_look(facts, math.sqrt(allowed * share), row_factor)
    whitening = Whitening(rounds, ridge, row_factor, every=every)
    recipe = recipe_of(facts, quality)
    iterations = wishes.iterations or max(1, min(recipe.iterations, passes - rounds))
    first = min(max(BURN_IN, iterations // 2), iterations - 1)
    descent = Descent(
        iterations=iterations,
        step_size=wishes.step_size or recipe.step_size,
        momentum=recipe.momentum,
        clip_factor=recipe.clip_factor,
        output=wishes.output or "tail",
        averaged=(iterations - first) / iterations,
        balanced=recipe.balanced,
        calmest=None if wishes.step_size else recipe.calmest,
        follows=bool(facts.counts) and wishes.step_size is None,
    )
    lengthens = quality >= CLEAR and not facts.is_large and wishes == Wishes()
    starts = quality < LABEL_START_BELOW or lengthens
    starts = starts and facts.loss.code is Code.LOGISTIC
    starts = starts and facts.design.intercept and facts.penalty == Penalty()
    label_share = Fraction(0)
    if starts:
        label_share = ODDS_SHARE if lengthens else _label_share(facts, allowed)
    remaining = allowed * (1 - rounds * share - label_share)
    steps = [
        priced(facts, Kind.SECOND_MOMENTS, allowed * share * rounds, rounds, "second moments"),
        priced(facts, Kind.GRADIENT, remaining, iterations, "gradient descent"),
    ]
    if starts:
        steps.insert(0, priced(facts, Kind.COUNTS, allowed * label_share, 1, "share of labels"))
    plan = assembled(
        facts,
        "whitened-gradient",
        tuple(steps),
        stages=(descent,),
        whitening=whitening,
        forecast=forecast_of(facts, descent, math.sqrt(remaining)),
    )
    return replace(plan, label_start=LabelStart(lengthens) if starts else None)


def _label_share(facts: Facts, allowed: Fraction) -> Fraction:
    """What finds the labels' share to a standard error of 0.04: 5% of the budget, or up to 80%.

    A wrong intercept costs more than wrong slopes, which are kept short.
    """
    return Fraction(between((25 / facts.records) ** 2 / float(allowed), 0.05, 0.8))


def row_factor_of(quality: float) -> float:
    """Norm to which later looks shrink whitened rows, in roots of the effective dimension."""
    return between(0.25 * quality ** (1 / 3), 1.0, 2.0)


def looks_of(facts: Facts, quality: float) -> tuple[int, Fraction, float]:
    """Number of looks, share of each, ridge in noise edges."""
    width = facts.design.width
    ridge = between(0.08 * math.sqrt(width), 0.6, 0.85)
    if quality < 20 and width > 256:
        return 1, Fraction(10, 100), 0.3
    if facts.is_large and quality >= ENOUGH_FOR_TWO:
        return 2, Fraction(6, 100), ridge
    return 3, Fraction(4, 100), ridge


def recipe_of(facts: Facts, quality: float) -> Recipe:
    """Clip, steps and momentum of a loss's descent."""
    most = STEPS_OF_LARGE_TABLE if facts.is_large else 1000
    if facts.loss.code is Code.LOGISTIC:
        clip = between(0.35 * (quality / 10) ** 0.25, 0.3, 2.0)
        steps = round(8 * between(max(math.sqrt(quality / 10), quality / 60), 1.0, 9.0))
        return Recipe(clip, max(3.0, 2.1 / clip), min(most, steps), True, CALMEST)
    if facts.loss.code is Code.SOFTMAX:
        # One model of K classes has K times the coordinates, and gradients up to √2 as long.
        spread = quality / math.sqrt(facts.design.outputs)
        clip = between(0.5 * (spread / 10) ** 0.25, 0.4, 2.5)
        steps = round(10 * between(math.sqrt(spread / 10), 1.0, 6.0))
        # Where one class is nearly sure, the curvature is small; momentum gets there.
        momentum = 0.8 if spread >= 100 else MOMENTUM
        return Recipe(clip, max(2.0, 1.6 / clip), min(most, steps), momentum=momentum)
    clip = between(0.22 * quality**0.3, 0.35, 2.0)
    return Recipe(clip, 1 / facts.loss.smoothness, min(most, 20 if quality < 60 else 30))


def forecast_of(facts: Facts, descent: Descent, mu: float) -> Forecast | None:
    """The tail bound in whitened coordinates, where ‖θ‖ is the root mean square of the margins."""
    width = facts.design.width
    clip = (descent.clip_factor or 0.0) * math.sqrt(width)
    noise = Noise(facts.sensitivity * clip / (facts.records * mu), width)
    bound = excess_bound(
        noise,
        radius=MARGIN_RADIUS,
        time=descent.step_size * descent.iterations / (1 - descent.momentum),
        step_size=descent.step_size,
        smoothness=facts.loss.smoothness,
        output=descent.output,
    )
    if bound is None:
        return None
    return Forecast(
        bound,
        f"the true linear predictor has root mean square at most {MARGIN_RADIUS:g} and few rows "
        "are clipped (expected value)",
    )
