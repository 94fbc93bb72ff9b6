r"""What each release costs by itself: an (epsilon, delta), or a rho of concentrated privacy.

Releases that need a delta get an equal share: with T of them, each is priced at :math:`\delta/(2T)` and the other half
of delta is the slack of the theorem. A release with a pair of its own brings its own delta.
A release is rho-zCDP if its Rényi curve is at most :math:`\rho\alpha` at every order, and (rho, omega)-tCDP if it is at
orders below omega. Rhos add up; omega is the least. Proof: ``proofs/accounting/release_prices.md``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.accounting import gaussian
from tacit.accounting.classical import RatedSample, amplified, amplified_without_replacement
from tacit.accounting.composition import EventCounts, pure_epsilon
from tacit.accounting.event_curves import curve_of, joint_leak, own_pair, without_leak
from tacit.accounting.objective_perturbation import objective_epsilon
from tacit.accounting.renyi import conversion
from tacit.accounting.rounding import bisect, float_up, root_up
from tacit.accounting.with_replacement import copies, with_replacement_profile
from tacit.privacy import event as kinds
from tacit.privacy.relation import Relation

# Beyond it no profile is tabulated.
_LARGEST_EPSILON = 690.0
# Where truncated curves are read; a bound between two orders is that of the upper one.
_ORDERS = np.concatenate([1.0 + np.geomspace(0.01, 0.9, 24), np.geomspace(2.0, 512.0, 160)])
# Every omega gives a valid answer, so a coarse search is refined around its minimum only.
_FIRST_OMEGA, _STRIDE = 16, 8
_RHO_SLACK = 2.0**-40


@dataclass(frozen=True, slots=True)
class PricedReleases:
    """Equal releases: each of the `times` releases is (epsilon, delta)-private, rounded up."""

    epsilon: float
    delta: float
    times: int


def priced_releases(counts: EventCounts, relation: Relation | None, delta: float) -> tuple[PricedReleases, ...] | None:
    """Price each release at its share, or None; the deltas are at most the own ones plus half of what these leave."""
    own = [own_pair(event, relation) for event, _ in counts]
    paired = list(zip(counts, own, strict=True))
    spent = sum(Fraction(pair[1]) * times for (_, times), pair in paired if pair is not None)
    needy = sum(times for (_, times), pair in paired if pair is None)
    rest = max(Fraction(delta) - spent, Fraction(0))
    share = float(rest / (2 * needy)) * (1.0 - 2.0**-50) if needy else 0.0
    found = []
    for (event, times), pair in paired:
        at = share if pair is None else pair[1]
        epsilon = epsilon_at(event, relation, at)
        if epsilon is None:
            return None
        found.append(PricedReleases(epsilon, at, times))
    return tuple(found)


def epsilon_at(event: kinds.Event, relation: Relation | None, delta: float) -> float | None:
    """Return an epsilon of one release at delta, never below the true one, or None if there is none."""
    pair = own_pair(event, relation)
    if pair is not None:
        return pair[0]
    epsilon = None
    match event:
        case kinds.PoissonSampled() | kinds.SampledWithoutReplacement():
            epsilon = _sampled(event, relation, delta)
        case kinds.SampledWithReplacement():
            epsilon = _with_replacement(event, delta)
        case kinds.RandomStopping():
            found = curve_of(event, relation)
            epsilon = None if found is None else conversion.epsilon(found.curve, delta)
        case kinds.Gaussian():
            epsilon = gaussian.epsilon(root_up(event.mu_squared), delta)
        case kinds.DiscreteGaussian():
            epsilon = conversion.zcdp_to_epsilon(float_up(event.mu_squared / 2), delta)
        case kinds.ObjectivePerturbation() | kinds.SoftmaxPerturbation() if relation is not None:
            epsilon = objective_epsilon(event, relation, delta)
    return epsilon


def _sampled(event: RatedSample, relation: Relation | None, delta: float) -> float | None:
    """Amplify a release with a curve: find the base delta whose amplified delta fits."""
    poisson = isinstance(event, kinds.PoissonSampled)
    fixed = Relation.ADD_REMOVE if poisson else Relation.REPLACE_ONE
    # Lowered by more than the rounding upwards of an amplified delta.
    base = min(delta / float_up(event.rate), 1.0) * (1.0 - 2.0**-44)
    # A share of delta below the smallest normal float is no share.
    while base > 1e-300:
        epsilon = epsilon_at(event.event, fixed, base)
        if epsilon is None:
            return None
        found = amplified(event, relation, epsilon, base)
        if found.delta <= delta:
            return found.epsilon
        # Under replace-one delta counts more than once; epsilon grows only slowly.
        base *= min(0.9, 0.98 * delta / found.delta)
    return math.inf


def _with_replacement(event: kinds.SampledWithReplacement, delta: float) -> float | None:
    profile = with_replacement_profile(event)
    if profile is None:
        return None
    pure = pure_epsilon(event.event)
    worst = math.inf
    if pure is not None:
        # Whatever is drawn, all draws are replaced at worst.
        rate = copies(event.draws, event.population).drawn
        worst = amplified_without_replacement(float_up(event.draws * pure), 0.0, rate).epsilon

    def fits(epsilon: float) -> bool:
        return not float(profile.delta_of_epsilon(np.array([epsilon]))[0]) > delta

    if delta == 0.0 or not fits(_LARGEST_EPSILON):
        return worst
    least = 0.0 if fits(0.0) else bisect(0.0, _LARGEST_EPSILON, fits, 1e-9)[1]
    return min(least, worst)


@dataclass(frozen=True, slots=True)
class Concentrated:
    """With probability at least 1 - leak the release is one of rho-zCDP; rho is exact or rounded up."""

    rho: Fraction
    leak: float = 0.0


def concentrated(event: kinds.Event, relation: Relation | None) -> Concentrated | None:
    r"""Return the rho of one counted release, or None if it has none.

    Guarantee: :math:`\mu^2/2` for Gaussian and discrete Gaussian noise and :math:`\eta^2/8` for bounded range are
    exact; what is pure has :math:`\varepsilon\tanh(\varepsilon/2)`, never the smaller :math:`\varepsilon^2/8`.
    """
    match event:
        case kinds.Gaussian() | kinds.DiscreteGaussian():
            return Concentrated(event.mu_squared / 2)
        case kinds.BoundedRange():
            return Concentrated(Fraction(event.eta) ** 2 / 8)
        case _:
            pair = own_pair(event, relation)
            if pair is None or math.isinf(pair[0]):
                return None
            return Concentrated(Fraction(conversion.pure_to_zcdp(pair[0])), pair[1])


def total_concentrated(counts: EventCounts, relation: Relation | None) -> Concentrated | None:
    """Return the rho of everything, None if a release has none; k times a release costs exactly k times its rho."""
    rho, leaks = Fraction(0), []
    for event, times in counts:
        found = concentrated(event, relation)
        if found is None:
            return None
        rho += times * found.rho
        leaks.append((found.leak, times))
    return Concentrated(rho, joint_leak(leaks))


def truncated_epsilon(counts: EventCounts, relation: Relation | None, delta: float) -> float | None:
    r"""Return an epsilon at delta by truncated concentrated privacy, the best over omega.

    A release without a rho gets, for each omega, the least rho that its Rényi curve allows: :math:`\rho(\omega) =
    \sup_{\alpha < \omega} r(\alpha)/\alpha`.

    Guarantee: never below the epsilon of the summed Rényi curves; the zCDP answer where every release has a rho.
    """
    plain, curves = [], []
    for event, times in counts:
        if concentrated(event, relation) is not None:
            plain.append((event, times))
            continue
        curve = curve_of(event, relation)
        if curve is None or curve.leak > 0.0:
            return None
        curves.append((curve.curve, times))
    base = total_concentrated(tuple(plain), relation)
    if base is None:
        return None
    if not counts:
        return 0.0
    rest = without_leak(delta, base.leak)
    if rest <= 0.0:
        return math.inf
    if not curves:
        return conversion.zcdp_to_epsilon(float_up(base.rho), rest)
    starts = np.concatenate([[1.0], _ORDERS[:-1]])
    rhos = np.full_like(_ORDERS, float_up(base.rho))
    for curve_at, times in curves:
        # On a cell the curve is at most its value at the end, the order at least the start.
        ratios = np.asarray(curve_at(_ORDERS), dtype=np.float64) / starts
        rhos = rhos + times * np.maximum.accumulate(ratios)
    rhos = rhos * (1.0 + _RHO_SLACK)

    def at(index: int) -> float:
        rho, omega = float(rhos[index]), float(_ORDERS[index])
        return conversion.tcdp_to_epsilon(rho, omega, rest) if math.isfinite(rho) else math.inf

    coarse = min(range(_FIRST_OMEGA, len(_ORDERS), _STRIDE), key=at)
    near = range(max(coarse - _STRIDE, _FIRST_OMEGA), min(coarse + _STRIDE, len(_ORDERS)), 2)
    return min(at(index) for index in (coarse, *near))
