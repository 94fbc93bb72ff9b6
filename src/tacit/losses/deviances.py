"""Unit deviances: twice a record's log-likelihood below that of a model that fits it exactly.

With the mean m of the linear predictor z, kept within the ends of the loss, and a response y,

logistic, probit, cloglog    -2 log P(y | z)
gaussian (squared)           (y - z)², in prepared units
poisson                      2 (y log(y / m) - y + m)
gamma                        2 (y / m - 1 - log(y / m))
negative binomial            2 (y log(y / m) - (y + 1/α) log((1 + α y) / (1 + α m)))

They are never negative. Fixed sequences of IEEE operations that call no library, as those of `losses.float_bits`.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.float_bits import bits_to_float, exp_negative, float_to_bits, log_one_plus
from tacit.losses.links import CLOGLOG_ENDS, PROBIT_END
from tacit.losses.log_link import HIGHEST, LOWEST, B
from tacit.losses.loss import Code
from tacit.losses.mills_ratio import mills_ratio, one_less_exp

Vector = NDArray[np.float64]

KNOWN = frozenset(
    {Code.LOGISTIC, Code.PROBIT, Code.CLOGLOG, Code.SQUARED, Code.POISSON, Code.GAMMA, Code.NEGATIVE_BINOMIAL}
)
"""Losses that are half a deviance."""
_LOG_TWO = math.log(2.0)
_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
_ROOT_TWO = math.sqrt(2.0)
_MANTISSA, _ONE = (1 << 52) - 1, 1023 << 52
_CLOGLOG_TOP = math.exp(CLOGLOG_ENDS[1])


@numba.njit(nogil=True, error_model="numpy")
def logarithm(x: float) -> float:
    """Return log x of a positive normal float: by its exponent, and 2 artanh((f - 1) / (f + 1)) of its mantissa f."""
    bits = float_to_bits(x)
    exponent = float((bits >> 52) - 1023)
    f = bits_to_float((bits & _MANTISSA) | _ONE)
    if f > _ROOT_TWO:
        f, exponent = 0.5 * f, exponent + 1.0
    s = (f - 1.0) / (f + 1.0)
    square = s * s
    series = 1.0 / 23.0
    for odd in range(21, 0, -2):
        series = 1.0 / odd + square * series
    return float(exponent * _LOG_TWO + 2.0 * s * series)


@numba.njit(nogil=True, error_model="numpy")
def label_deviance(code: int, z: float, y: float) -> float:
    """Return -2 log P(y | z) of a label."""
    if code == Code.LOGISTIC:
        return float(2.0 * (max(z, 0.0) + log_one_plus(exp_negative(-abs(z))) - y * z))
    if code == Code.PROBIT:
        # The margin of the label's own side: P = Φ(own).
        own = min(max(z if y > 0.5 else -z, -PROBIT_END), PROBIT_END)
        ratio = mills_ratio(abs(own))
        tail = -0.5 * own * own - _HALF_LOG_TAU
        if own < 0.0:
            return float(-2.0 * (tail + logarithm(ratio)))
        return float(-2.0 * logarithm(1.0 - ratio * exp_negative(tail)))
    place = min(max(z, CLOGLOG_ENDS[0]), CLOGLOG_ENDS[1])
    m = _CLOGLOG_TOP * exp_negative(place - CLOGLOG_ENDS[1])
    return float(-2.0 * logarithm(one_less_exp(m)) if y > 0.5 else 2.0 * m)


@numba.njit(nogil=True, error_model="numpy")
def mean_deviance(code: int, z: float, y: float, lowest: float, highest: float, alpha: float) -> float:
    """Return the unit deviance of a positive mean with log link, whose predictor is kept within its ends."""
    place = min(max(z, lowest), highest)
    if code == Code.GAMMA:
        if not y > 0.0:
            return math.inf
        ratio = y * exp_negative(-abs(place)) if place >= 0.0 else y / exp_negative(place)
        return float(2.0 * (ratio - 1.0 - (logarithm(y) - place)))
    m = exp_negative(place) if place <= 0.0 else 1.0 / exp_negative(-place)
    excess = y * (logarithm(y) - place) if y > 0.0 else 0.0
    if code == Code.POISSON:
        return float(2.0 * (excess - y + m))
    return float(2.0 * (excess - (y + 1.0 / alpha) * (logarithm(1.0 + alpha * y) - logarithm(1.0 + alpha * m))))


def numbers_of(code: Code, shape: tuple[float, ...]) -> tuple[float, float, float]:
    """Ends of the predictor and α of a loss with log link, of other losses the ends of a prepared response and 0."""
    match code:
        case Code.POISSON:
            return -700.0, shape[0], 0.0
        case Code.GAMMA | Code.NEGATIVE_BINOMIAL:
            return max(shape[LOWEST], -700.0), shape[HIGHEST], shape[B]
    return -1.0, 1.0, 0.0


@numba.njit(nogil=True, error_model="numpy")
def unit_deviance(code: int, z: float, y: float, numbers: tuple[float, float, float]) -> float:
    """Return the unit deviance of a loss of `KNOWN`; predictions of a prepared response are kept within its ends."""
    lowest, highest, alpha = numbers
    if code == Code.SQUARED:
        gap = y - min(max(z, lowest), highest)
        return float(gap * gap)
    if code == Code.LOGISTIC or code == Code.PROBIT or code == Code.CLOGLOG:  # noqa: PLR1714 - numba compares numbers
        return label_deviance(code, z, y)
    return mean_deviance(code, z, y, lowest, highest, alpha)
