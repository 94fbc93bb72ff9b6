"""The whitened route with a Newton finish: for labels, where noise is the smaller concern.

Second moments bound the curvature of the logistic loss and do not give it: where labels are uneven
or margins long it is a fraction of the bound, and a short descent stops short of the minimum. So
the curvature is asked for once, where a short descent stopped, and a few Newton steps follow.
Rules with q = n μ / d, functions of public numbers alone; docs/solvers.md has the measurements.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from tacit.contract.plan import Descent, Finishing, Penalty, Plan, Whitening
from tacit.contract.query import Kind
from tacit.losses.loss import Code
from tacit.planning.pricing import assembled, priced
from tacit.planning.thinning import thinned_look, thinned_steps
from tacit.planning.whitened import forecast_of, looks_of, recipe_of, row_factor_of
from tacit.planning.wishes import Facts, Wishes

FROM = 100.0
"""q from which Newton steps end the fit; other tables have the time for a long descent."""
CURVATURE_SHARE = Fraction(4, 100)
LOOKS, LOOK_SHARE = 2, Fraction(5, 100)
"""A third look stretches directions that noise hides, and Newton steps along them are noise."""
STEPS, NEWTON_STEPS, AVERAGED = 6, 4, 2
BEGINNING_SHARE = Fraction(3, 10)
"""Of the gradients' budget, for the descent."""
MOMENTUM = 0.7
RIDGE = 0.6


def finishes(facts: Facts, wishes: Wishes, allowed: Fraction) -> bool:
    """Whether Newton steps end this fit: one logistic predictor, no penalty, no wish against it."""
    quality = facts.records * math.sqrt(allowed) / facts.design.width
    return (
        facts.loss.code is Code.LOGISTIC
        and facts.penalty == Penalty()
        and wishes == Wishes()
        and facts.is_large
        and quality >= FROM
    )


def plan_finished(facts: Facts, allowed: Fraction) -> Plan:
    """Looks, a short descent, the curvature, Newton steps."""
    quality = facts.records * math.sqrt(allowed) / facts.design.width
    _, _, ridge = looks_of(facts, quality)
    row_factor = row_factor_of(quality)
    every = thinned_look(facts, math.sqrt(allowed * CURVATURE_SHARE), row_factor)
    recipe = recipe_of(facts, quality)
    left = allowed * (1 - LOOKS * LOOK_SHARE - CURVATURE_SHARE)
    # The descent only has to bring Newton's steps near: it need not read all either.
    mu_of_step = math.sqrt(left * BEGINNING_SHARE / STEPS)
    length = recipe.clip_factor * recipe.step_size
    descent = Descent(
        iterations=STEPS,
        step_size=recipe.step_size,
        momentum=MOMENTUM,
        clip_factor=recipe.clip_factor,
        output="tail",
        averaged=AVERAGED / STEPS,
        balanced=recipe.balanced,
        calmest=recipe.calmest,
        follows=bool(facts.counts),
        every=thinned_steps(facts, mu_of_step, length),
    )
    steps = (
        priced(facts, Kind.SECOND_MOMENTS, allowed * LOOK_SHARE * LOOKS, LOOKS, "second moments"),
        priced(facts, Kind.GRADIENT, left * BEGINNING_SHARE, STEPS, "gradient descent"),
        priced(facts, Kind.SECOND_MOMENTS, allowed * CURVATURE_SHARE, 1, "curvature"),
        priced(facts, Kind.GRADIENT, left * (1 - BEGINNING_SHARE), NEWTON_STEPS, "Newton's steps"),
    )
    plan = assembled(
        facts,
        "whitened-gradient",
        steps,
        stages=(descent,),
        whitening=Whitening(LOOKS, ridge, row_factor, every=every),
        forecast=forecast_of(facts, descent, math.sqrt(left)),
    )
    return replace(plan, finishing=Finishing(NEWTON_STEPS, RIDGE, AVERAGED))
