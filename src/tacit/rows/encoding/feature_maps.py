"""Feature maps of rows: mapped inputs become features, one record at a time.

Private: the rows and their features. Public: the map and the bounds of its inputs.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from tacit.compiling import compiled
from tacit.design.design import Design
from tacit.design.feature_map import Custom, FeatureMap, Polynomial, RandomFourier
from tacit.errors import SettingError
from tacit.rows.encoding.fourier_frequencies import frequencies_in_turns
from tacit.rows.storage.tiles import Flags, Floats, Integers

_LARGEST = 1e100
_TWO_PI = 2.0 * math.pi
# Taylor coefficients of sine and cosine: for |x| <= π/4 the first terms left out are below 2^-57.
_SIN = tuple((-1.0) ** (k // 2) / math.factorial(k) for k in range(17, 1, -2))
_COS = tuple((-1.0) ** (k // 2) / math.factorial(k) for k in range(16, 2, -2))


@dataclass(frozen=True)
class FeatureMapper:
    """A feature map and the public numbers of its inputs, as the kernels take them.

    Guarantee
    ---------
    - A record's features depend on that record and the map only, bit by bit.
    - The norm of its features is at most the map's norm bound, up to rounding.
    - A function of the user's sees one row at a time, and what it raises is not passed on.
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
                table = _steps(feature_map.monomials(width)).astype(np.float64)
            case RandomFourier():
                table = frequencies_in_turns(
                    feature_map.seed, width, feature_map.count, feature_map.scale
                )
            case Custom(function=function) if function is not None:
                table = np.empty((0, 0))
            case _:
                raise SettingError(
                    "The function of a custom feature map is not stored with a fit; use the "
                    "estimator that was fitted."
                )
        norm = math.inf if design.input_norm is None else design.input_norm
        return cls(feature_map, np.ascontiguousarray(bounds), norm, table)

    def features(self, numbers: Floats, valid: Flags) -> Floats:
        """Features of records of finite numbers; a record that has none is marked invalid."""
        out = np.zeros((len(numbers), self.feature_map.outputs(numbers.shape[1])))
        if isinstance(self.feature_map, Custom):
            # A warning of the function's own would tell that some row is special.
            with self.turnstile, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _apply(self.feature_map, np.clip(numbers, *self.bounds[:2]), valid, out)
            return out
        rows = np.empty(numbers.shape, dtype=np.float64)
        _map_inputs(np.ascontiguousarray(numbers), valid, self.bounds, self.input_norm, rows)
        if isinstance(self.feature_map, Polynomial):
            _multiply(rows, self.table.astype(np.int64), out)
        else:
            _turn(rows, self.table, out)
        return out


def _steps(monomials: tuple[tuple[int, ...], ...]) -> Integers:
    """For each product, the earlier product (or -1) and the column that it is made of."""
    place = {monomial: index for index, monomial in enumerate(monomials)}
    return np.array(
        [(place.get(monomial[:-1], -1), monomial[-1]) for monomial in monomials], dtype=np.int64
    )


def _apply(feature_map: Custom, rows: Floats, valid: Flags, out: Floats) -> None:
    """Call the user's function on one row after the other, each a copy of its own."""
    function = feature_map.function
    if function is None:
        raise SettingError("The function of a custom feature map is not stored with a fit.")
    for index in np.flatnonzero(valid).tolist():
        try:
            # A warning of numpy's would tell that some row is special.
            with np.errstate(all="ignore"):
                result = np.asarray(function(rows[index].copy()), dtype=np.float64)
        except Exception:  # noqa: BLE001 (whatever it raises could quote the row)
            valid[index] = False
            continue
        if result.shape != out[index].shape or not np.isfinite(result).all():
            valid[index] = False
            continue
        out[index] = result
    _shrink(out, feature_map.row_norm)


@compiled
def _shrink(rows: Floats, norm: float) -> None:
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
            before = steps[m, 0]
            factor = rows[i, steps[m, 1]]
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
            rest = (turns[k] - 0.25 * quarter) * _TWO_PI
            square = rest * rest
            sine, cosine = 0.0, 0.0
            for coefficient in _SIN:
                sine = (sine + coefficient) * square
            for coefficient in _COS:
                cosine = (cosine + coefficient) * square
            sine = rest + rest * sine
            cosine = (1.0 - 0.5 * square) + square * cosine
            step = quarter - 4.0 * math.floor(0.25 * quarter)
            if step == 1.0:
                sine, cosine = cosine, -sine
            elif step == 2.0:
                sine, cosine = -sine, -cosine
            elif step == 3.0:
                sine, cosine = -cosine, sine
            out[i, k] = share * cosine
            out[i, count + k] = share * sine
