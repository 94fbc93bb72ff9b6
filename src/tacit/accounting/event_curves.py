r"""Rényi curves of events: which curve of `tacit.accounting.renyi` belongs to which release.

A release that is only (epsilon, delta)-private leaks with probability delta and is epsilon-private otherwise; its curve
is that of the second case, and the leak is recorded with it. Proof: ``proofs/accounting/event_curves.md``.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from tacit.accounting.classical import RatedSample, amplified
from tacit.accounting.composition import EventCounts, Sampled, count_events, pure_epsilon
from tacit.accounting.objective_perturbation import jacobian_term, objective_mu, vertices
from tacit.accounting.renyi import curve as curves
from tacit.accounting.renyi import mechanism_curves, selection, subsampling
from tacit.accounting.renyi.curve import Curve
from tacit.accounting.rounding import Floats, float_down, float_up, root_up
from tacit.accounting.with_replacement import copies
from tacit.privacy import event as kinds
from tacit.privacy.relation import Relation

# The exponent of many small leaks is a sum of as many roundings.
_LEAK_SLACK = 2.0**-40


@dataclass(frozen=True)
class LeakyCurve:
    """A Rényi curve, in both directions, that the release has with probability at least 1 - leak."""

    curve: Curve
    leak: float = 0.0


def curve_of(event: kinds.Event, relation: Relation | None) -> LeakyCurve | None:
    """Return the curve of one counted release, in both directions under the relation, or None."""
    found: LeakyCurve | None
    match event:
        case kinds.ObjectivePerturbation() | kinds.SoftmaxPerturbation() if relation is not None:
            found = _objective(event, relation)
        case kinds.PoissonSampled():
            found = None if relation is None else _sampled(event, relation)
        case kinds.SampledWithoutReplacement():
            found = _sampled(event, None)
        case kinds.SampledWithReplacement():
            found = _with_replacement(event)
        case kinds.RandomStopping():
            found = _selection(event, relation)
        case kinds.Gaussian() | kinds.DiscreteGaussian():
            # rho = mu^2 / 2 for both, and the Gaussian curve is that of rho.
            found = LeakyCurve(partial(mechanism_curves.gaussian, mu=root_up(event.mu_squared)))
        case kinds.Laplace():
            found = LeakyCurve(partial(mechanism_curves.laplace, epsilon=float_up(event.epsilon)))
        case kinds.BoundedRange():
            found = LeakyCurve(partial(mechanism_curves.bounded_range, eta=float_up(event.eta)))
        case _:
            own = own_pair(event, relation)
            found = None if own is None else LeakyCurve(partial(mechanism_curves.pure, epsilon=own[0]), own[1])
    return found


def total_curve(counts: EventCounts, relation: Relation | None) -> LeakyCurve | None:
    """Return the curve of everything, or None: exact total of Gaussian releases, k times the curve of k equal ones."""
    parts, leaks, squares = [], [], Fraction(0)
    for event, times in counts:
        if isinstance(event, kinds.Gaussian):
            squares += times * event.mu_squared
            continue
        found = curve_of(event, relation)
        if found is None:
            return None
        parts.append(curves.repeat(found.curve, times))
        leaks.append((found.leak, times))
    if squares > 0:
        parts.append(partial(mechanism_curves.gaussian, mu=root_up(squares)))
    return LeakyCurve(curves.add(parts), joint_leak(leaks))


def own_pair(event: kinds.Event, relation: Relation | None) -> tuple[float, float] | None:
    """Return the (epsilon, delta) that a release has of itself, None if it has a whole curve.

    Pure releases have delta 0; samples of such releases have the amplified pair.

    Guarantee: a release with an own delta has one epsilon, whatever share of delta it is offered.
    """
    match event:
        case kinds.Approximate():
            return float_up(event.epsilon), float_up(event.delta)
        case kinds.PoissonSampled() | kinds.SampledWithoutReplacement():
            inside = isinstance(event.event, Sampled | kinds.RandomStopping)
            base = None if inside else own_pair(event.event, relation)
            if base is None:
                return None
            sampled = amplified(event, relation, *base)
            return sampled.epsilon, sampled.delta
        case kinds.RandomStopping():
            epsilon: Fraction | float | None = pure_selection(event, relation)
        case _:
            epsilon = pure_epsilon(event)
    return None if epsilon is None else (float_up(epsilon), 0.0)


def pure_selection(event: kinds.RandomStopping, relation: Relation | None) -> float | None:
    """Return the epsilon of the best of many pure runs, (2 + shape) epsilon (thrice for a geometric law), or None."""
    if not isinstance(event.law, kinds.NegativeBinomial):
        return None
    total = Fraction(0)
    for release, times in count_events([event.event], relation):
        pure = pure_epsilon(release)
        if pure is None:
            return None
        total += times * Fraction(pure)
    return float_up(total * (2 + Fraction(event.law.shape)))


def joint_leak(leaks: Iterable[tuple[float, int]]) -> float:
    """Return the probability that one of several leaks happens, each so many times, rounded up."""
    stays = 0.0
    for leak, times in leaks:
        stays += times * math.log1p(-leak) if leak < 1.0 else -math.inf
    return min(-math.expm1(stays) * (1.0 + _LEAK_SLACK), 1.0) if stays < 0.0 else 0.0


def without_leak(delta: float, leak: float) -> float:
    """Return (δ - l) / (1 - l), rounded down, 0 at least: ``1 - (1 - leak)(1 - answer)`` is at most delta."""
    if leak == 0.0:
        return delta
    return max((delta - leak) / (1.0 - leak) * (1.0 - _LEAK_SLACK), 0.0) if leak < 1.0 else 0.0


def _objective(event: kinds.PerturbedObjective, relation: Relation) -> LeakyCurve:
    determinant, mu, count = jacobian_term(event), objective_mu(event, relation), vertices(event, relation)
    if count == 1:
        return LeakyCurve(partial(mechanism_curves.one_signed_objective, determinant=determinant, mu=mu))
    return LeakyCurve(partial(mechanism_curves.two_signed_objective, determinant=determinant, mu=mu, vertices=count))


def _sampled(event: RatedSample, relation: Relation | None) -> LeakyCurve | None:
    release, poisson = event.event, isinstance(event, kinds.PoissonSampled)
    own, pure = own_pair(event, relation), pure_epsilon(release)
    if own is not None and pure is None:
        return LeakyCurve(partial(mechanism_curves.pure, epsilon=own[0]), own[1])
    rate = float_up(event.rate)
    if isinstance(release, kinds.Gaussian):
        of = subsampling.poisson_gaussian if poisson else subsampling.without_replacement_gaussian
        curve: Curve = partial(of, mu=root_up(release.mu_squared), sampling_rate=rate)
    else:
        base = curve_of(release, Relation.ADD_REMOVE if poisson else Relation.REPLACE_ONE)
        if base is None:
            return None
        if poisson:
            curve = partial(subsampling.poisson, curve=base.curve, sampling_rate=rate)
        else:
            bound = math.inf if pure is None else float_up(pure)
            curve = partial(subsampling.without_replacement, curve=base.curve, sampling_rate=rate)
            curve = partial(curve, pure_epsilon=bound)
    if poisson:
        # Replacing is removing and adding.
        curve = curves.group(curve, 2 if relation is Relation.REPLACE_ONE else 1)
    if own is None:
        return LeakyCurve(curve)
    # Both curves hold for the same release.
    return LeakyCurve(lambda orders: np.minimum(curve(orders), mechanism_curves.pure(orders, own[0])))


def _with_replacement(event: kinds.SampledWithReplacement) -> LeakyCurve | None:
    if not isinstance(event.event, kinds.Gaussian):
        return None
    drawn = copies(event.draws, event.population)
    # So many copies of a record are summed at each order.
    if drawn.numbers[-1] > 20_000:
        return None
    drawing = {"records": event.population, "draws": event.draws, "most": int(drawn.numbers[-1])}
    mu = root_up(event.event.mu_squared)
    return LeakyCurve(partial(subsampling.with_replacement_gaussian, mu=mu, **drawing), drawn.tail)


def _selection(event: kinds.RandomStopping, relation: Relation | None) -> LeakyCurve | None:
    values = _selection_table(event, relation)
    if values is None:
        return None
    grid, table = curves.default_orders(), np.append(values, math.inf)

    def tabulated(orders: Floats) -> Floats:
        # Divergences grow with the order, so the next larger order of the table is safe.
        return np.asarray(table[np.searchsorted(grid, orders, side="left")], dtype=np.float64)

    return LeakyCurve(tabulated)


@lru_cache(maxsize=64)
def _selection_table(event: kinds.RandomStopping, relation: Relation | None) -> Floats | None:
    """The curve of the best of many runs at the default orders."""
    base = total_curve(count_events([event.event], relation), relation)
    if base is None or base.leak > 0.0:
        return None
    grid, law = curves.default_orders(), event.law
    if isinstance(law, kinds.NegativeBinomial):
        # More runs cost more: a smaller gamma and a larger shape are the safe sides.
        shape, gamma = float_up(law.shape), float_down(law.gamma)
        if gamma < 1e-300 or not shape < math.inf:
            return np.full_like(grid, math.inf)
        shape = 1e-300 if 0.0 < shape < 1e-300 else shape
        return selection.negative_binomial_selection(grid, base.curve, shape, gamma)
    mean = float_up(law.mean)
    if not mean < math.inf:
        return np.full_like(grid, math.inf)
    return selection.poisson_selection(grid, base.curve, mean)
