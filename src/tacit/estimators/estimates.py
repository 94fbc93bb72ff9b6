"""Estimates: noised means with their noise and an upper bound on their standard error.

A variable in [a, b] with mean m has variance at most (m - a)(b - m), with equality where it takes the ends alone
(Bhatia & Davis, American Mathematical Monthly 107, 2000). So the released mean also bounds its own sampling error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import Answer
from tacit.contract.release import Release
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.design import Column, Design
from tacit.design.expression import Statistic
from tacit.design.response import Absent
from tacit.display import Displayed, Shown
from tacit.text_table import Table, columns_of_numbers

Numbers = NDArray[np.float64]
SMALLEST_GROUP = 2.0
"""Noise deviations that a group's count is at least taken to be: a mean over fewer records is pulled to the middle."""


@dataclass(frozen=True, repr=False)
class Estimate(Displayed):
    """Noised means; everything in it was paid for.

    Attributes
    ----------
    value
        A number for one mean, (mean,) for several, (group,) or (group, mean) for groups.
    noise_scale
        Standard deviation of the privacy noise in `value`; of ratios to first order.
    standard_error
        An upper bound, up to noise, on the standard error of `value` as an estimate of the population's mean: the
        privacy noise, and the largest sampling error that a variable within the bounds with this mean can have.
    bounds
        The interval that the expression lies in, (lower, upper) as arrays or numbers.
    groups, shares, share_noise
        The levels of the column that was asked by, the share of the records in each, and its noise; else None.
    """

    value: Any
    noise_scale: Any
    standard_error: Any
    bounds: tuple[Any, Any]
    groups: tuple[Any, ...] | None = None
    shares: Any = None
    share_noise: Any = None

    def _shown(self) -> Shown:
        value = np.atleast_1d(self.value)
        noise, error = (np.broadcast_to(part, value.shape) for part in (self.noise_scale, self.standard_error))
        names = [str(place) for place in range(len(value))] if self.groups is None else list(map(str, self.groups))
        if value.ndim > 1:
            names = [f"{name}, {place}" for name in names for place in range(value.shape[1])]
        if np.ndim(self.value) == 0:
            names = [""]
        numbers = columns_of_numbers(*(part.ravel().tolist() for part in (value, noise, error)))
        rows = tuple(zip(names, *numbers, strict=True))
        return Shown("Estimate", (), Table(("", "value", "noise", "std err at most"), rows))

    @property
    def clipped(self) -> Any:
        """The value within its bounds, which noise may have left: biased there, and closer to the truth."""
        return np.clip(self.value, *self.bounds)

    def __float__(self) -> float:
        """The value, where it is one number."""
        return float(self.value)


@dataclass(frozen=True)
class Answered:
    """What a query released, for the certificate: columns that say what was asked, and their prepared means."""

    columns: tuple[Column, ...]
    shares: Numbers


def release_of(plan: Plan, answered: Sequence[Answered], *, seeded: bool) -> Release:
    """The answers as a release: every mean in units of its interval, with a column that says what it is of."""
    columns = tuple(column for one in answered for column in one.columns)
    empty: Numbers = np.empty(0)
    theta = np.concatenate([empty, *(one.shares for one in answered)])
    design = Design(columns, Absent(), math.sqrt(max(len(columns), 1)), intercept=False)
    return Release(replace(plan, design=design), theta, seeded)


def mean_estimate(query: BoundedSums, answer: Answer, plan: Plan, *, single: bool) -> tuple[Answered, Estimate]:
    """Means over all records, divided by n, or by the noisy count where n is private."""
    total, count_noise = plan.count, _count_noise(plan)
    shares = np.asarray(answer.value / total)
    noise = np.hypot(answer.noise_scale, shares * count_noise) / total
    estimate = _in_units(query.statistics, shares, noise, total)
    columns = tuple(_column(statistic, statistic.spelling) for statistic in query.statistics)
    return Answered(columns, shares), _flattened(estimate, single=single)


def group_estimate(
    query: GroupSums, answer: Answer, plan: Plan, levels: Sequence[Any], *, single: bool
) -> tuple[Answered, Estimate]:
    """Means over the records of each group, kept within their bounds, and the groups' shares of the records."""
    noise, total = answer.noise_scale, plan.count
    counts = np.maximum(answer.value[:, 0], max(SMALLEST_GROUP * noise, 1e-6 * total))
    means = np.clip(answer.value[:, 1:] / counts[:, None], -1.0, 1.0)
    deviations = noise * np.hypot(1.0, means) / counts[:, None]
    held = np.clip(answer.value[:, 0] / total, 0.0, 1.0)
    found = _in_units(query.statistics, means, deviations, counts[:, None])
    share_noise = float(noise / total)
    estimate = replace(found, groups=tuple(levels), shares=held, share_noise=share_noise)
    name = query.group.column
    columns = [Column(f"{name}={level}", (), 0.0, 1.0, 0.5, 0.5) for level in levels]
    columns += [_column(it, f"{it.spelling} | {name}={level}") for level in levels for it in query.statistics]
    released = np.concatenate([(held - 0.5) / 0.5, means.ravel()])
    return Answered(tuple(columns), released), _flattened(estimate, single=single)


def _in_units(statistics: Sequence[Statistic], shares: Numbers, noise: Numbers, records: Any) -> Estimate:
    """Values, noise and standard errors on the user's scale; `shares` are -1 and 1 at the ends."""
    centers = np.array([statistic.interval.center for statistic in statistics])
    halves = np.array([statistic.interval.half_width for statistic in statistics])
    inside = np.clip(shares, -1.0, 1.0)
    sampling = (1.0 - inside) * (1.0 + inside) / records
    ends = centers - halves, centers + halves
    return Estimate(centers + halves * shares, halves * noise, halves * np.sqrt(noise**2 + sampling), ends)


def _flattened(estimate: Estimate, *, single: bool) -> Estimate:
    """Numbers in place of arrays of one, where one mean was asked for."""
    if not single:
        return estimate
    parts = (estimate.value, estimate.noise_scale, estimate.standard_error, *estimate.bounds)
    value, noise, error, lower, upper = (_first(np.asarray(part)[..., 0]) for part in parts)
    return replace(estimate, value=value, noise_scale=noise, standard_error=error, bounds=(lower, upper))


def _first(part: Any) -> Any:
    return float(part) if part.ndim == 0 else part


def _column(statistic: Statistic, name: str) -> Column:
    interval = statistic.interval
    return Column(name, (), interval.lower, interval.upper, interval.center, interval.half_width)


def _count_noise(plan: Plan) -> float:
    """Standard deviation of the noise in the count of the records; 0 where n is public."""
    if plan.relation.n_is_public or not plan.private:
        return 0.0
    return plan.step(Purpose.RECORD_COUNT).noise_share(1.0)
