"""The whitened route: private second moments first, then descent in their coordinates.

Rules with q = n μ / d. They are functions of public numbers alone (docs/solvers.md has the
measurements), never of the table at hand.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.planning.bounds import Noise, excess_bound
from tacit.planning.pricing import assembled, between, priced
from tacit.planning.wishes import Facts, Wishes, passes_allowed, require_passes
from tacit.problem.plan import Descent, Forecast, Plan, Whitening
from tacit.problem.query import Kind

MARGIN_RADIUS = 3.0
"""Assumed root mean square of the true margins, for the forecast."""


def plan_whitened(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Descent in privately whitened coordinates."""
    width = facts.design.width
    mu = math.sqrt(allowed)
    quality = facts.records * mu / width
    if quality < 60 and width <= 64:
        rounds, share = 3, Fraction(8, 100)
    elif quality < 20 and width > 256:
        rounds, share = 1, Fraction(20, 100)
    else:
        rounds, share = 2, Fraction(10, 100)
    passes = passes_allowed(facts, wishes)
    require_passes(wishes, 1)
    rounds = max(1, min(rounds, passes - (wishes.iterations or 1)))
    whitening = Whitening(
        rounds=rounds,
        ridge=0.15 if rounds == 1 else between(0.08 * math.sqrt(width), 0.3, 1.5),
        row_factor=between(0.25 * quality ** (1 / 3), 1.0, 2.0),
    )
    # On large tables 16 steps arrive where 64 do (docs/solvers.md), at a quarter of the passes.
    longest = 1.0 if facts.is_large else 4.0
    wanted = round(16 * between(quality / 100, 1.0, longest))
    iterations = wishes.iterations or max(1, min(wanted, passes - rounds))
    descent = Descent(
        iterations=iterations,
        step_size=wishes.step_size or 3.0,
        momentum=0.5,
        clip_factor=between(0.22 * quality**0.3, 0.35, 2.0),
        output=wishes.output or "tail",
    )
    remaining = allowed * (1 - rounds * share)
    steps = (
        priced(facts, Kind.SECOND_MOMENTS, allowed * share * rounds, rounds, "second moments"),
        priced(facts, Kind.GRADIENT, remaining, iterations, "gradient descent"),
    )
    return assembled(
        facts,
        "whitened-gradient",
        steps,
        stages=(descent,),
        whitening=whitening,
        forecast=_forecast(facts, descent, math.sqrt(remaining)),
    )


def _forecast(facts: Facts, descent: Descent, mu: float) -> Forecast | None:
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
