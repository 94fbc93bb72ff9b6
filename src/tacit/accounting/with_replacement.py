r"""The profile of a release on records drawn with replacement, under replace-one.

.. math:: \delta'\bigl(\log(1 + \eta(e^{\varepsilon} - 1))\bigr) =
    \sum_{k=1}^{m} \binom{m}{k} n^{-k} (1 - 1/n)^{m - k}\, \delta_k(\varepsilon), \qquad
    \eta = 1 - (1 - 1/n)^m,

for epsilon at least 0, where :math:`\delta_k` is the profile for k replaced draws; below 0 the
profile follows by exchanging the neighbours. Proof: ``proofs/accounting/with_replacement.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
from scipy import special

from tacit.accounting.exact import float_up, root_up
from tacit.accounting.pld.pairs import Profile
from tacit.accounting.pld.pairs.pair import Floats
from tacit.accounting.tally import pure_epsilon
from tacit.privacy.event import Gaussian, SampledWithReplacement

# A record drawn more often than this is charged as if nothing were promised.
_MOST_COPIES = 256
_SLACK = 2.0**-44
_LARGE = 40.0
_ROOT_HALF = math.sqrt(0.5)


def with_replacement_profile(event: SampledWithReplacement) -> Profile | None:
    """Return the profile of draws with replacement, None if the inner release has none.

    Guarantee
    ---------
    - Never below the exact bound of Balle, Barthe and Gaboardi (2018), Theorem 10.
    - Equal events give equal profiles, so that counts add up.

    Examples
    --------
    >>> found = with_replacement_profile(SampledWithReplacement(Gaussian(1, 25), 10, 1000))
    >>> found is not None and bool(found.delta_of_epsilon(np.array([0.01]))[0] < 1e-2)
    True
    """
    if isinstance(event.event, Gaussian):
        mu, epsilon = root_up(event.event.mu_squared), 0.0
    else:
        pure = pure_epsilon(event.event)
        if pure is None:
            return None
        mu, epsilon = 0.0, float_up(pure)
    return _profile(mu, epsilon, event.draws, event.population)


@lru_cache(maxsize=256)
def _profile(mu: float, epsilon: float, draws: int, population: int) -> Profile:
    copies = np.arange(1.0, min(draws, _MOST_COPIES) + 1.0)
    # Logarithms, because the factorials alone leave the range of floats.
    logs = special.gammaln(draws + 1.0) - special.gammaln(copies + 1.0)
    logs -= special.gammaln(draws - copies + 1.0) + copies * math.log(population)
    if population > 1:
        rest = (draws - copies) * math.log1p(-1.0 / population)
        drawn = -math.expm1(draws * math.log1p(-1.0 / population))
    else:
        rest = np.where(copies == draws, 0.0, -np.inf)
        drawn = 1.0
    sizes = 3.0 * float(special.gammaln(draws + 1.0)) + copies * math.log(population) + draws
    weights = np.exp(np.minimum(logs + rest + 2.0**-49 * sizes, 0.0))
    tail = 0.0
    if draws > _MOST_COPIES:
        tail = float(special.betainc(_MOST_COPIES + 1.0, draws - _MOST_COPIES, 1.0 / population))
        tail = min(tail * (1.0 + 1e-9), 1.0)
    used = weights > 1e-300
    eta = min(drawn * (1.0 + _SLACK), 1.0)
    function = partial(
        _delta,
        mu=mu,
        epsilon=epsilon,
        eta=eta,
        tail=tail,
        copies=tuple(copies[used].tolist()),
        weights=tuple(weights[used].tolist()),
    )
    return Profile(function, limit=tail)


def _delta(
    points: Floats,
    mu: float,
    epsilon: float,
    eta: float,
    tail: float,
    copies: tuple[float, ...],
    weights: tuple[float, ...],
) -> Floats:
    positive = np.abs(points)
    # A smaller base epsilon has a larger delta, which is the safe side.
    base = np.log1p(np.expm1(np.minimum(positive, _LARGE)) / eta)
    base = (base + np.maximum(positive - _LARGE, 0.0)) * (1.0 - _SLACK)
    total = np.full_like(base, tail)
    for number, weight in zip(copies, weights, strict=True):
        if mu > 0.0:
            total += weight * _gaussian_delta(base, number * mu)
        else:
            total += weight * _response_delta(base, number * epsilon)
    total = np.minimum(total * (1.0 + _SLACK), 1.0)
    below = -np.expm1(-positive) + np.exp(-positive) * total
    return np.where(points >= 0.0, total, np.minimum(below, 1.0))


def _gaussian_delta(epsilon: Floats, mu: float) -> Floats:
    """The Gaussian curve, rounded up; the forms are those of `tacit.accounting.gaussian`."""
    u = epsilon / mu - 0.5 * mu
    u = u - 2.0**-50 * (np.abs(u) + mu)
    safe = np.clip(u, -38.0, 38.0)
    density = np.exp(-0.5 * safe * safe) / math.sqrt(2.0 * math.pi)
    here = math.sqrt(0.5 * math.pi) * special.erfcx(_ROOT_HALF * np.maximum(safe, 0.0))
    beyond = math.sqrt(0.5 * math.pi) * special.erfcx(_ROOT_HALF * (safe + mu))
    right = density * (here - beyond + 2.0**-46 * (here + beyond))
    left = special.ndtr(-safe) * (1.0 + 2.0**-46) - density * beyond * (1.0 - 2.0**-46)
    value = np.where(u >= 0.0, right, left) * (1.0 + _SLACK)
    return np.where(u > 38.0, 1e-300, np.where(u < -38.0, 1.0, np.clip(value, 0.0, 1.0)))


def _response_delta(epsilon: Floats, largest: float) -> Floats:
    """The curve of randomised response at its own epsilon, rounded up."""
    return np.maximum(-np.expm1(epsilon - largest), 0.0) / (1.0 + math.exp(-largest))
