"""A public surrogate of a table: rows simulated from a design's public facts, or from released second moments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from tacit.design.attached_columns import Offset, OffsetSum, OffsetTerm
from tacit.design.design import Column, Design
from tacit.design.factor import NumericCell, columns_of
from tacit.design.response import Absent, Binary, Classes, Continuous, Count, Positive
from tacit.engine.prediction import design_offsets, design_rows
from tacit.errors import SettingError
from tacit.planning.assumptions import Assumptions
from tacit.planning.row_sums import Matrix, Vector
from tacit.planning.simulated_rows import factors_of, rows_with_moments

LEAST_ROWS, ROWS_A_COLUMN, MOST_ENTRIES = 2000, 50, 4_000_000
"""Rows simulated: enough that their own curvature is near the population's, and few enough to be quick."""
MORE_ROWS = 3
"""So many times the rows where second moments are known: their rare levels must have rows."""
SHORT, NUMBERS, CAUSE, RARER = 0.5, 0.5, 0.5, 2.0
"""Of short rows: below which part of the width their squared norm is, which part of it numbers have, the correlation
by a common cause, and the power by which levels grow rarer. Chosen on four public tables (benchmarks forecasts)."""
ALIKE, RARE, PURE_MARGIN = 0.002, 0.0005, 12.0
"""Share of the rarer label in a level below which its labels are taken to be all alike, their log odds then, and the
share of the records below which a level does not matter."""
RIDGE, STRONGEST = 1e-4, 15.0
"""Of the direction of least squares, over the variances; the largest deviation of a linear predictor."""


@dataclass(frozen=True)
class Surrogate:
    """Prepared rows (intercept last) and prepared responses that stand for a table. Public: nothing is read."""

    design: Design
    rows: Matrix
    response: Vector
    offset: float | Vector = 0.0

    @classmethod
    def simulated(cls, design: Design, assumptions: Assumptions | None = None) -> Surrogate:
        """Simulate rows of a design and their responses; the same arguments give the same rows.

        Numbers are normal around the middle of their bounds and clipped to them; between each two knots of a
        spline lie as many. The k-th declared level of a factor has a share ∝ 1/k. Where a matrix has bounds and a
        row norm far below them, its rows are taken for indicators of factors. Slopes are ∝ 1/√deviation of their
        column, and their signs are random.

        Guarantee: no record enters, and rows obey every bound of the design.
        """
        known = (assumptions or Assumptions()).checked_for(design)
        generator = np.random.default_rng(known.seed)
        moments = known.moments_of(design)
        if isinstance(design.response, Absent):
            raise SettingError("Forecasts are for models with a response; the noise of a mean is in its plan.")
        count = _count(design)
        if moments is not None:
            rows = _with_moments(design, moments, MORE_ROWS * count, generator)
            return cls(design, rows, _responses_of_moments(design, rows, moments, generator))
        if not design.columns:
            # An intercept alone, y ~ 1: a row is its constant.
            rows = np.ones((count, 1))
        elif _is_short(design):
            rows = _prepared(design, _indicator_rows(design, known, count, generator))
        else:
            columns = _columns(design, known, count, generator)
            rows = design_rows(columns, design)
            offset: float | Vector = 0.0 if design.attached.offset is None else design_offsets(columns, design)
            return cls(design, rows, _responses(design, rows, known, generator, offset), offset)
        return cls(design, rows, _responses(design, rows, known, generator))


def _count(design: Design) -> int:
    return int(min(max(LEAST_ROWS, ROWS_A_COLUMN * design.identified), max(LEAST_ROWS, MOST_ENTRIES // design.width)))


def _columns(
    design: Design, known: Assumptions, count: int, generator: np.random.Generator
) -> Mapping[str, NDArray[Any]]:
    """Raw columns by name: those that the factors of a design use."""
    found: dict[str, NDArray[Any]] = {}
    knots = known.knots_of(design)
    own = design.inputs or design.columns
    # Where declared rows are shorter than such columns, all are scaled down.
    typical = known.spread * np.sqrt(len(own))
    norm = design.input_norm if design.inputs else design.feature_norm
    shorter = 1.0 if norm is None else min(1.0, 0.8 * norm / typical)
    for column in own:
        for factor in column.factors:
            for name in columns_of(factor):
                if name in found:
                    continue
                if name in design.levels:
                    levels = design.levels[name]
                    shares = np.array(known.levels.get(name, 1.0 / np.arange(1, len(levels) + 1)), float)
                    found[name] = np.array(levels)[generator.choice(len(levels), count, p=shares / shares.sum())]
                elif name in knots:
                    even = np.linspace(0.0, 1.0, len(knots[name]))
                    found[name] = np.interp(generator.random(count), even, knots[name])
                else:
                    guessed = _spread(column, design.cells.get(name), known.spread * shorter)
                    middle, spread = known.columns.get(name, guessed)
                    found[name] = middle + spread * generator.standard_normal(count)
    for term in _offset_terms(design):
        if term.column not in found:
            ends = (
                math.exp(term.lower) if term.exposure else term.lower,
                math.exp(term.upper) if term.exposure else term.upper,
            )
            guessed = (ends[0] + ends[1]) / 2, known.spread * (ends[1] - ends[0]) / 2
            middle, spread = known.columns.get(term.column, guessed)
            found[term.column] = np.clip(middle + spread * generator.standard_normal(count), *ends)
    return found


def _offset_terms(design: Design) -> tuple[Offset | OffsetTerm, ...]:
    offset = design.attached.offset
    return () if offset is None else offset.terms if isinstance(offset, OffsetSum) else (offset,)


def _is_short(design: Design) -> bool:
    """Whether a matrix has bounds, but rows far shorter than these allow: most columns are then indicators."""
    bounded = all(np.isfinite(column.upper) and not column.is_open for column in design.columns)
    plain = not (design.inputs or design.levels or design.cells)
    return plain and bounded and design.feature_norm**2 < SHORT * len(design.columns)


def _indicator_rows(design: Design, known: Assumptions, count: int, generator: np.random.Generator) -> Matrix:
    """Numbers, then indicators of factors, as many in all as a row's squared norm; correlated by a common cause."""
    width, parts = len(design.columns), max(2, round(design.feature_norm**2))
    numbers = max(1, round(parts * NUMBERS))
    ends = np.round(np.linspace(numbers, width, parts - numbers + 1)).astype(int)
    cause = generator.standard_normal((count, 1))

    def entries(size: int) -> Matrix:
        signs = generator.choice([-1.0, 1.0], size)
        own = generator.standard_normal((count, size))
        return np.asarray(np.sqrt(CAUSE) * cause * signs + np.sqrt(1 - CAUSE) * own)

    rows = np.zeros((count, width))
    rows[:, :numbers] = known.spread * entries(numbers)
    for first, end in itertools.pairwise(ends.tolist()):
        if end > first:
            shares = generator.permutation(1.0 / np.arange(1, end - first + 1) ** RARER)
            place = np.searchsorted(np.cumsum(shares / shares.sum()), special.ndtr(entries(1)[:, 0]))
            rows[np.arange(count), first + np.minimum(place, end - first - 1)] = 1.0
    return rows


def _spread(column: Column, cell: object, spread: float) -> tuple[float, float]:
    """Middle and deviation of a raw column; columns without bounds are standard normal, or of the row norm's scale."""
    if isinstance(cell, NumericCell):
        return (cell.lower + cell.upper) / 2, spread * (cell.upper - cell.lower) / 2
    if column.is_open:
        return 0.0, 1.0
    if np.isfinite(column.upper):
        return (column.lower + column.upper) / 2, spread * (column.upper - column.lower) / 2
    return 0.0, column.scale * spread


def _responses(
    design: Design, rows: Matrix, known: Assumptions, generator: np.random.Generator, offset: float | Vector = 0.0
) -> Vector:
    """Responses of a model in which all columns matter equally."""
    slopes = generator.choice([-1.0, 1.0], rows.shape[1]) / np.sqrt(np.maximum(rows.std(axis=0), 1e-9))
    slopes[rows.std(axis=0) < 1e-9] = 0.0
    score = rows @ slopes
    score = (score - score.mean()) / max(float(score.std()), 1e-9)
    match design.response:
        case Binary():
            return _labels(known.effect * score + offset, known.share, generator)
        case Classes(classes=classes):
            others = known.effect * generator.standard_normal((rows.shape[1], len(classes))) / np.sqrt(rows.shape[1])
            margins = rows / np.maximum(rows.std(axis=0), 1.0) @ others
            return np.asarray(np.argmax(margins + generator.gumbel(size=margins.shape), axis=1), float)
        case Count(upper=upper) as own:
            rates = np.exp(known.effect / 2 * score + offset)
            rates = np.minimum(rates * known.mean_of(own) / rates.mean(), upper)
            return np.asarray(np.minimum(generator.poisson(rates), upper), float)
        case Positive(lower=lower, upper=upper) as own:
            means = np.exp(known.effect / 2 * score + offset)
            means *= known.mean_of(own) / means.mean()
            return np.asarray(np.clip(means * generator.exponential(size=len(rows)), lower, upper))
    noise = np.sqrt(1 - known.explained) * generator.standard_normal(len(rows))
    response = design.response
    scale = 1.0 if isinstance(response, Continuous) and response.is_open else known.response_spread
    return _bounded(design, scale * (np.sqrt(known.explained) * score + noise))


def _labels(margins: Vector, share: float, generator: np.random.Generator) -> Vector:
    """Labels of log odds, shifted until the second label has its share."""
    return np.asarray(generator.random(len(margins)) < special.expit(margins + _shift(margins, share)), float)


def _shift(margins: Vector, share: float) -> float:
    return float(optimize.brentq(lambda at: float(special.expit(margins + at).mean()) - share, -200.0, 200.0))


def _bounded(design: Design, response: Vector) -> Vector:
    """Prepared numeric responses within their bounds, which are -1 and 1 where the response is centred."""
    own = design.response
    if not isinstance(own, Continuous) or own.is_open:
        return response
    return np.clip(response, (own.lower - own.center) / own.scale, (own.upper - own.center) / own.scale)


def _with_moments(design: Design, moments: Matrix, count: int, generator: np.random.Generator) -> Matrix:
    """Prepared rows with given means and covariance."""
    mean = moments[0, 1:-1] / moments[0, 0]
    covariance = moments[1:-1, 1:-1] / moments[0, 0] - np.outer(mean, mean)
    return _prepared(design, rows_with_moments(mean, covariance, count, generator))


def _prepared(design: Design, features: Matrix) -> Matrix:
    own = design.columns
    features = np.clip(features, [column.lower for column in own], [column.upper for column in own])
    prepared = (features - [column.center for column in own]) / [column.scale for column in own]
    lengths = np.maximum(np.linalg.norm(prepared, axis=1, keepdims=True), 1e-300)
    prepared *= np.minimum(1.0, design.feature_norm / lengths)
    return np.column_stack([prepared, np.ones(len(features))]) if design.intercept else prepared


def _responses_of_moments(design: Design, rows: Matrix, moments: Matrix, generator: np.random.Generator) -> Vector:
    """Responses along the direction of least squares, as strong as the moments say.

    One direction alone: rows have the moments only roughly, and solving for all coefficients would fit the difference.
    """
    own, count, total = design.response, len(design.columns), moments[0, 0]
    if isinstance(own, Classes):
        return _responses(design, rows, Assumptions(), generator)
    mean = moments[0, 1:-1] / total
    level = float(moments[0, -1] / total)
    covariance = moments[1:-1, 1:-1] / total - np.outer(mean, mean)
    cross = moments[1:-1, -1] / total - level * mean
    ridge = RIDGE * np.diag(np.maximum(np.diag(covariance), 1e-12))
    slopes = np.linalg.lstsq(covariance + ridge, cross, rcond=1e-9)[0]
    line = rows[:, :count] @ (slopes * [column.scale for column in design.columns])
    line = (line - line.mean()) / max(float(line.std()), 1e-12)
    explained = max(float(slopes @ cross), 0.0)
    strength = explained / np.sqrt(max(float(slopes @ covariance @ slopes), 1e-300))
    if isinstance(own, Continuous):
        left = max(float(moments[-1, -1] / total) - level**2 - explained, 1e-12)
        noise = np.sqrt(left) * generator.standard_normal(len(rows))
        return _bounded(design, (level + strength * line + noise - own.center) / own.scale)
    if isinstance(own, Count | Positive):
        scale = _strength(lambda margin: level * np.exp(margin) / np.exp(margin).mean(), line, strength)
        rates = np.exp(scale * line)
        if isinstance(own, Positive):
            drawn = level * rates / rates.mean() * generator.exponential(size=len(rows))
            return np.asarray(np.clip(drawn, own.lower, own.upper))
        return np.asarray(np.minimum(generator.poisson(level * rates / rates.mean()), own.upper), float)
    share = float(np.clip(level, 1e-6, 1 - 1e-6))
    scale = _strength(lambda margin: special.expit(margin + _shift(margin, share)), line, strength)
    margins = scale * line + _shift(scale * line, share)
    level_shares = moments[1:-1, -1] / total / np.maximum(mean, 1e-12)
    margins = _pure_levels(design, rows, margins, level_shares, mean, factors_of(mean, covariance))
    return np.asarray(generator.random(len(margins)) < special.expit(margins), float)


def _pure_levels(
    design: Design, rows: Matrix, margins: Vector, level_shares: Vector, mean: Vector, factors: list[list[int]]
) -> Vector:
    """Log odds in which levels whose labels are all alike, by the moments, have labels that are all alike.

    One line cannot have such levels, and a private fit loses most there: its coefficients would have to be infinite.
    """
    margins = margins.copy()
    for place in itertools.chain.from_iterable(factors):
        share, column = level_shares[place], design.columns[place]
        if min(share, 1 - share) < ALIKE and mean[place] >= RARE:
            inside = rows[:, place] * column.scale + column.center > 0.5
            margins[inside] += PURE_MARGIN if share > 0.5 else -PURE_MARGIN
    return margins


def _strength(mean: Callable[[Vector], Vector], line: Vector, covariance: float) -> float:
    """Multiple s of a standardised line for which m(s·line) has the given covariance with it."""

    def missing(scale: float) -> float:
        return float(np.mean(line * mean(scale * line))) - covariance

    return STRONGEST if missing(STRONGEST) < 0 else float(optimize.brentq(missing, 0.0, STRONGEST))
