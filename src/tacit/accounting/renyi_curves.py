r"""Rényi curves of events: which curve of `tacit.accounting.renyi` belongs to which release.

A release that is only (epsilon, delta)-private leaks with probability delta and is
epsilon-private otherwise; its curve is that of the second case, and the leak is recorded with it.
Proof: ``proofs/accounting/renyi_curves.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from tacit.accounting import renyi
from tacit.accounting.arguments import Floats
from tacit.accounting.classical import amplified
from tacit.accounting.composition import EventCounts, count_events, pure_epsilon
from tacit.accounting.objective_perturbation import jacobian_term, objective_mu
from tacit.accounting.renyi import Curve
from tacit.accounting.rounding import float_down, float_up, root_up
from tacit.accounting.with_replacement import copies
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    NegativeBinomial,
    ObjectivePerturbation,
    PoissonSampled,
    RandomStopping,
    SampledWithoutReplacement,
    SampledWithReplacement,
)
from tacit.privacy.relation import Relation

# The exponent of many small leaks is a sum of as many roundings.
_LEAK_SLACK = 2.0**-40
# So many copies of a record are summed at each order.
_MOST_COPIES = 20_000


@dataclass(frozen=True)
class LeakyCurve:
    """A Rényi curve, in both directions, that holds unless an event of small probability happens.

    Guarantee
    ---------
    - With probability at least 1 - leak the release is one with this curve.
    """

    curve: Curve
    leak: float = 0.0


def curve_of(event: Event, relation: Relation | None) -> LeakyCurve | None:
    """Return the curve of one counted release, or None if there is none.

    Guarantee
    ---------
    - The curve holds in both directions under the relation, or there is none.
    """
    match event:
        case ObjectivePerturbation() if relation is not None:
            return _objective(event, relation)
        case PoissonSampled() if relation is not None:
            return _poisson(event, relation)
        case SampledWithoutReplacement():
            return _without_replacement(event)
        case SampledWithReplacement():
            return _with_replacement(event)
        case RandomStopping():
            return _selection(event, relation)
        case _:
            return _plain(event)


def total_curve(counts: EventCounts, relation: Relation | None) -> LeakyCurve | None:
    """Return the curve of everything together, or None if one release has none.

    Guarantee
    ---------
    - Gaussian releases enter through their exact total.
    - k times a release costs k times its curve.
    """
    curves, leaks, squares = [], [], Fraction(0)
    for event, times in counts:
        if isinstance(event, Gaussian):
            squares += times * event.mu_squared
            continue
        found = curve_of(event, relation)
        if found is None:
            return None
        curves.append(renyi.repeat(found.curve, times))
        leaks.append((found.leak, times))
    if squares > 0:
        curves.append(partial(renyi.gaussian, mu=root_up(squares)))
    return LeakyCurve(renyi.add(curves), joint_leak(leaks))


def joint_leak(leaks: Iterable[tuple[float, int]]) -> float:
    """Return the probability that one of several leaks happens, each so many times, rounded up."""
    stays = 0.0
    for leak, times in leaks:
        stays += times * math.log1p(-leak) if leak < 1.0 else -math.inf
    return min(-math.expm1(stays) * (1.0 + _LEAK_SLACK), 1.0) if stays < 0.0 else 0.0


def _plain(event: Event) -> LeakyCurve | None:
    match event:
        case Gaussian() | DiscreteGaussian():
            # rho = mu^2 / 2 for both, and the Gaussian curve is that of rho.
            return LeakyCurve(partial(renyi.gaussian, mu=root_up(event.mu_squared)))
        case Laplace():
            return LeakyCurve(partial(renyi.laplace, epsilon=float_up(event.epsilon)))
        case BoundedRange():
            return LeakyCurve(partial(renyi.bounded_range, eta=float_up(event.eta)))
        case Approximate():
            return _leaky(float_up(event.epsilon), float_up(event.delta))
        case _:
            epsilon = pure_epsilon(event)
            return None if epsilon is None else _leaky(float_up(epsilon), 0.0)


def _leaky(epsilon: float, leak: float) -> LeakyCurve:
    return LeakyCurve(partial(renyi.pure, epsilon=epsilon), leak)


def _objective(event: ObjectivePerturbation, relation: Relation) -> LeakyCurve:
    determinant = jacobian_term(event)
    if event.signs == 1:
        mu = objective_mu(event, relation)
        return LeakyCurve(partial(renyi.one_signed_objective, determinant=determinant, mu=mu))
    mu = objective_mu(event, Relation.ADD_REMOVE)
    curve: Curve = partial(renyi.two_signed_objective, determinant=determinant, mu=mu)
    # Replacing is removing and adding.
    return LeakyCurve(renyi.group(curve, 2) if relation is Relation.REPLACE_ONE else curve)


def _poisson(event: PoissonSampled, relation: Relation) -> LeakyCurve | None:
    release, rate = event.event, float_up(event.rate)
    # Replacing is removing and adding.
    steps = 2 if relation is Relation.REPLACE_ONE else 1
    if isinstance(release, Gaussian):
        mu = root_up(release.mu_squared)
        curve: Curve = partial(renyi.poisson_gaussian, mu=mu, sampling_rate=rate)
        return LeakyCurve(renyi.group(curve, steps))
    base = curve_of(release, Relation.ADD_REMOVE)
    if base is None:
        return None
    if isinstance(release, Approximate):
        sampled = amplified(event, relation, float_up(release.epsilon), base.leak)
        return _leaky(sampled.epsilon, sampled.delta)
    curve = renyi.group(partial(renyi.poisson, curve=base.curve, sampling_rate=rate), steps)
    pure = pure_epsilon(release)
    if pure is not None:
        sampled = amplified(event, relation, float_up(pure), 0.0)
        curve = _least(curve, partial(renyi.pure, epsilon=sampled.epsilon))
    return LeakyCurve(curve)


def _without_replacement(event: SampledWithoutReplacement) -> LeakyCurve | None:
    release, rate = event.event, float_up(event.rate)
    if isinstance(release, Gaussian):
        mu = root_up(release.mu_squared)
        return LeakyCurve(partial(renyi.without_replacement_gaussian, mu=mu, sampling_rate=rate))
    base = curve_of(release, Relation.REPLACE_ONE)
    if base is None:
        return None
    if isinstance(release, Approximate):
        sampled = amplified(event, None, float_up(release.epsilon), base.leak)
        return _leaky(sampled.epsilon, sampled.delta)
    pure = pure_epsilon(release)
    bound = math.inf if pure is None else float_up(pure)
    curve: Curve = partial(
        renyi.without_replacement, curve=base.curve, sampling_rate=rate, pure_epsilon=bound
    )
    if pure is not None:
        sampled = amplified(event, None, bound, 0.0)
        curve = _least(curve, partial(renyi.pure, epsilon=sampled.epsilon))
    return LeakyCurve(curve)


def _with_replacement(event: SampledWithReplacement) -> LeakyCurve | None:
    if not isinstance(event.event, Gaussian):
        return None
    drawn = copies(event.draws, event.population)
    if drawn.numbers[-1] > _MOST_COPIES:
        return None
    curve = partial(
        renyi.with_replacement_gaussian,
        mu=root_up(event.event.mu_squared),
        records=event.population,
        draws=event.draws,
        most=int(drawn.numbers[-1]),
    )
    return LeakyCurve(curve, drawn.tail)


def _selection(event: RandomStopping, relation: Relation | None) -> LeakyCurve | None:
    values = _selection_table(event, relation)
    if values is None:
        return None
    grid, table = renyi.default_orders(), np.append(values, math.inf)

    def tabulated(orders: Floats) -> Floats:
        # Divergences grow with the order, so the next larger order of the table is safe.
        return np.asarray(table[np.searchsorted(grid, orders, side="left")], dtype=np.float64)

    return LeakyCurve(tabulated)


@lru_cache(maxsize=64)
def _selection_table(event: RandomStopping, relation: Relation | None) -> Floats | None:
    """The curve of the best of many runs at the default orders."""
    base = total_curve(count_events([event.event], relation), relation)
    if base is None or base.leak > 0.0:
        return None
    grid, law = renyi.default_orders(), event.law
    if isinstance(law, NegativeBinomial):
        # More runs cost more: a smaller gamma and a larger shape are the safe sides.
        shape, gamma = float_up(law.shape), float_down(law.gamma)
        if gamma < 1e-300 or not shape < math.inf:
            return np.full_like(grid, math.inf)
        shape = 1e-300 if 0.0 < shape < 1e-300 else shape
        return renyi.negative_binomial_selection(grid, base.curve, shape, gamma)
    mean = float_up(law.mean)
    return (
        renyi.poisson_selection(grid, base.curve, mean)
        if mean < math.inf
        else np.full_like(grid, math.inf)
    )


def _least(first: Curve, second: Curve) -> Curve:
    """The lesser of two curves that hold for the same release."""

    def least(orders: Floats) -> Floats:
        return np.minimum(first(orders), second(orders))

    return least
