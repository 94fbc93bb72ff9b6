"""Pairs of Gaussian noise: plain, discrete, on random samples, and in a perturbed objective."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy import special

from tacit.accounting.objective_perturbation import vertex_quantile
from tacit.accounting.pld.pairs.pair import NO_ATOMS, UNIT, Direction, GridTooLong, Pair
from tacit.accounting.rounding import Floats
from tacit.errors import SettingError

# Beyond 39 standard deviations a mass is below the smallest float; the loss is then infinite.
_DEEPEST = 39.0
_MOST_ATOMS = 2**21
# Beyond this loss 1 - q no longer counts next to exp(loss), and the inverse is a straight line.
_LARGE = 40.0

SampledRelation: TypeAlias = Literal["add-remove", "zero-out", "replace-one"]


@dataclass(frozen=True, slots=True)
class GaussianPair(Pair):
    """P = N(μ, 1), Q = N(0, 1), loss N(μ²/2, μ²): the profile is that of ``tacit.accounting.gaussian.delta``."""

    mu: float

    def _tails(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
        ratio, half = points / self.mu, 0.5 * self.mu
        return special.ndtr(half - ratio), special.ndtr(-half - ratio)

    def loss_error(self, largest: float) -> float:
        """Two roundings of the argument, in units of the loss."""
        return 8.0 * UNIT * (largest + self.mu * self.mu)


@dataclass(frozen=True, slots=True)
class DiscreteGaussianPair(Pair):
    """An integer moved by at most an integer shift Δ, with discrete Gaussian noise: Y = (Δ² - 2ΔX) / (2σ²).

    `squared_sensitivity_root` is the shift, `sigma` at most 2^21 / 78.

    Guarantee: the profile equals the sum over integers; the mass beyond 39 sigma is put at infinity.
    """

    squared_sensitivity_root: int
    sigma: float

    def __post_init__(self) -> None:
        if not isinstance(self.squared_sensitivity_root, int) or self.squared_sensitivity_root < 0:
            raise SettingError("squared_sensitivity_root is not a count; expected an integer of at least 0")
        Pair.__post_init__(self)
        if self.sigma == 0.0:
            raise SettingError("sigma is 0; expected a number above 0")
        if 2.0 * _DEEPEST * self.sigma > _MOST_ATOMS:
            most = f"{_MOST_ATOMS / (2 * _DEEPEST):.0f}. Price the release as a Gaussian one"
            raise GridTooLong(f"sigma {self.sigma!r} has too many integers within 39 sigma; expected at most {most}")

    @property
    def lattice(self) -> float:
        """All losses are multiples of half the step of the loss."""
        step = self.squared_sensitivity_root / self.sigma**2
        return step if self.squared_sensitivity_root % 2 == 0 else 0.5 * step

    def _atoms(self, _: Direction) -> tuple[Floats, Floats]:
        # Every integer within 39 sigma, in increasing order of the loss.
        shift = self.squared_sensitivity_root
        last = int(_DEEPEST * self.sigma) + 1
        integers = np.arange(last, -last - 1, -1, dtype=np.float64)
        weights = np.exp(-0.5 * (integers / self.sigma) ** 2)
        losses = (0.5 * shift - integers) * (shift / self.sigma**2)
        return losses, weights / weights.sum()

    def infinite(self, _: Direction) -> float:
        """A bound of the mass beyond 39 sigma."""
        return 1e-300

    def loss_error(self, largest: float) -> float:
        """Four roundings of the loss."""
        return 8.0 * UNIT * largest


@dataclass(frozen=True, slots=True)
class ObjectivePerturbation(Pair):
    """The loss that dominates a minimiser of a perturbed objective.

    Y = c + max(0, V) with V ~ N(μ²/2, μ²) for one vertex; for m of them V is conditioned on its upper 1/m tail, which
    is c + μ²/2 + |A| with A ~ N(0, μ²) for two. `c` bounds the logarithm of the Jacobian, and `c_add` that of the add
    direction (0 under add-remove and zero-out; default `c`). `mu` is the gradient bound over the noise scale, doubled
    for replace-one.

    Guarantee: for losses from c + max(0, μ²/2 + μz), Φ(-z) = 1/m, the profile is m times the Gaussian one at
    ``epsilon - c``.
    """

    c: float
    mu: float
    vertices: int = 1
    c_add: float | None = None

    def __post_init__(self) -> None:
        Pair.__post_init__(self)
        if not isinstance(self.vertices, int) or self.vertices < 1:
            raise SettingError(f"vertices is {self.vertices!r}; expected an integer of at least 1")

    @property
    def symmetric(self) -> bool:
        """Whether the Jacobian term is the same both ways."""
        return self.c_add is None or self.c_add == self.c

    # Without sensitivity the Jacobian term is left.
    empty = False

    def _tails(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        c = self._c(direction)
        if self.mu == 0.0:
            return np.zeros_like(points), np.zeros_like(points)
        if self.vertices == 1:
            ratio, half = np.maximum(points - c, 0.0) / self.mu, 0.5 * self.mu
            return special.ndtr(half - ratio), np.exp(-c) * special.ndtr(-half - ratio)
        count, start = float(self.vertices), vertex_quantile(self.vertices)
        ratio = np.maximum((points - (c + 0.5 * self.mu * self.mu)) / self.mu, start)
        first = np.minimum(count * special.ndtr(-ratio), 1.0)
        return first, count * np.exp(-c) * special.ndtr(-self.mu - ratio)

    def _atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        if self.mu > 0.0 and self.vertices > 1:
            return NO_ATOMS
        # All negative V are taken as 0.
        return np.array([self._c(direction)]), np.array([special.ndtr(-0.5 * self.mu) if self.mu > 0.0 else 1.0])

    def loss_error(self, largest: float) -> float:
        """Roundings of the shift and of the argument, in units of the loss."""
        start = 2.0 * vertex_quantile(self.vertices)
        return 16.0 * UNIT * (largest + self.c + self.mu * self.mu + start * self.mu)

    def _c(self, direction: Direction) -> float:
        return self.c_add if direction == "add" and self.c_add is not None else self.c


@dataclass(frozen=True, slots=True)
class PoissonGaussian(Pair):
    """Gaussian noise on the sum over a sample in which each record is with probability q.

    P = (1 - q) N(0, 1) + q N(μ, 1) and Q = N(0, 1) (remove), the two exchanged (add); for replace-one Q = (1 - q) N(0,
    1) + q N(-μ, 1). `mu` is the bound of one record's norm over the noise scale, for all relations.

    Guarantee: the profile of each direction is the exact one, for one release checked against 50 digits. Rate 1 is the
    Gaussian mechanism (of 2 mu for replace-one), rate 0 releases nothing.
    """

    mu: float
    rate: float
    relation: SampledRelation = "add-remove"

    def __post_init__(self) -> None:
        Pair.__post_init__(self)
        if self.relation not in ("add-remove", "zero-out", "replace-one"):
            raise SettingError(f"relation is {self.relation!r}; expected add-remove, zero-out or replace-one")

    @property
    def symmetric(self) -> bool:
        """Replacing is undone by replacing, adding is undone by removing."""
        return self.relation == "replace-one" or self.empty

    def _tails(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        if self.relation == "replace-one":
            threshold = _symmetric_threshold(self.mu, self.rate, points)
            with_plus = _mixture(self.mu, self.rate, -threshold)
            return with_plus, _mixture(-self.mu, self.rate, -threshold)
        if direction == "remove":
            threshold = _mixture_threshold(self.mu, self.rate, points)
            return _mixture(self.mu, self.rate, -threshold), special.ndtr(-threshold)
        threshold = _mixture_threshold(self.mu, self.rate, -points)
        return special.ndtr(threshold), _mixture(-self.mu, self.rate, threshold)

    def loss_error(self, largest: float) -> float:
        """Backward error of the inverted loss."""
        return _sampled_loss_error(self.mu, self.rate, largest)


@dataclass(frozen=True, slots=True)
class WithoutReplacementGaussian(Pair):
    """Gaussian noise on the sum over a sample of fixed size, replace-one; the loss has an atom at 0.

    With P = N(μ, 1) and Q = N(0, 1), δ(log x) is H_x((1 - q) Q + q P ‖ Q) for x ≥ 1 and H_x(P ‖ (1 - q) P + q Q) below.
    `mu_replace` is twice the bound of one record's norm, over the noise scale.

    Guarantee: for epsilon at least 0 this is the amplified profile δ'(log(1 + q (e^ε - 1))) = q δ(ε); below 0 it
    follows from it by exchanging the neighbours.
    """

    mu_replace: float
    rate: float

    def _tails(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
        # Above 0 as for removing from a sample, below 0 as for adding.
        mu, rate, half = self.mu_replace, self.rate, 0.5 * self.mu_replace
        threshold = _mixture_threshold(mu, rate, np.abs(points))
        # Below 0 the tails are those at 0 plus what lies between: differences of small numbers.
        low, high = float(special.ndtr(-half)), float(special.ndtr(half))
        between = low - special.ndtr(-threshold)
        below_p = (1.0 - rate) * low + rate * high + between
        below_q = low + (1.0 - rate) * between + rate * (special.ndtr(threshold - mu) - low)
        above = points >= 0.0
        above_p = np.where(above, _mixture(mu, rate, -threshold), below_p)
        return above_p, np.where(above, special.ndtr(-threshold), below_q)

    def _atoms(self, _: Direction) -> tuple[Floats, Floats]:
        mass = (1.0 - self.rate) * math.erf(self.mu_replace / math.sqrt(8.0))
        return np.zeros(1), np.array([mass])

    def loss_error(self, largest: float) -> float:
        """Backward error of the inverted loss."""
        return _sampled_loss_error(self.mu_replace, self.rate, largest)


def _mixture(mu: float, rate: float, points: Floats) -> Floats:
    """Return the probability of (1 - q) N(0) + q N(-mu) below the points."""
    shifted: Floats = rate * special.ndtr(points + mu)
    return shifted + (1.0 - rate) * special.ndtr(points) if rate < 1.0 else shifted


def _mixture_threshold(mu: float, rate: float, points: Floats) -> Floats:
    """Solve log(1 - q + q exp(mu x - mu^2 / 2)) = point for x; minus infinity if below all."""
    ratio = np.maximum(np.expm1(np.minimum(points, _LARGE)) / rate, -1.0)
    with np.errstate(divide="ignore"):
        logarithm = np.log1p(ratio) + np.maximum(points - _LARGE, 0.0)
    return logarithm / mu + 0.5 * mu


def _symmetric_threshold(mu: float, rate: float, points: Floats) -> Floats:
    """Solve log((1 - q + q e^(mu x - m)) / (1 - q + q e^(-mu x - m))) = point, m = mu^2 / 2."""
    if rate >= 1.0:
        return 0.5 * points / mu
    odds = math.log1p(-rate) - math.log(rate) + 0.5 * mu * mu
    half = 0.5 * np.abs(points)
    with np.errstate(divide="ignore"):
        logarithm = odds + half + np.log(-0.5 * np.expm1(-2.0 * half))
    # Past e^30 the inverse hyperbolic sine is the logarithm of twice its argument.
    large = logarithm > 30.0
    moderate = np.arcsinh(np.exp(np.minimum(logarithm, 30.0)))
    inverse = np.where(large, logarithm + math.log(2.0), moderate)
    return np.copysign(half + inverse, points) / mu


def _sampled_loss_error(mu: float, rate: float, largest: float) -> float:
    if rate == 0.0:
        return 0.0
    odds = -math.log(rate) - (math.log1p(-rate) if rate < 1.0 else 0.0)
    return 32.0 * UNIT * (largest * (1.0 + largest + odds + mu * mu) + rate * mu * mu)
