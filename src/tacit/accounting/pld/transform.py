r"""All convolutions in one Fourier transform, at a tilt, with a bound of every error.

For a tilt :math:`s \ge 0` the masses :math:`m_{in} e^{s n h - k_i}` are composed to g, and

.. math:: \delta(\varepsilon) = m_\infty + e^{K - s\varepsilon} \sum_{n h > \varepsilon} g_n
    (1 - e^{\varepsilon - n h}) e^{-s (n h - \varepsilon)}, \qquad K = \sum_i T_i k_i.

The prefactor is the Chernoff bound of delta, so an absolute error of g is a relative error of
delta, however small delta is. Proofs: ``proofs/accounting/pld/transform.md``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from tacit.accounting.pld.distribution import Bound, LossDistribution
from tacit.accounting.pld.pairs.pair import UNIT, BelowRoundOff, GridTooLong
from tacit.accounting.renyi.curve import log_sum
from tacit.accounting.rounding import Floats

LONGEST = 2**22
# Error per level of a fast Fourier transform, relative to the sum of the absolute inputs for each
# output and to the Euclidean norm for all: Higham (2002), Theorem 24.2, gives 6.7 units for
# twiddle factors exact to a unit; this doubles it.
_LEVEL = 16.0
# Relative accuracy of the root: far below the width of a bracket.
_ACCURACY = 1e-7
# Fractions of the guess at which a lower law is tried.
_FRACTIONS = (0.98, 0.9, 0.75, 0.5, 0.25, 0.1)


@dataclass(frozen=True)
class Window:
    """The range of the tilted composition.

    `below` and `above` are the exponents of the Chernoff bounds that set the two ends; `needed` is
    the negative logarithm of the tilted mass that may be outside, on each side.
    """

    tilt: float
    below: float
    above: float
    needed: float


@dataclass(frozen=True)
class Transform:
    """A composed distribution at a tilt, and bounds of its errors.

    The tilted masses belong to the losses ``(first + k) * step``. `log_scale` is the sum K of the logarithms of all
    normalisers, `outside` bounds the tilted mass outside the window, `round_off` the Euclidean norm of the error of
    `masses`, and `ceiling` is the largest composed loss.

    Guarantee: `delta` is on the side that `bound` names, for every epsilon, tilt and window, and falls in epsilon up to
    a relative 1e-9.
    """

    bound: Bound
    step: float
    first: int
    masses: Floats
    tilt: float
    log_scale: float
    outside: float
    round_off: float
    infinite: float
    loss_error: float
    mass_error: float
    ceiling: float

    def delta(self, epsilon: float) -> float:
        """Return a certified bound of the profile."""
        return self.delta_and_slope(epsilon)[0]

    def delta_and_slope(self, epsilon: float) -> tuple[float, float]:
        """Return a certified bound of the profile, and about its derivative."""
        upper = self.bound == "upper"
        sign = 1.0 if upper else -1.0
        infinite = self.infinite * (1.0 + sign * self.mass_error)
        epsilon = epsilon - sign * self.loss_error
        if epsilon >= self.ceiling:
            return min(infinite, 1.0), 0.0
        start = min(max(math.floor(epsilon / self.step) + 1 - self.first, 0), self.masses.size)
        losses = np.arange(self.first + start, self.first + self.masses.size) * self.step
        gaps = np.maximum(losses - epsilon, 0.0)
        weighted = self.masses[start:] * np.exp(-self.tilt * gaps)
        value = max(-float((weighted * np.expm1(-gaps)).sum()), 0.0)
        size = abs(self.log_scale) + abs(self.tilt * epsilon) + self.masses.size
        exponent = self.log_scale - self.tilt * epsilon
        exponent += sign * (self.mass_error + 8.0 * UNIT * size)
        scale = math.exp(min(exponent, 700.0))
        slope = scale * (value - float(weighted.sum()))
        # Round-off and mass outside: the weights are at most exp(-s gap), a geometric sequence.
        decay = -math.expm1(-2.0 * self.tilt * self.step)
        norm = math.sqrt(self.masses.size)
        if decay * self.masses.size > 1.0:
            norm = 1.0 / math.sqrt(decay)
        finite = scale * (value + sign * (self.outside + norm * self.round_off))
        return min(max(infinite + finite, 0.0), 1.0), slope


def transform(laws: Sequence[tuple[LossDistribution, int]], window: Window, bound: Bound) -> Transform:
    """Compose distributions on multiples of one step by one transform: upper to an upper bound, lower to a lower."""
    step = laws[0][0].step
    parts = [_tilted(law, times, window.tilt) for law, times in laws]
    infinite = -math.expm1(sum(times * math.log1p(-min(law.infinite, 1.0 - UNIT)) for law, times in laws))
    if any(law.infinite >= 1.0 for law, _ in laws):
        infinite = 1.0
    if any(part is None for part in parts):
        # A law without finite mass: nothing but the infinite part is left.
        return Transform(bound, step, 0, np.zeros(1), 0.0, 0.0, 0.0, 0.0, infinite, 0.0, 0.0, 0.0)
    tilted = [part for part in parts if part is not None]
    above = sum(part.cumulant(window.above) for part in tilted)
    below = sum(part.cumulant(-window.below) for part in tilted)
    first = math.floor(-(below + window.needed) / (window.below * step))
    last = math.ceil((above + window.needed) / (window.above * step))
    if last - first >= LONGEST:
        raise GridTooLong(f"a window of {last - first} losses; expected fewer than {LONGEST}")
    length = fft.next_fast_len(max(last - first, 1) + 1, real=True)
    level = _LEVEL * UNIT * math.log2(length + 2)
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    # Upper bounds of the size of the spectrum and of its relative change with one factor.
    size, change = np.ones(length // 2 + 1), np.zeros(length // 2 + 1)
    for part in tilted:
        factor = fft.rfft(np.bincount(part.indices % length, part.masses, length))
        largest = np.abs(factor) + 2.0 * level
        if part.times == 1:
            spectrum *= factor
        else:
            angle = part.times * np.angle(factor)
            spectrum *= np.abs(factor) ** part.times * (np.cos(angle) + 1j * np.sin(angle))
        size *= largest**part.times
        change += part.times / largest
    masses = fft.irfft(spectrum, length)
    count = sum(part.times for part in tilted)
    # Half of the spectrum is stored, so its Euclidean norm is at most root 2 of what is seen.
    round_off = level * _norm(size * change) * math.sqrt(2.0 / length)
    # Absolute value, angle, logarithm, exponential, sine and cosine of a power, per factor.
    round_off += (16.0 * UNIT * count + level) * _norm(masses)
    return Transform(
        bound=bound,
        step=step,
        first=first,
        masses=np.roll(masses, -(first % length)),
        tilt=window.tilt,
        log_scale=sum(part.times * part.shift for part in tilted),
        outside=2.002 * math.exp(-window.needed),
        round_off=2.0 * round_off,
        infinite=infinite,
        loss_error=sum(times * law.loss_error for law, times in laws),
        mass_error=2.0 * sum(part.times * part.error for part in tilted),
        ceiling=math.nextafter(sum(part.times * int(part.indices[-1]) for part in tilted) * step, math.inf),
    )


def epsilon_at(law: Transform, delta: float, guess: float) -> float:
    """Return epsilon at delta: for an upper bound rounded up, for a lower bound rounded down.

    Guarantee: at an upper ``law.delta(result) <= delta``, at a lower ``law.delta(result) >= delta`` or 0; infinite if
    the mass at infinity is above delta.
    """
    if law.infinite > delta:
        return math.inf
    upper = law.bound == "upper"
    top = min((law.first + law.masses.size) * law.step, law.ceiling)
    below, above = max(top + 2.0 * law.loss_error, 0.0), 0.0
    if not upper:
        # Far below the guess the error of a tilted composition exceeds its value.
        trials = (fraction * guess for fraction in _FRACTIONS)
        above = next((trial for trial in trials if law.delta(trial) >= delta), 0.0)
    if law.delta(above) <= delta:
        return 0.0 if upper else above
    if law.delta(below) > delta:
        # Only the mass outside the window and round-off are left here.
        if upper:
            raise BelowRoundOff(f"delta {delta!r} is below the round-off of the transform; use Rényi accounting")
        return below
    return _between(law, delta, guess, (above, below))


@dataclass(frozen=True)
class _Tilted:
    """Tilted masses of one law, their normaliser and the relative error of both."""

    losses: Floats
    indices: NDArray[np.int64]
    masses: Floats
    times: int
    shift: float
    error: float

    def cumulant(self, exponent: float) -> float:
        """Return the cumulant function of all repetitions, for a Chernoff bound."""
        return self.times * log_sum(np.log(self.masses) + exponent * self.losses)


def _tilted(law: LossDistribution, times: int, tilt: float) -> _Tilted | None:
    used = law.masses > 0.0
    if not np.any(used):
        return None
    indices = law.indices[used]
    losses = indices.astype(np.float64) * law.step
    exponents = tilt * losses
    logarithms = np.log(law.masses[used]) + exponents
    shift = log_sum(logarithms)
    size = float(np.abs(exponents).max()) + abs(shift)
    error = law.mass_error + 4.0 * UNIT * (size + 8.0)
    # The smallest normal float in place of 0 keeps logarithms finite. All of it together is far
    # below the mass that is accounted for as being outside of the window.
    masses = np.maximum(np.exp(logarithms - shift), 1e-307)
    return _Tilted(losses, indices, masses, times, shift, error)


def _norm(values: Floats) -> float:
    # Not a BLAS routine: its threads would make the last bits depend on their number.
    return math.sqrt(float((values * values).sum()))


def _between(law: Transform, delta: float, guess: float, bracket: tuple[float, float]) -> float:
    """Close a bracket by Newton steps that end a little beyond the root, on the safe side."""
    above, below = bracket
    upper, trial = law.bound == "upper", guess
    side = 1.0 + _ACCURACY if upper else 1.0 - _ACCURACY
    for _ in range(60):
        if not above < trial < below:
            trial = 0.5 * (above + below)
        value, slope = law.delta_and_slope(trial)
        above, below = (trial, below) if value > delta else (above, trial)
        if below - above <= _ACCURACY * below:
            break
        # A step on the logarithm of delta, out of the bracket where there is none.
        known = value > 0.0 and slope < 0.0
        following = trial + math.log(value / delta) * value / -slope if known else -1.0
        if abs(following - trial) < _ACCURACY * trial:
            safe = law.delta(trial * side)
            if (safe <= delta) if upper else (safe >= delta):
                return trial * side
        trial = following
    return below if upper else above
