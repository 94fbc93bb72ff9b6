"""Points of the pictures of an account: nothing is drawn here.

What is shown of the guarantee is on the safe side, as the prices are: curves are upper bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.accounting import gaussian, pld, renyi
from tacit.accounting.accountants import price
from tacit.accounting.best_epsilon import best
from tacit.accounting.clt_forecast import forecast
from tacit.accounting.composition import count_events
from tacit.accounting.dominating_pairs import pairs_of
from tacit.accounting.pld.distribution import from_pair
from tacit.accounting.pld.grid import dyadic, rounded_step
from tacit.accounting.pld.grid_choice import coarse_pass, resolve
from tacit.accounting.pld.pairs.pair import DIRECTIONS, Direction, Pair
from tacit.accounting.pld.transform import Transform, transform
from tacit.accounting.renyi_curves import total_curve
from tacit.accounting.training_run import Run
from tacit.errors import AccountingError
from tacit.report.account import Account

Floats = NDArray[np.float64]

BEST = "best"
STEPS_SHOWN = ("basic", "advanced", "rdp", BEST, "gdp-clt")

# Deltas are drawn down to this part of the one that was asked for.
_DEEP = 1e-3
# An untilted transform is exact to about 1e-15.
_LEAST_DELTA = 1e-11
_MANY_POINTS, _FEW_POINTS, _STEP_POINTS = 121, 25, 11
_BINS, _HALF_WIDTH, _TAIL = 160, 4.0, 2e-5
_ACCURACY, _FINEST = 1e-3, 20_000
_TABLE_DELTA = 1e-6


@dataclass(frozen=True)
class LossDensity:
    """Density of the privacy loss at increasing losses, with the person in the table and without.

    Guarantee
    ---------
    - ``without`` is ``within`` times e to the minus loss, as for every privacy loss.
    """

    losses: Floats
    within: Floats

    @property
    def without(self) -> Floats:
        """Density where the person is not in the table."""
        return np.asarray(self.within * np.exp(-np.clip(self.losses, -700.0, 700.0)))


def profile(account: Account) -> Mapping[str, tuple[Floats, Floats]]:
    """Epsilons and deltas: the best curve, the Rényi one, and the forecast where there is one.

    Guarantee
    ---------
    - The best and the Rényi curve are never below the true profile.
    """
    found = account.composition
    largest = found.epsilon(max(account.delta, _TABLE_DELTA**2) * _DEEP)
    if not 0.0 < largest < math.inf:
        largest = 1.0
    distributions = (
        _distributions(account, largest) if account.delta * _DEEP >= _LEAST_DELTA else []
    )
    quick = found.mu is not None or bool(distributions)
    epsilons = np.linspace(0.0, largest, _MANY_POINTS if quick else _FEW_POINTS)
    if math.isfinite(account.smallest.epsilon):
        epsilons = np.union1d(epsilons, account.smallest.epsilon)

    def at(epsilon: float) -> float:
        if distributions:
            return max(each.delta(epsilon) for each in distributions)
        return found.delta(epsilon)

    curves = {BEST: (epsilons, _values(at, epsilons))}
    curve = total_curve(
        count_events([account.run.event], account.run.relation), account.run.relation
    )
    if curve is not None and curve.leak == 0.0 and found.mu is None:
        orders = np.union1d(renyi.default_orders(), 1.0 + np.geomspace(0.1, 30.0, 30))
        values = curve.curve(orders)
        curves["rdp"] = (
            epsilons,
            _values(lambda it: renyi.delta_from_values(orders, values, it), epsilons),
        )
    guess = account.forecast
    if guess is not None and found.mu is None and math.isfinite(guess.approximate_mu):
        mu = guess.approximate_mu
        curves["gdp-clt"] = (epsilons, _values(lambda it: gaussian.delta(it, mu), epsilons))
    return curves


def trade_off_points(account: Account) -> tuple[Floats, Floats]:
    """Rates of false alarms, dense near 0 and 1, and the least misses at each."""
    near = np.geomspace(1e-4, 0.5, 80)
    alarms = np.concatenate([[0.0], near, 1.0 - near[-2::-1], [1.0]])
    return alarms, _values(account.trade_off.misses_at, alarms)


def epsilon_by_steps(account: Account) -> tuple[Floats, Mapping[str, Floats]]:
    """Numbers of steps around those of the run, and epsilon by several accountants at each.

    Guarantee
    ---------
    - The number of steps of the run is among them; where there is no price stands NaN.
    """
    steps = account.run.steps
    around = np.geomspace(max(1.0, steps / 100.0), 10.0 * steps, _STEP_POINTS)
    counts = sorted({*(round(float(it)) for it in around), steps})
    found = {
        name: np.array([_at_steps(account, name, count) for count in counts])
        for name in STEPS_SHOWN
    }
    return np.array(counts, dtype=np.float64), found


def loss_density(account: Account) -> LossDensity | None:
    """Density of the privacy loss in its worse direction; None where it cannot be computed."""
    mu = account.composition.mu
    if mu is not None:
        if not 0.0 < mu < 1e6:
            return None
        losses = np.linspace(
            mu * (0.5 * mu - _HALF_WIDTH), mu * (0.5 * mu + _HALF_WIDTH), 4 * _BINS + 1
        )
        scaled = (losses - 0.5 * mu * mu) / mu
        return LossDensity(losses, np.exp(-0.5 * scaled * scaled) / (mu * math.sqrt(2.0 * math.pi)))
    epsilon = account.smallest.epsilon
    distributions = _distributions(account, epsilon) if math.isfinite(epsilon) else []
    return (
        _binned(max(distributions, key=lambda each: each.delta(epsilon))) if distributions else None
    )


def _binned(law: Transform) -> LossDensity | None:
    masses = np.maximum(law.masses, 0.0) * math.exp(law.log_scale)
    losses = (law.first + np.arange(masses.size)) * law.step
    sums = np.cumsum(masses)
    first = int(np.searchsorted(sums, _TAIL))
    last = min(int(np.searchsorted(sums, sums[-1] - _TAIL)) + 1, masses.size - 1)
    # A whole number of grid losses in each bin, or the bars would flicker.
    per_bin = max(round((last - first) / _BINS), 1)
    number = (last - first) // per_bin + 1
    ends = first + per_bin * np.arange(number + 1)
    padded = np.append(masses, np.zeros(per_bin + 1))
    width = per_bin * law.step
    heights = np.add.reduceat(padded[: ends[-1] + 1], ends)[:-1] / width
    centers = losses[first] + (np.arange(number) + 0.5) * width - 0.5 * law.step
    return LossDensity(centers, heights) if number > 1 else None


def _distributions(account: Account, epsilon: float) -> list[Transform]:
    """The composed loss in each direction, not tilted; nothing where it is out of range."""
    run = account.run
    items = pairs_of(count_events([run.event], run.relation), run.relation)
    if not items or account.composition.mu is not None or not epsilon > 0.0:
        return []
    ways = DIRECTIONS[:1] if all(pair.symmetric for pair, _ in items) else DIRECTIONS
    try:
        return [_distribution(items, way, max(account.delta * _DEEP, _LEAST_DELTA)) for way in ways]
    except (pld.GridTooLong, pld.BelowRoundOff):
        return []


def _distribution(items: list[tuple[Pair, int]], direction: Direction, delta: float) -> Transform:
    coarse = coarse_pass(items, direction)
    aim = coarse.aim_at_delta(delta)
    window, width = coarse.window(0.0, aim)
    chosen = resolve(items, direction, coarse, aim, _ACCURACY)
    grids = list(chosen.grids)
    if width < _FINEST * chosen.step:
        # Enough for the price of few steps, but too coarse to be looked at.
        step = rounded_step(width / _FINEST)
        grids = [
            dyadic(step, center=0, low=float(low), high=float(high) + step, per_octave=_FINEST)
            for low, high in zip(*coarse.ranges(aim), strict=True)
        ]
    parts = [
        (from_pair(pair, direction, grid, "upper"), times)
        for (pair, times), grid in zip(items, grids, strict=True)
    ]
    return transform(parts, window, "upper")


def _at_steps(account: Account, name: str, steps: int) -> float:
    run: Run = replace(account.run, steps=steps)
    events, delta, relation = [run.event], account.delta, run.relation
    try:
        if name == "gdp-clt":
            # Without sampling the limit is the exact price, which is drawn as the best one.
            if account.composition.mu is not None:
                return math.nan
            found = forecast(events, relation=relation).approximate_epsilon(delta)
        elif name == BEST:
            found = best(events, delta=delta, relation=relation).epsilon
        else:
            found = price(name, events, delta=delta, relation=relation).epsilon
    except AccountingError:
        return math.nan
    return found if math.isfinite(found) else math.nan


def _values(function: Callable[[float], float], points: Floats) -> Floats:
    return np.array([function(float(point)) for point in points])
