"""The routes of noisy Newton, majorised Newton, and descent with intervals: rounds of one kind.

They begin as the route with one step does and share its parts of μ²; what that spends on pilot and
step goes to the rounds, and the part of curvature and score too where no intervals are asked for.
e = n μ / d. The rules were measured: docs/newton.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from tacit.contract.plan import OneStep, Penalty, Plan, Rounds, Step, Whitening
from tacit.contract.query import Kind
from tacit.errors import SettingError
from tacit.losses import huber
from tacit.losses.huber_efficiency import best_threshold
from tacit.losses.loss import Code
from tacit.planning.inferential import (
    ANSWERS_OF_LARGE_TABLE,
    RIDGE,
    ROW_FACTOR,
    SHARES,
    evidence_of,
    first_steps,
)
from tacit.planning.pricing import assembled, between, priced
from tacit.planning.wishes import NEWTON, NEWTON_FORMS, Facts, Wishes, require_passes
from tacit.solvers.pilot import clip_factor_of

CURVATURE_SHARE = Fraction(1, 4)
"""Of the rounds' part of μ², for Newton's curvatures."""
SMALL_CURVATURE_SHARE = Fraction(1, 10)
"""The same where there is little evidence, and curvatures are pulled to the expected one anyway."""
LONG = 16
"""Newton's rounds where there is little evidence: all damped, and the last half averaged."""
MAJORISED_SHARE = 15
"""Hundredths of all μ² for the curvature that is released once."""
DAMPED = 0.5
"""Newton's first step sizes; the later ones are 1."""
EVEN = Fraction(2, 5)
"""Part of the gradients' price that is split evenly; the rest goes by what reaches the result."""
AVERAGED = 0.5
MUCH_EVIDENCE = 1000.0
"""e from which Newton's last two steps are full ones, not the last alone."""
FINE = 10**8
ENOUGH_EVIDENCE = 100.0
"""e below which whitened curvatures are uncertain: steps of descent are shortened, and Newton is
damped to the end."""


def plan_rounds(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Price the rounds of a solver, with intervals or without.

    Guarantee
    ---------
    - Prices are those of a public rule; all of them together cost at most `allowed`.
    """
    code = facts.loss.code
    if code not in SHARES:
        raise SettingError(
            f"solver={wishes.solver!r} has no rounds for the {facts.loss.name} loss; they are for "
            "two classes, least squares, Huber's loss and counts."
        )
    if facts.penalty != Penalty():
        raise SettingError(f"solver={wishes.solver!r} is for fits without l2, prior_mean, radius.")
    newton = wishes.solver == NEWTON
    longest = 1.0 if wishes.solver in NEWTON_FORMS else 2.0
    if (wishes.step_size or 0.0) > longest:
        raise SettingError(
            f"step_size must be at most {longest:g} for these steps, which are in units of the "
            "inverse curvature: longer ones run away."
        )
    shares = SHARES[code]
    evidence = evidence_of(facts, allowed)
    scaled = code is Code.SQUARED or (code is Code.HUBER and facts.loss.relative)
    steps, standardising = first_steps(facts, allowed, shares)
    once = wishes.solver in NEWTON_FORMS and not newton
    besides = sum(step.times for step in steps) + facts.counts
    besides += bool(wishes.inference) + once + (code is Code.POISSON)
    count = _count(facts, wishes, evidence, besides=besides, each=1 + newton + scaled)
    bend = CURVATURE_SHARE if evidence >= ENOUGH_EVIDENCE else SMALL_CURVATURE_SHARE
    rounds = Rounds(
        _step_sizes(wishes, count, evidence),
        "each" if newton else "once" if once else "no",
        clip_factor_of(evidence),
        wishes.output or ("last" if newton and evidence >= ENOUGH_EVIDENCE else "tail"),
        AVERAGED,
        scaled,
        count // 2 if code is Code.POISSON else None,
        count // 3,
    )
    hundredths = shares.pilot + shares.step
    hundredths += 0 if code is Code.POISSON else shares.residuals
    hundredths += 0 if wishes.inference else shares.sandwich
    if once:
        hundredths -= MAJORISED_SHARE
        part = allowed * Fraction(MAJORISED_SHARE, 100)
        steps.append(priced(facts, Kind.SECOND_MOMENTS, part, 1, "bound on the curvature"))
    dispersion = allowed * Fraction(shares.residuals, 100)
    part = allowed * Fraction(hundredths, 100)
    if newton and code is Code.SQUARED and evidence < ENOUGH_EVIDENCE:
        rounds = replace(rounds, threshold=_threshold(facts, rounds, part * (1 - bend)))
    steps += _rounds(facts, rounds, part, bend, dispersion)
    if wishes.inference:
        part = allowed * Fraction(shares.sandwich, 100)
        steps.append(priced(facts, Kind.SANDWICH, part, 1, "curvature and score"))
    name = wishes.solver if wishes.solver in NEWTON_FORMS else "whitened-gradient"
    whitening = Whitening(1, RIDGE, ROW_FACTOR)
    plan = assembled(facts, name, tuple(steps), whitening=whitening)
    paid = OneStep(rounds.clip_factor) if wishes.inference else None
    return replace(plan, inference=paid, rounds=rounds, standardising=standardising)


def _count(facts: Facts, wishes: Wishes, evidence: float, *, besides: int, each: int) -> int:
    """Number of rounds, of which each takes some passes besides those of the other steps."""
    require_passes(wishes, besides, each)
    if wishes.iterations is not None:
        return wishes.iterations
    growth = math.log10(max(evidence, 1.0))
    if wishes.solver == NEWTON:
        many = evidence < ENOUGH_EVIDENCE
        wanted = LONG if many else between(math.ceil(1 + 2 * growth), 6, 20)
    elif wishes.solver in NEWTON_FORMS:
        wanted = between(math.ceil(6 + 4 * growth), 10, 20)
    else:
        wanted = between(math.ceil(20 * growth), 30, 60)
    if wishes.max_passes is not None or facts.is_large:
        room = (wishes.max_passes or ANSWERS_OF_LARGE_TABLE) - besides
        wanted = max(1, min(wanted, room // each))
    return int(wanted)


def _step_sizes(wishes: Wishes, count: int, evidence: float) -> tuple[float, ...]:
    """One size for all rounds if it was asked for; else Newton is damped until the last rounds."""
    if wishes.step_size is not None:
        return (wishes.step_size,) * count
    if wishes.solver == NEWTON:
        full = 0 if evidence < ENOUGH_EVIDENCE else 1 if evidence < MUCH_EVIDENCE else 2
        full = min(count, full)
        return (DAMPED,) * (count - full) + (1.0,) * full
    if wishes.solver in NEWTON_FORMS:
        return (1.0,) * count
    return (between(evidence / ENOUGH_EVIDENCE, 0.3, 1.0),) * count


def _rounds(
    facts: Facts, rounds: Rounds, part: Fraction, bend: Fraction, dispersion: Fraction
) -> list[Step]:
    """Steps of all rounds; gradients and squares of one round are priced as one joint answer."""
    count = len(rounds.step_sizes)
    bends = part * bend if rounds.curvature == "each" else Fraction(0)
    squares = _squares_share(facts, rounds) if rounds.scaled else Fraction(0)
    steps: list[Step] = []
    for number, share in enumerate(_price_shares(rounds)):
        if rounds.dispersed == number:
            steps.append(priced(facts, Kind.COUNTS, dispersion, 1, "residuals"))
        joint = (part - bends) * share
        steps.append(priced(facts, Kind.GRADIENT, joint * (1 - squares), 1, "gradient"))
        if rounds.curvature == "each":
            steps.append(priced(facts, Kind.SECOND_MOMENTS, bends / count, 1, "curvature"))
        if rounds.scaled:
            steps.append(priced(facts, Kind.COUNTS, joint * squares, 1, "squared residuals"))
    return _joined(steps)


def _price_shares(rounds: Rounds) -> list[Fraction]:
    """Parts of the gradients' price, a round each.

    Some of it evenly, the rest in proportion to what a round's noise does to the result of Newton's
    recursion e ← (1 - η)e - ην: prices in that proportion alone would make the variance least.
    """
    count = len(rounds.step_sizes)
    even = Fraction(1, count)
    if rounds.curvature != "each":
        return [even] * count
    first, ahead = rounds.first_averaged, 0.0
    reach: list[float] = []
    for number in range(count - 1, -1, -1):
        size = rounds.step_sizes[number]
        ahead += 1 / (count - first) if number >= first else 0.0
        reach.append(ahead * size)
        ahead *= 1 - size
    total = sum(reach)
    # Rounded down, so that they add up to no more than one.
    parts = [Fraction(math.floor(part / total * FINE), FINE) for part in reversed(reach)]
    return [EVEN * even + (1 - EVEN) * part for part in parts]


def _threshold(facts: Facts, rounds: Rounds, part: Fraction) -> float:
    """Threshold of the score that leaves least variance where so much of μ² is for gradients."""
    clip = facts.sensitivity * rounds.clip_factor
    noise = clip**2 * facts.design.width / (facts.records * float(part))
    return best_threshold(noise, huber.EFFICIENT)


def _squares_share(facts: Facts, rounds: Rounds) -> Fraction:
    """Part of a joint price that makes squares as noisy as a coordinate of the gradient.

    With a threshold c and rows within C the squared sensitivities of the joint score are (2cC)², or
    (cC)² where records vanish, and (c²/2)²: prices in proportion to them leave equal noise
    (proofs/mechanisms/counts.md).
    """
    threshold = float(facts.loss.shape[0]) if facts.loss.relative else huber.EFFICIENT
    rows = facts.sensitivity * rounds.clip_factor * math.sqrt(facts.design.width)
    ratio = (threshold / (2 * rows)) ** 2
    return Fraction(between(ratio / (1 + ratio), 0.005, 0.25))


def _joined(steps: list[Step]) -> list[Step]:
    """Neighbours of one price as one step."""
    found: list[Step] = []
    for step in steps:
        if found and replace(found[-1], times=step.times) == step:
            found[-1] = replace(step, times=found[-1].times + step.times)
        else:
            found.append(step)
    return found
