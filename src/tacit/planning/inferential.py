"""The route with intervals: whiten, descend with downweighted rows, then one Newton step."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from tacit.planning.pricing import assembled, between, priced
from tacit.planning.wishes import Facts, Wishes, passes_allowed, require_passes
from tacit.problem.plan import Descent, Forecast, OneStep, Plan, Whitening
from tacit.problem.query import Kind

LEAST_CURVATURE = 0.05
"""Assumed curvature in whitened directions, for the forecast."""


def plan_inference(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Whiten, descend with downweighted rows, then one Newton step with what its variance needs.

    Exactly one step is taken from the descent's result: its noise enters linearly, so that the
    intervals stay centred. The shares are of μ².
    """
    width = facts.design.width
    evidence = facts.records * math.sqrt(allowed) / width
    looks = 2
    require_passes(wishes, looks + 3)
    pilot = math.ceil(10 * math.log10(max(evidence, 1.0)) - 10)
    pilot = wishes.iterations or int(
        between(pilot, 8, min(30, passes_allowed(facts, wishes) - looks - 3))
    )
    whitening = Whitening(
        rounds=looks,
        ridge=between(0.08 * math.sqrt(width), 0.3, 1.5),
        row_factor=between(0.25 * evidence ** (1 / 3), 1.0, 2.0),
    )
    clip = math.sqrt(between(1.5 * (evidence / 100) ** 0.25, 1.5, 4.0))
    descent = Descent(pilot, wishes.step_size or 3.0, 0.5, clip, wishes.output or "tail")
    moments, gradient = Kind.SECOND_MOMENTS, Kind.GRADIENT
    shares = (Fraction(17, 100), Fraction(20, 100), Fraction(30, 100), Fraction(33, 100))
    steps = (
        priced(facts, moments, allowed * shares[0], looks, "second moments"),
        priced(facts, gradient, allowed * shares[1], pilot, "gradient descent"),
        priced(facts, moments, allowed * shares[2], 2, "curvature and score"),
        priced(facts, gradient, allowed * shares[3], 1, "last step"),
    )
    forecast = _forecast(facts, clip, math.sqrt(allowed * shares[3]))
    plan = assembled(
        facts, "one-step", steps, stages=(descent,), whitening=whitening, forecast=forecast
    )
    return replace(plan, inference=OneStep(clip))


def _forecast(facts: Facts, clip_factor: float, mu: float) -> Forecast:
    """Twice ½ tr(M Cov) for the last step's noise σ: d σ² / h, with curvature h in whitened space.

    The second half is for what the pilot leaves behind.
    """
    width = facts.design.width
    clip = clip_factor * math.sqrt(width)
    noise = facts.sensitivity * clip / (facts.records * mu)
    return Forecast(
        width * noise**2 / LEAST_CURVATURE,
        f"the loss has curvature at least {LEAST_CURVATURE:g} in every whitened direction (no very "
        "rare outcome) and few rows are downweighted (expected value)",
    )
