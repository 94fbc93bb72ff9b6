"""A deep point among the results of blocks, without bounds on them, or none where a stability test fails.

Private: the results. The depth of a point is the smallest number of blocks beyond it, in any coordinate and direction;
the points of depth at least i are a box. A point is drawn with density ∝ e^(rate·depth) among those of depth at least
t, after a noisy test that this set hardly changes with any few blocks. Proof: proofs/mechanisms/block_depth.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.block_price import DepthPrice
from tacit.contract.block_query import BlockDepth
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.noise.entropy import Entropy
from tacit.noise.laplace import discrete_laplace

Floats = NDArray[np.float64]
UNIFORM_BITS = 53


def boxes(results: Floats) -> tuple[Floats, Floats]:
    """Lower and upper ends (depth, coordinate) of the points of depth at least 1, …, ⌊blocks / 2⌋."""
    ordered = np.sort(results, axis=0)
    deepest = len(results) // 2
    return ordered[:deepest], ordered[::-1][:deepest]


def log_volumes(lower: Floats, upper: Floats) -> Floats:
    """Logarithms of the volumes of the boxes; -∞ where one is flat."""
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.maximum(upper - lower, 0.0)).sum(axis=1)
    return found


def outermost(blocks: int) -> int:
    """t: points of a smaller depth are not drawn."""
    return max(blocks // 4, 1)


def distance(volumes: Floats, blocks: int, price: DepthPrice) -> int:
    """How many blocks must change, at least, before the outermost shells may weigh more than `shell`. Private.

    h is the number of j = 0, 1, … for which, and for all smaller ones,

        max(e^(r(t-1)) V_(t-1-j), e^(rt) V_(t-j)) / max_{i ≥ t} e^(ri) V_(i+j)  ≤  shell.

    Guarantee: one block changes it by at most 1.
    """
    t, deepest, rate = outermost(blocks), len(volumes), float(price.rate)
    limit = math.log(price.shell)
    # max over i ≥ t of r·i + log V_(i+j) is that over m ≥ t + j of r·m + log V_m, less r·j.
    deep = np.maximum.accumulate((rate * np.arange(1, deepest + 1) + volumes)[::-1])[::-1]
    for j in range(t):
        if t - 1 - j < 1 or t + j > deepest:
            return j
        outside = max(rate * (t - 1) + volumes[t - 2 - j], rate * t + volumes[t - 1 - j])
        inside = deep[t + j - 1] - rate * j
        # Flat boxes have a volume of 0, and nothing is stable about them.
        if not math.isfinite(inside) or not outside - inside <= limit:
            return j
    return t


def answer_block_depth(
    query: BlockDepth, price: DepthPrice | Price, results: Floats, entropy: Entropy | None
) -> Answer:
    """A deep point, or NaN where the test failed, which is paid for all the same; without entropy the medians (ε = ∞).

    Guarantee
    ---------
    - Private over the real numbers: depths and the test are exact, volumes and the draw are floats.
    """
    if entropy is None or isinstance(price, Price):
        return Answer(np.median(results, axis=0), 0.0)
    lower, upper = boxes(results)
    volumes = log_volumes(lower, upper)
    noise = int(discrete_laplace(1, 1 / price.test, entropy)[0])
    if distance(volumes, query.blocks, price) + noise < price.threshold:
        return Answer(np.full(results.shape[1], np.nan), math.inf)
    return Answer(draw_point(lower, upper, price, outermost(query.blocks), entropy), 0.0)


def draw_point(lower: Floats, upper: Floats, price: DepthPrice, t: int, entropy: Entropy) -> Floats:
    """A point with density ∝ e^(rate·depth) on the box of depth t: a shell by its weight, then uniform within it."""
    lower, upper = lower[t - 1 :], upper[t - 1 :]
    volumes = log_volumes(lower, upper)
    inner = np.append(volumes[1:], -math.inf)
    rates = float(price.rate) * np.arange(len(volumes))
    with np.errstate(divide="ignore", invalid="ignore"):
        shells = rates + volumes + np.log1p(-np.exp(np.minimum(inner - volumes, 0.0)))
    shells = np.where(np.isnan(shells), -math.inf, shells)
    if not np.isfinite(shells.max()):
        # Flat boxes: the test has passed by chance, and any point will do.
        return np.array(lower[-1])
    weights = np.cumsum(np.exp(shells - shells.max()))
    number = min(int(np.searchsorted(weights, _uniforms(1, entropy)[0] * weights[-1], side="right")), len(weights) - 1)
    outer = (lower[number], upper[number])
    within = (lower[number + 1], upper[number + 1]) if number + 1 < len(lower) else (outer[0], outer[0])
    return _in_shell(outer, within, entropy)


def _in_shell(outer: tuple[Floats, Floats], inner: tuple[Floats, Floats], entropy: Entropy) -> Floats:
    """A uniform point of a box that is outside a box within it.

    The first coordinate that leaves the inner box splits the shell into pieces, boxes of known volume.
    """
    widths, within = outer[1] - outer[0], np.maximum(inner[1] - inner[0], 0.0)
    size = len(widths)
    shares = np.divide(within, widths, out=np.zeros(size), where=widths > 0.0)
    pieces = np.concatenate([[1.0], np.cumprod(shares)[:-1]]) * (1.0 - shares)
    sums = np.cumsum(pieces)
    draws = _uniforms(size + 1, entropy)
    first = min(int(np.searchsorted(sums, draws[-1] * sums[-1], side="right")), size - 1)
    point = outer[0] + draws[:size] * widths
    point[:first] = inner[0][:first] + draws[:first] * within[:first]
    left = inner[0][first] - outer[0][first]
    step = draws[first] * (widths[first] - within[first])
    point[first] = outer[0][first] + step if step < left else inner[1][first] + (step - left)
    return np.asarray(point)


def _uniforms(count: int, entropy: Entropy) -> Floats:
    return np.asarray((entropy.words(count) >> np.uint64(64 - UNIFORM_BITS)) * 2.0**-UNIFORM_BITS)
