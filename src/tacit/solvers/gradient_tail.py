"""Where gradients without a bound are clipped, from a quantile and a tail mean of their norms.

A clip G costs noise of scale 2G and the bias of what it cuts off, T(G) = E(g - G)₊ at most. A
quantile g_q of the norms g and the mean of min((g - g_q)₊, 2 g_q) beyond it are asked for. Beyond
g_q the law is taken as g_q (|Z| / z_q)^γ, Z normal, cut at the public bound, with the γ that
explains that mean. Then, with a safety factor k and σ the noise of a gradient of clip 1,

    G = argmin σ² G² + (k T(G))² / d,   bias bound in any direction: B = k T(G) / √d

These norms are of weighted rows. After the step, records are counted whose gradients are large without the weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientNorm, Measure
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.interval_rules import TAIL
from tacit.solvers.plenty_rules import PLENTY, grown, plenty_at
from tacit.solvers.quantiles import bisect_octaves
from tacit.solvers.rules import between

LARGEST = 2.0**200
"""No norm is larger."""


@dataclass(frozen=True)
class Clip:
    """The norm to which gradients are clipped, and what clipping may do to their mean.

    A record whose gradient is beyond `fitted` (infinite for bounded slopes) is not fitted; `expected` is the share of
    records there by the law of the tail, `worst` the bias where there are more. `deviation` is that of normal
    residuals with this quantile of the norms, and `wide` says that the public bound is far beyond it. Rows are
    `shortened`, or weighed down by the squares of their norms; `loosening` is a factor on `TAIL.loosened`.
    """

    norm: float
    bias: float
    fitted: float = math.inf
    expected: float = 0.0
    worst: float = 0.0
    deviation: float = math.inf
    wide: bool = False
    shortened: bool = False
    loosening: float = 1.0

    def loosened(self, loss: Loss) -> Loss:
        """The loss by which rows of a gradient are weighed: their curvatures may be larger than those of a matrix.

        The step then goes a little too far where such rows are, by a part of the pilot's error, and its target is
        nearer to that of all rows.
        """
        return replace(loss, smoothness=self.loosening * TAIL.loosened * loss.smoothness) if self.shortened else loss


def choose_clip(
    gate: Gate, plan: Plan, coordinates: Coordinates, theta: Vector, row_bound: float, loss: Loss, largest: float
) -> Clip:
    """Ask for the quantile and the tail mean of the gradient norms at theta, at most `largest` by public facts."""
    price, matrix = plan.step(Purpose.LAST_STEP).price, coordinates.matrix
    noise = 0.0 if price is None else 2.0**price.bits / price.bound / plan.records

    def within(norm: float) -> float:
        asked = GradientNorm(theta, row_bound, 2 * norm, matrix, loss, start=-norm)
        return float(gate.ask(asked).value[0])

    noise_share = plan.step(Purpose.GRADIENT_NORMS).noise_share(plan.count)
    plenty = plenty_at(plan) if loss.code is Code.SQUARED else 0.0
    most = 1 - (1 - TAIL.held[1]) * grown((1 - PLENTY.held) / (1 - TAIL.held[1]), plenty)
    held = between(1 - TAIL.noises * noise_share, TAIL.held[0], most)
    quantile = bisect_octaves(within, largest, TAIL.octaves, TAIL.rounds, held * plan.count)
    cap = TAIL.cap * quantile
    query = GradientNorm(theta, row_bound, cap, matrix, loss, Measure.SHARE, start=quantile)
    answer = gate.ask(query)
    excess = cap * float(answer.value[0]) / plan.count
    excess += TAIL.caution * cap * answer.noise_scale / plan.count
    safety = TAIL.safety if loss.code is Code.SQUARED else TAIL.counts_safety
    scale = safety / math.sqrt(coordinates.dimension)
    weight = grown(PLENTY.safety / safety, plenty)
    clip = best_clip(quantile, held, excess, largest=largest, noise=noise, scale=scale, weight=weight)
    if loss.code is Code.SQUARED and largest > TAIL.loose * quantile:
        clip = replace(clip, bias=TAIL.loose_safety * clip.bias)
    deviation = quantile / (NormalDist().inv_cdf((1 + held) / 2) * math.sqrt(coordinates.dimension))
    fitted = min(TAIL.beyond[0] * clip.norm, TAIL.beyond[1] * quantile)
    if loss.code is Code.SQUARED:
        # Rows far out have gradients of this size where the model is right for them.
        fitted = max(fitted, TAIL.far_out * row_bound * deviation)
    law = tail_law(quantile, held, excess, largest, heavy=True)
    expected = 0.0 if law is None else (1 - held) * float(np.mean(law > fitted))
    worst = max(clip.bias, scale * largest)
    wide = largest > TAIL.wide * quantile
    return replace(clip, fitted=fitted, expected=expected, worst=worst, deviation=deviation, wide=wide)


def bias_at(
    gate: Gate, plan: Plan, matrix: Matrix | None, theta: Vector, row_bound: float, loss: Loss, clip: Clip
) -> float:
    """Ask how many records the estimate does not fit, and say what clips and row weights may do to the mean gradient.

    Weights hide what rows far out would change. Where more of these than the law of the tail and noise explain have
    large gradients, shortened to the row bound and not weighed down, the model is wrong for them: there is no bound.
    """
    if not math.isfinite(clip.fitted):
        return clip.bias
    answer = gate.ask(GradientNorm(theta, row_bound, LARGEST, matrix, loss, start=clip.fitted, shortened=True))
    found = float(answer.value[0]) - TAIL.unfit_noises * answer.noise_scale
    return clip.worst if plan.private and found > clip.expected * plan.count else clip.bias


def tail_law(
    quantile: float, held: float, excess: float, largest: float, *, heavy: bool = False, cap: float = TAIL.cap
) -> Vector | None:
    """Norms beyond a quantile, at even steps of their share, with this mean excess; None where it is too heavy.

    The excess is that of norms up to 1 + `cap` quantiles. A `heavy` law is lognormal, g_q exp(γ(|Z| / z_q - 1)): with
    the same mean excess more norms are far beyond.
    """
    places = (np.arange(TAIL.points) + 0.5) / TAIL.points
    inverse = NormalDist().inv_cdf
    ends = [inverse(share) for share in ((1 + held + (1 - held) * places) / 2).tolist()]
    ratios = np.array(ends) / inverse((1 + held) / 2)
    logs = ratios - 1 if heavy else np.log(ratios)

    def tail(power: float, bound: float) -> Vector:
        return np.asarray(np.minimum(quantile * np.exp(power * logs), max(bound, quantile)))

    def excess_of(power: float, bound: float) -> float:
        return float((1 - held) * (tail(power, bound) - quantile).mean())

    powers = np.linspace(*TAIL.powers, TAIL.grid)
    most = (1 + cap) * quantile
    if excess > TAIL.saturated * excess_of(float(powers[-1]), most) and largest > most:
        # An excess beyond what the public bound allows is noise.
        return None
    cut = [excess_of(power, min(most, largest)) for power in powers.tolist()]
    return tail(float(np.interp(excess, cut, powers)), largest)


def best_clip(
    quantile: float, held: float, excess: float, *, largest: float, noise: float, scale: float, weight: float = 1.0
) -> Clip:
    """The clip of the least noise and bias, `scale` times what a tail of this mean excess loses.

    The bias counts `weight` times as much in the choice.
    """
    norms = tail_law(quantile, held, excess, largest)
    if norms is None:
        # What lies beyond is not bounded.
        return Clip((1 + TAIL.cap) * quantile, scale * largest)
    highest = max(min(TAIL.farthest * quantile, largest), quantile * (1 + 1e-6))
    clips = np.geomspace(quantile, highest, TAIL.clips)
    beyond = (1 - held) * np.maximum(norms - clips[:, None], 0.0).mean(axis=1)
    bias = scale * beyond
    place = int(np.argmin((noise * clips) ** 2 + (weight * bias) ** 2))
    return Clip(float(clips[place]), float(bias[place]))
