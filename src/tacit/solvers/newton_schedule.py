"""How many rounds noisy Newton takes, with which step sizes, and how their budget is split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tacit.contract.plan import Step
from tacit.losses import regression
from tacit.losses.constants import best_threshold
from tacit.solvers.interval_rules import NEWTON
from tacit.solvers.rules import TABLES, between
from tacit.solvers.solver import PublicFacts, SolverOptions, require_passes

FINEST = 10**8
"""Shares of rounds are rounded down to multiples of 1 over this."""


def number_of_rounds(
    facts: PublicFacts, options: SolverOptions, signal: float, curvature: str, *, others: int, each: int
) -> int:
    """Number of rounds, each of which takes `each` passes beside those of the other steps."""
    require_passes(options, others, each)
    if options.iterations is not None:
        return options.iterations
    constant, slope, least, most = NEWTON.newton if curvature == "each" else NEWTON.majorised
    growth = math.log10(max(signal, 1.0))
    wanted = between(math.ceil(constant + slope * growth), least, most)
    if curvature == "each" and signal < NEWTON.enough:
        wanted = NEWTON.rounds
    if options.max_passes is not None or facts.is_large:
        passes = (options.max_passes or TABLES.answers_with_intervals) - others
        wanted = max(1, min(wanted, passes // each))
    return int(wanted)


def step_sizes(options: SolverOptions, count: int, signal: float, curvature: str) -> tuple[float, ...]:
    """One size for all rounds if it was asked for; else Newton is damped until the last rounds."""
    if options.step_size is not None:
        return (options.step_size,) * count
    if curvature == "each":
        full = min(count, (signal >= NEWTON.enough) + (signal >= NEWTON.much))
        return (NEWTON.damping,) * (count - full) + (1.0,) * full
    return (1.0,) * count


def newton_shares(sizes: Sequence[float], first: int) -> list[Fraction]:
    """Parts of the gradients' price, a round each; they add up to no more than one.

    Some of it evenly, the rest in proportion to what a round's noise does to the result of Newton's
    recursion e ← (1 - η)e - ην: prices in that proportion alone would make the variance least.
    """
    count = len(sizes)
    ahead, effects = 0.0, list[float]()
    for number in range(count - 1, -1, -1):
        size = sizes[number]
        ahead += 1 / (count - first) if number >= first else 0.0
        effects.append(ahead * size)
        ahead *= 1 - size
    total = sum(effects)
    shares = [Fraction(math.floor(effect / total * FINEST), FINEST) for effect in reversed(effects)]
    even = NEWTON.even * Fraction(1, count)
    return [even + (1 - NEWTON.even) * share for share in shares]


def score_threshold(facts: PublicFacts, clip_factor: float, gradients: Fraction) -> float:
    """Threshold of the score that leaves least variance at a μ² for all gradients."""
    clip = facts.sensitivity * clip_factor
    noise = clip**2 * facts.design.width / (facts.records * float(gradients))
    return best_threshold(noise, regression.EFFICIENT)


def squares_share(facts: PublicFacts, clip_factor: float) -> Fraction:
    """Part of a round's price that makes squares as noisy as a coordinate of the gradient.

    With a threshold c and rows within C the squared sensitivities of the joint score are (2cC)², or
    (cC)² where records vanish, and (c²/2)²: prices in proportion to them leave equal noise
    (proofs/mechanisms/counts.md).
    """
    threshold = float(facts.loss.shape[0]) if facts.loss.relative else regression.EFFICIENT
    rows = facts.sensitivity * clip_factor * math.sqrt(facts.design.width)
    ratio = (threshold / (2 * rows)) ** 2
    return Fraction(between(ratio / (1 + ratio), *NEWTON.squares))


def joined(steps: Sequence[Step]) -> list[Step]:
    """Neighbours of one price as one step."""
    found: list[Step] = []
    for step in steps:
        if found and replace(found[-1], times=step.times) == step:
            found[-1] = replace(step, times=found[-1].times + step.times)
        else:
            found.append(step)
    return found
