r"""All convolutions in one Fourier transform, at a tilt, with a bound of every error.

For a tilt :math:`s \ge 0` the masses :math:`m_{in} e^{s n h - k_i}` are composed instead of
:math:`m_{in}`, and

.. math:: \delta(\varepsilon) = m_\infty + e^{K - s\varepsilon} \sum_{n h > \varepsilon} g_n
    (1 - e^{\varepsilon - n h}) e^{-s (n h - \varepsilon)}, \qquad K = \sum_i T_i k_i,

where :math:`g` is the composition of the tilted masses. The prefactor is the Chernoff bound of
delta, so an absolute error of :math:`g` is a relative error of delta, however small delta is.

Proofs: ``proofs/accounting/pld/transform.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from tacit.accounting.pld._signals import GridTooLong
from tacit.accounting.pld.distribution import Bound, LossDistribution
from tacit.accounting.pld.pairs.pair import UNIT, Floats

Spectrum: TypeAlias = NDArray[np.complex128]

LONGEST = 2**22
# Error per level of a fast Fourier transform, relative to the sum of the absolute inputs for each
# output and to the Euclidean norm for all: Higham (2002), Theorem 24.2, gives 6.7 units for
# twiddle factors exact to a unit; this doubles it.
_LEVEL = 16.0
# Absolute value, angle, logarithm, exponential, sine and cosine of a power, per factor.
_POWER = 16.0
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class Window:
    """Where the tilted composition lives.

    Parameters
    ----------
    tilt
        At least 0.
    low, high
        Range of composed losses that the transform holds.
    below, above
        Exponents of the Chernoff bounds for what is outside.
    """

    tilt: float
    low: float
    high: float
    below: float
    above: float


@dataclass(frozen=True)
class Transform:
    r"""A composed law at a tilt, and what may be wrong with it.

    Guarantee
    ---------
    - `delta` is on the side that `bound` names, for every real epsilon, whatever the tilt and the
      window are.
    - Falls in epsilon up to a relative 1e-9.

    Parameters
    ----------
    bound
        The side of the exact profile on which `delta` is.
    step, first
        The masses belong to the losses ``(first + k) * step``.
    masses
        Tilted masses.
    tilt, log_scale
        The tilt s and the sum K of the logarithms of all normalisers.
    outside
        Bound of the tilted mass outside the window.
    round_off
        Bound of the Euclidean norm of the error of `masses`.
    infinite
        Mass at infinity.
    loss_error, mass_error
        Accumulated over all losses.
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

    @property
    def top(self) -> float:
        """The largest loss of the window."""
        return (self.first + self.masses.size) * self.step

    def delta(self, epsilon: float) -> float:
        """Return a certified bound of the profile."""
        value, doubt = self._parts(epsilon)
        if self.bound == "upper":
            return min(self.infinite + value + doubt, 1.0)
        return min(max(self.infinite * (1.0 - self.mass_error) + value - doubt, 0.0), 1.0)

    def doubt(self, epsilon: float) -> float:
        """Return the part of `delta` that is round-off and the mass outside the window."""
        return self._parts(epsilon)[1]

    def _parts(self, epsilon: float) -> tuple[float, float]:
        upper = self.bound == "upper"
        epsilon = epsilon - self.loss_error if upper else epsilon + self.loss_error
        start = min(max(math.floor(epsilon / self.step) + 1 - self.first, 0), self.masses.size)
        losses = np.arange(self.first + start, self.first + self.masses.size) * self.step
        gaps = np.maximum(losses - epsilon, 0.0)
        gains = -np.expm1(-gaps) * np.exp(-self.tilt * gaps)
        value = max(float((self.masses[start:] * gains).sum()), 0.0)
        # The weights are at most exp(-s gap), a geometric sequence.
        decay = -math.expm1(-2.0 * self.tilt * self.step)
        norm = min(math.sqrt(self.masses.size), 1.0 / math.sqrt(decay) if decay > 0 else math.inf)
        doubt = self.outside + norm * self.round_off
        exponent = self.log_scale - self.tilt * epsilon
        size = abs(self.log_scale) + abs(self.tilt * epsilon) + self.masses.size
        error = self.mass_error + 8.0 * UNIT * size
        if upper:
            scale = math.exp(min(exponent + error, _LARGEST_EXPONENT))
        else:
            scale = math.exp(min(exponent - error, _LARGEST_EXPONENT))
        return scale * value, scale * doubt


def transform(
    laws: Sequence[tuple[LossDistribution, int]], window: Window, bound: Bound
) -> Transform:
    """Compose laws with counts in one Fourier transform.

    Guarantee
    ---------
    - The composition of upper laws is an upper bound, of lower laws a lower bound.

    Parameters
    ----------
    laws
        Laws on multiples of one step, with how often each occurs.
    window
        Tilt and range.
    bound
        The side on which the laws are.

    Examples
    --------
    >>> from tacit.accounting.pld.distribution import from_pair
    >>> from tacit.accounting.pld.grid import dyadic
    >>> from tacit.accounting.pld.pairs import RandomisedResponse
    >>> grid = dyadic(0.5, center=0, low=-1.0, high=1.0, per_octave=8)
    >>> law = from_pair(RandomisedResponse(1.0), "remove", grid, "upper")
    >>> composed = transform([(law, 2)], Window(0.0, -3.0, 3.0, 9.0, 9.0), "upper")
    >>> round(composed.delta(0.0), 6)
    0.462117
    """
    step = laws[0][0].step
    first, last = math.floor(window.low / step), math.ceil(window.high / step)
    if last - first >= LONGEST:
        raise GridTooLong(f"a window of {last - first} losses; expected fewer than {LONGEST}")
    length = fft.next_fast_len(last - first + 1, real=True)
    level = _LEVEL * UNIT * math.log2(length + 2)
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    # Upper bounds of the size of the spectrum and of its relative change with one factor.
    size, change = np.ones(length // 2 + 1), np.zeros(length // 2 + 1)
    log_scale = above = below = loss_error = mass_error = finite = count = 0.0
    for law, times in laws:
        losses = law.indices * step
        exponents = window.tilt * losses
        kept = law.masses > 0.0
        if not np.any(kept):
            # A lower law without mass: nothing but the infinite part is left.
            return _empty(laws, window, first, bound)
        with np.errstate(divide="ignore"):
            logarithms = np.log(law.masses) + exponents
        shift = float(np.max(logarithms[kept]))
        shift += math.log(float(np.exp(logarithms - shift).sum()))
        tilted = np.exp(logarithms - shift)
        folded = np.bincount(law.indices % length, tilted, length)
        factor = fft.rfft(folded)
        largest = np.abs(factor) + 2.0 * level
        _multiply(spectrum, factor, times)
        size *= largest**times
        change += times / largest
        log_scale += times * shift
        above += times * math.log(float((tilted * _power(window.above, losses)).sum()))
        below += times * math.log(float((tilted * _power(-window.below, losses)).sum()))
        loss_error += times * law.loss_error
        reach = float(np.max(np.abs(exponents[kept]))) + abs(shift)
        mass_error += times * (law.mass_error + 4.0 * UNIT * (reach + 8.0))
        finite += times * math.log1p(-min(law.infinite, 1.0 - 2.0**-53))
        count += times
    masses = fft.irfft(spectrum, length)
    edge = (first + length) * step
    outside = math.exp(min(above - window.above * edge, _LARGEST_EXPONENT))
    outside += math.exp(min(below + window.below * first * step, _LARGEST_EXPONENT))
    # Half of the spectrum is stored, so its Euclidean norm is at most root 2 of what is seen.
    round_off = level * _norm(size * change) * math.sqrt(2.0 / length)
    round_off += (_POWER * UNIT * count + level) * _norm(masses)
    turned = np.roll(masses, -(first % length))
    return Transform(
        bound=bound,
        step=step,
        first=first,
        masses=turned,
        tilt=window.tilt,
        log_scale=log_scale,
        outside=1.001 * outside,
        round_off=2.0 * round_off,
        infinite=-math.expm1(finite),
        loss_error=loss_error,
        mass_error=2.0 * mass_error,
    )


def _multiply(spectrum: Spectrum, factor: Spectrum, times: int) -> None:
    """Multiply a spectrum by a power of a factor, in place."""
    if times == 1:
        spectrum *= factor
        return
    angle = times * np.angle(factor)
    spectrum *= np.abs(factor) ** times * (np.cos(angle) + 1j * np.sin(angle))


def _norm(values: Floats) -> float:
    # Not a BLAS routine: its threads would make the last bits depend on their number.
    return math.sqrt(float((values * values).sum()))


def _power(exponent: float, losses: Floats) -> Floats:
    return np.exp(np.minimum(exponent * losses, _LARGEST_EXPONENT))


def _empty(
    laws: Sequence[tuple[LossDistribution, int]], window: Window, first: int, bound: Bound
) -> Transform:
    finite = sum(times * math.log1p(-min(law.infinite, 1 - 2.0**-53)) for law, times in laws)
    return Transform(
        bound=bound,
        step=laws[0][0].step,
        first=first,
        masses=np.zeros(1),
        tilt=window.tilt,
        log_scale=0.0,
        outside=0.0,
        round_off=0.0,
        infinite=-math.expm1(finite),
        loss_error=0.0,
        mass_error=sum(times * law.mass_error for law, times in laws),
    )
