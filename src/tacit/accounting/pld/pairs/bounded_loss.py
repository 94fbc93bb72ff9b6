"""Pairs of bounded loss: Laplace noise, randomised response, the exponential mechanism; pure releases on samples."""

import math
from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld.pairs.pair import UNIT, Direction, GridTooLong, Pair
from tacit.accounting.rounding import Floats
from tacit.errors import SettingError

_LARGEST_EPSILON = 300.0


@dataclass(frozen=True, slots=True)
class LaplacePair(Pair):
    """Laplace noise on a number: δ(t) = 1 - e^((t - ε)/2) for |t| ≤ ε, exact; half of P is at the largest loss."""

    epsilon: float

    @property
    def lattice(self) -> float:
        """The atoms are plus and minus epsilon."""
        return self.epsilon

    def _tails(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
        above_p, above_q = _tails(self.epsilon, points)
        return 0.5 * above_p, 0.5 * above_q

    def _atoms(self, _: Direction) -> tuple[Floats, Floats]:
        # The two ends, where the output lies beyond both centres.
        e = self.epsilon
        return np.array([-e, e]), np.array([0.5 * math.exp(-e), 0.5])

    def loss_error(self, _: float) -> float:
        """Two roundings of the argument."""
        return 8.0 * UNIT * self.epsilon


@dataclass(frozen=True, slots=True)
class RandomisedResponse(Pair):
    """P[Y = ∞] = δ, P[Y = ±ε] = (1 - δ) / (1 + e^(∓ε)): dominates all that is (ε, δ)-private, and is so itself."""

    epsilon: float
    delta: float = 0.0

    @property
    def lattice(self) -> float:
        """The atoms are plus and minus epsilon."""
        return self.epsilon

    def _atoms(self, _: Direction) -> tuple[Floats, Floats]:
        # The lie and the truth.
        small = math.exp(-self.epsilon)
        finite = (1.0 - self.delta) / (1.0 + small)
        return np.array([-self.epsilon, self.epsilon]), np.array([small * finite, finite])

    def infinite(self, _: Direction) -> float:
        """Return the probability of the leak."""
        return self.delta

    def loss_error(self, _: float) -> float:
        """The losses are given exactly."""
        return 0.0


@dataclass(frozen=True, slots=True)
class ExponentialPair(Pair):
    """Any range eta: δ(t) = (1 - e^((t - η)/2))² / (1 - e^(-η)), |t| ≤ η, the most of two points at every epsilon."""

    eta: float

    def _tails(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
        # The density of the loss is proportional to exp(y / 2).
        whole = -math.expm1(-self.eta)
        above_p, above_q = _tails(self.eta, points)
        return above_p / whole, above_q / whole

    def loss_error(self, _: float) -> float:
        """Two roundings of the argument."""
        return 8.0 * UNIT * self.eta


@dataclass(frozen=True, slots=True)
class _Replaced(Pair):
    """A pure release on a Poisson sample under replace-one: a loss symmetric around 0.

    `epsilon`, at most 300, is for adding or removing one record of the sample. The largest loss is ε* = log((1 - q + q
    e^ε) / (1 - q + q e^(-ε))).
    """

    epsilon: float
    rate: float

    def __post_init__(self) -> None:
        Pair.__post_init__(self)
        if self.rate == 0.0:
            raise SettingError("rate is 0; expected a sample that is not always empty")
        if self.epsilon > _LARGEST_EPSILON:
            raise GridTooLong(f"losses above {_LARGEST_EPSILON:.0f}")

    @property
    def lattice(self) -> float:
        """The atoms are 0 and the two ends."""
        return self.largest

    @property
    def largest(self) -> float:
        """The largest loss."""
        rise = math.log1p(self.rate * math.expm1(self.epsilon))
        lost = -self.rate * math.expm1(-self.epsilon)
        return rise - (math.log1p(-lost) if lost < 0.5 else math.log(self._low))

    @property
    def _low(self) -> float:
        """The least ratio to the law without the record."""
        return (1.0 - self.rate) + self.rate * math.exp(-self.epsilon)

    def loss_error(self, _: float) -> float:
        """The rounding of the largest loss, and of the inverse of the loss."""
        return 64.0 * UNIT * (1.0 + self.epsilon) * min(1.0, self.largest * 2.0**10)


@dataclass(frozen=True, slots=True)
class ReplacedResponse(_Replaced):
    """Any epsilon-private release of the sample: dominates every such one and is one; the loss has three values."""

    def _atoms(self, _: Direction) -> tuple[Floats, Floats]:
        # In the middle both records are less likely than none.
        end = 1.0 / (1.0 + math.exp(self.epsilon))
        high = 1.0 + self.rate * math.expm1(self.epsilon)
        middle = math.tanh(0.5 * self.epsilon) * self._low
        losses = np.array([-self.largest, 0.0, self.largest])
        return losses, np.array([end * self._low, middle, end * high])


@dataclass(frozen=True, slots=True)
class ReplacedLaplace(_Replaced):
    """Laplace noise of scale 1 on a sum, (1 - q) Lap(0) + q Lap(±ε): exact for a number, dominates for a vector."""

    def _tails(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
        e, size = self.epsilon, np.minimum(np.abs(points), self.largest)
        # Where the output is y of [0, e] the loss is log((1 - q + q e^(2y - e)) / low).
        ratio = self._low * math.exp(e) * np.expm1(size) / self.rate
        threshold = np.clip(0.5 * np.log1p(ratio), 0.0, e)
        beyond_p, beyond_q = self._between(threshold, e)
        inside_p, inside_q = self._between(np.zeros_like(threshold), threshold)
        above = points >= 0.0
        above_p = np.where(above, beyond_p, beyond_p + inside_p + inside_q)
        return above_p, np.where(above, beyond_q, beyond_q + inside_q + inside_p)

    def _between(self, start: Floats, end: Floats | float) -> tuple[Floats, Floats]:
        """Masses of the outputs between two numbers of [0, epsilon]."""
        e, width = self.epsilon, end - start
        falling = -0.5 * np.exp(-start) * np.expm1(-width)
        rising = -0.5 * np.exp(end - e) * np.expm1(-width)
        rest = 1.0 - self.rate
        return rest * falling + self.rate * rising, (rest + self.rate * math.exp(-e)) * falling

    def _atoms(self, _: Direction) -> tuple[Floats, Floats]:
        # The two ends, where the output lies beyond both centres.
        small, rest = math.exp(-self.epsilon), 1.0 - self.rate
        masses = [0.5 * small * (rest + self.rate * small), 0.5 * (rest * small + self.rate)]
        return np.array([-self.largest, self.largest]), np.array(masses)


def _tails(largest: float, points: Floats) -> tuple[Floats, Floats]:
    """Integrals of exp((y - largest)/2)/2 and exp(-(y + largest)/2)/2 from each point on."""
    below = 0.5 * (largest - np.clip(points, -largest, largest))
    other = np.exp(below - largest) - math.exp(-largest)
    near = math.exp(-largest) * np.expm1(np.minimum(below, 1.0))
    return -np.expm1(-below), np.where(below < 1.0, near, other)
