"""Transforms of cells and feature maps of rows, as fixed sequences of IEEE operations.

Private: cells, rows and features. Public: knots, degrees, the map, its inputs' bounds, its frequencies (from a public
seed by splitmix64). numpy's functions, but the root, may differ in the last bit between vector units; these do not.
"""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design
from tacit.design.feature_map import Custom, FeatureMap, Polynomial, RandomFourier
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.rows.storage.tiles import Flags, Floats, Integers

# log 2 in two summands; the first has 32 trailing zero bits, so an exponent times it is exact.
_LOG_TWO_HIGH = 0.6931471803691238
_LOG_TWO_LOW = 1.9082149292705877e-10
# log m = 2 (s + s³/3 + s⁵/5 + …), s = (m - 1) / (m + 1), s² <= 0.02944 for m in [√½, √2]: the
# first term left out, 2 s²³/23, is below 2^-60 of the sum.
_LOG_SERIES = tuple(1.0 / k for k in range(21, 1, -2))
# Taylor polynomial of degree 13: for |r| <= log(2)/2 its remainder is below 2^-57.
_EXP_SERIES = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))
_LARGEST = 1e100
# Taylor coefficients of sine and cosine: for |x| <= π/4 the first terms left out are below 2^-57.
_SIN = tuple((-1.0) ** (k // 2) / math.factorial(k) for k in range(17, 1, -2))
_COS = tuple((-1.0) ** (k // 2) / math.factorial(k) for k in range(16, 2, -2))
STEP = np.uint64(0x9E3779B97F4A7C15)
"""Between states of splitmix64."""


def logarithm(cells: Floats) -> Floats:
    """Natural logarithm of positive finite numbers.

    Guarantee: a number has the same logarithm wherever it stands, to the bit; its error is below 2 ulp.
    """
    mantissa, exponent = np.frexp(cells)
    small = mantissa < math.sqrt(0.5)
    mantissa = np.where(small, 2.0 * mantissa, mantissa)
    whole = (exponent - small).astype(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    tail = np.zeros_like(s)
    for coefficient in _LOG_SERIES:
        tail = (tail + coefficient) * square
    twice = 2.0 * s
    return np.asarray(whole * _LOG_TWO_HIGH + (twice + (twice * tail + whole * _LOG_TWO_LOW)))


def power(cells: Floats, exponent: int) -> Floats:
    """Whole power of at least 1, by multiplying from the left."""
    return functools.reduce(np.multiply, [cells] * exponent)


def transform(function: str, cells: Floats) -> Floats:
    """The function of that name of cells that lie in its domain.

    Guarantee: a number has the same image wherever it stands, to the bit; the error is below 4 units in the last place.
    """
    return _FUNCTIONS[function](cells)


def _log1p(cells: Floats) -> Floats:
    # log(u)·x/(u - 1) undoes the rounding of u = 1 + x (Kahan).
    near = 1.0 + cells
    rounded = near - 1.0
    tiny = rounded == 0.0
    return np.where(tiny, cells, logarithm(near) * (cells / np.where(tiny, 1.0, rounded)))


def _exp(cells: Floats) -> Floats:
    # Far below, where the result is zero anyway, the exponent still has to be an integer.
    exponent = np.clip(np.rint(cells * 1.4426950408889634), -2000.0, 2000.0)
    rest = np.clip((cells - exponent * _LOG_TWO_HIGH) - exponent * _LOG_TWO_LOW, -1.0, 1.0)
    series = np.zeros_like(rest)
    for coefficient in _EXP_SERIES:
        series = (series + coefficient) * rest
    return np.ldexp(1.0 + (rest + rest * series), exponent.astype(np.int32))


_FUNCTIONS: Mapping[str, Callable[[Floats], Floats]] = {"log": logarithm, "log1p": _log1p, "sqrt": np.sqrt, "exp": _exp}


def spline_basis(cells: Floats, knots: Sequence[float], degree: int) -> Floats:
    """All functions of a B-spline basis at cells within the first and the last knot.

    De Boor, "A practical guide to splines", 1978, chapter X. scipy's `BSpline` promises no bits.

    Guarantee: every value lies in [0, 1], and the values of a record sum to 1 up to rounding. A record's values depend
    on its cell, the knots and the degree only, bit by bit.
    """
    whole = np.pad(np.array(knots, dtype=np.float64), degree, mode="edge")
    basis = np.zeros((len(cells), len(knots) - 1 + degree), dtype=np.float64)
    _fill_basis(np.ascontiguousarray(cells), whole, degree, basis)
    return basis


@compiled
def _fill_basis(cells: Floats, knots: Floats, degree: int, basis: Floats) -> None:
    last = len(knots) - degree - 2
    values = np.empty(degree + 1)
    for i in range(len(cells)):
        x = min(max(cells[i], knots[degree]), knots[last + 1])
        span = degree
        while span < last and x >= knots[span + 1]:
            span += 1
        values[0] = 1.0
        for order in range(1, degree + 1):
            carried = 0.0
            for k in range(order):
                right, left = knots[span + k + 1], knots[span + 1 + k - order]
                share = values[k] / (right - left)
                values[k] = carried + (right - x) * share
                carried = (x - left) * share
            values[order] = carried
        for k in range(degree + 1):
            basis[i, span - degree + k] = min(max(values[k], 0.0), 1.0)


@dataclass(frozen=True)
class FeatureMapper:
    """A feature map and the public numbers of its inputs, as the kernels take them.

    Guarantee: a record's features depend on that record and the map only, bit by bit. Their norm is at most the map's
    bound, up to rounding. A function of the user's sees one row at a time, and what it raises is not passed on.
    """

    feature_map: FeatureMap
    bounds: Floats
    input_norm: float
    table: Floats
    """Of random Fourier features the frequencies in turns; of a polynomial the steps."""
    turnstile: Lock = field(default_factory=Lock, repr=False, compare=False)
    """Blocks are read by several threads; a user's function is called by one at a time."""

    @classmethod
    def of(cls, design: Design) -> FeatureMapper:
        """Numbers of a design with a feature map; a stored custom map has lost its function."""
        feature_map = design.feature_map
        bounds = np.array([(c.lower, c.upper, c.center, c.scale) for c in design.inputs]).T
        width = len(design.inputs)
        match feature_map:
            case Polynomial():
                monomials = feature_map.monomials(width)
                place = {monomial: index for index, monomial in enumerate(monomials)}
                # For each product, the earlier product (or -1) and the column that it is made of.
                table = np.array([(place.get(m[:-1], -1), m[-1]) for m in monomials], dtype=np.float64)
            case RandomFourier():
                table = frequencies_in_turns(feature_map.seed, width, feature_map.count, feature_map.scale)
            case Custom(function=function) if function is not None:
                table = np.empty((0, 0))
            case _:
                lost = "is not stored with a fit; use the estimator that was fitted"
                raise SettingError(f"The function of a custom feature map {lost}.")
        norm = math.inf if design.input_norm is None else design.input_norm
        return cls(feature_map, np.ascontiguousarray(bounds), norm, table)

    def features(self, numbers: Floats, valid: Flags) -> Floats:
        """Features of records of finite numbers; a record that has none is marked invalid."""
        out = np.zeros((len(numbers), self.feature_map.outputs(numbers.shape[1])))
        if isinstance(self.feature_map, Custom):
            function: Any = self.feature_map.function
            clipped = np.clip(numbers, *self.bounds[:2])
            # A warning of the function's own would tell that some row is special.
            with self.turnstile, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for index in np.flatnonzero(valid).tolist():
                    result = np.empty(())
                    # What it raises could quote the row, and a warning of numpy's would tell of it.
                    with contextlib.suppress(Exception), np.errstate(all="ignore"):
                        result = np.asarray(function(clipped[index].copy()), dtype=np.float64)
                    valid[index] = result.shape == out[index].shape and np.isfinite(result).all()
                    if valid[index]:
                        out[index] = result
            shrink_rows(out, self.feature_map.row_norm)
            return out
        rows = np.empty(numbers.shape, dtype=np.float64)
        _map_inputs(np.ascontiguousarray(numbers), valid, self.bounds, self.input_norm, rows)
        if isinstance(self.feature_map, Polynomial):
            _multiply(rows, self.table.astype(np.int64), out)
        else:
            _turn(rows, self.table, out)
        return out


@compiled
def shrink_rows(rows: Floats, norm: float) -> None:
    """Shrink rows in place to a norm where they are longer, each sum column after column; NaN stays NaN."""
    for i in range(len(rows)):
        largest = 0.0
        for j in range(rows.shape[1]):
            largest = max(largest, abs(rows[i, j]))
        if largest > 0.0:
            # Divided by the largest entry, squares neither overflow nor vanish together.
            square = 0.0
            for j in range(rows.shape[1]):
                square += (rows[i, j] / largest) * (rows[i, j] / largest)
            length = math.sqrt(square)
            if length > norm / largest:
                for j in range(rows.shape[1]):
                    rows[i, j] = rows[i, j] / largest / length * norm


@compiled
def _map_inputs(numbers: Floats, valid: Flags, bounds: Floats, norm: float, rows: Floats) -> None:
    count = numbers.shape[1]
    for i in range(len(numbers)):
        square = 0.0
        for j in range(count):
            value = min(max(numbers[i, j], bounds[0, j]), bounds[1, j])
            value = (value - bounds[2, j]) / bounds[3, j]
            # Without bounds a cell can be anything; its square must be finite.
            value = min(max(value, -_LARGEST), _LARGEST) if valid[i] else 0.0
            rows[i, j] = value
            square += value * value
        length = math.sqrt(square)
        # A row on the bound may exceed it by rounding, and is left alone.
        if length > norm * (1.0 + 2.0**-45):
            for j in range(count):
                rows[i, j] = rows[i, j] * (norm / length)


@compiled
def _multiply(rows: Floats, steps: Integers, out: Floats) -> None:
    for i in range(len(rows)):
        for m in range(len(steps)):
            before, factor = steps[m, 0], rows[i, steps[m, 1]]
            out[i, m] = factor if before < 0 else out[i, before] * factor


@compiled
def _turn(rows: Floats, frequencies: Floats, out: Floats) -> None:
    """Cosines, then sines, of all frequencies; column by column, so that sums have one order."""
    width, count = frequencies.shape
    share = 1.0 / math.sqrt(count)
    turns = np.empty(count)
    for i in range(len(rows)):
        turns[:] = 0.0
        for j in range(width):
            for k in range(count):
                turns[k] += rows[i, j] * frequencies[j, k]
        for k in range(count):
            # A quarter turn more or less is exact: turns are counted, not radians.
            quarter = math.floor(4.0 * turns[k] + 0.5)
            rest = (turns[k] - 0.25 * quarter) * (2.0 * math.pi)
            square = rest * rest
            sine, cosine = 0.0, 0.0
            for coefficient in _SIN:
                sine = (sine + coefficient) * square
            for coefficient in _COS:
                cosine = (cosine + coefficient) * square
            sine = rest + rest * sine
            cosine = (1.0 - 0.5 * square) + square * cosine
            step = quarter - 4.0 * math.floor(0.25 * quarter)
            if step % 2.0 == 1.0:
                sine, cosine = cosine, -sine
            if step >= 2.0:
                sine, cosine = -sine, -cosine
            out[i, k] = share * cosine
            out[i, count + k] = share * sine


def frequencies_in_turns(seed: int, width: int, count: int, scale: float) -> Floats:
    """Frequencies w / (2π) with w ~ N(0, I / scale²), one a column of a (width, count) matrix.

    Guarantee: the matrix depends on the arguments alone, to the bit, on every machine.
    """
    draws = normal_draws(seed, width * count).reshape(count, width).T
    return np.ascontiguousarray(draws / (2.0 * math.pi * scale))


def normal_draws(seed: int, count: int) -> Floats:
    """Standard normal numbers, by the inverse of their distribution."""
    # The middles of 2^53 equal intervals: never 0 or 1, and symmetric about 1/2.
    words = uniform_words(seed, count) >> np.uint64(11)
    return _inverse_normal((words.astype(np.float64) + 0.5) * 2.0**-53)


def uniform_words(seed: int, count: int) -> NDArray[np.uint64]:
    """The first words of splitmix64 from this seed."""
    return np.asarray(splitmix64(np.uint64(seed % 2**64) + np.arange(count, dtype=np.uint64) * STEP))


def splitmix64(state: Any) -> Any:
    """Steele, Lea & Flood (2014): a step of the sequence and its finaliser, also for compiled code."""
    state = state + STEP
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def _inverse_normal(p: Floats) -> Floats:
    """Wichura's algorithm AS 241 (Applied Statistics 37, 1988), relative error about 1e-16."""
    q = p - 0.5
    tail = np.minimum(p, 1.0 - p)
    r = np.sqrt(-logarithm(tail))
    middle = 0.180625 - q * q
    tails = np.copysign(np.where(r <= 5.0, _ratio(r - 1.6, _NEAR), _ratio(r - 5.0, _FAR)), q)
    return np.where(np.abs(q) <= 0.425, q * _ratio(middle, _CENTRE), tails)


def _ratio(x: Floats, coefficients: Floats) -> Floats:
    return np.polyval(coefficients[0], x) / np.polyval(coefficients[1], x)


# Numerators and denominators in the middle, near it and far from it, highest power first.
_COEFFICIENTS = """
    2.5090809287301226727e3 3.3430575583588128105e4 6.7265770927008700853e4 4.5921953931549871457e4
    1.3731693765509461125e4 1.9715909503065514427e3 1.3314166789178437745e2 3.3871328727963666080e0
    5.2264952788528545610e3 2.8729085735721942674e4 3.9307895800092710610e4 2.1213794301586595867e4
    5.3941960214247511077e3 6.8718700749205790830e2 4.2313330701600911252e1 1.0
    7.74545014278341407640e-4 2.27238449892691845833e-2 2.41780725177450611770e-1 1.27045825245236838258e0
    3.64784832476320460504e0 5.76949722146069140550e0 4.63033784615654529590e0 1.42343711074968357734e0
    1.05075007164441684324e-9 5.47593808499534494600e-4 1.51986665636164571966e-2 1.48103976427480074590e-1
    6.89767334985100004550e-1 1.67638483018380384940e0 2.05319162663775882187e0 1.0
    2.01033439929228813265e-7 2.71155556874348757815e-5 1.24266094738807843860e-3 2.65321895265761230930e-2
    2.96560571828504891230e-1 1.78482653991729133580e0 5.46378491116411436990e0 6.65790464350110377720e0
    2.04426310338993978564e-15 1.42151175831644588870e-7 1.84631831751005468180e-5 7.86869131145613259100e-4
    1.48753612908506148525e-2 1.36929880922735805310e-1 5.99832206555887937690e-1 1.0
"""
_CENTRE, _NEAR, _FAR = np.array([*map(float, _COEFFICIENTS.split())]).reshape(3, 2, 8)
