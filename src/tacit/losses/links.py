"""Losses of two labels y in {0, 1} with another link than logit: probit and complementary log-log.

The loss is -log P(y | z), convex in the margin z, and follows its tangent beyond public ends of z. With P(1 | z) = p,

probit    p = Φ(z).          slope φ/Φ(-z) for y = 0, -φ/Φ(z) for y = 1;  curvature s(s - z) of the slope s
cloglog   p = 1 - exp(-m), m = e^z.  slope m for y = 0, -m/(e^m - 1) for y = 1;
          curvature m for y = 0, m(e^m (m - 1) + 1)/(e^m - 1)² for y = 1

`weighted` multiplies slope and curvature by ω(z) = min(1, steepest / s(z), top / e(z)), where s is the larger |slope|
of both labels and e = p'² / (p (1 - p)) the expected curvature; the curvature is then cut at `top`. ω is one number for
both labels of a margin, so that the mean of the slope stays zero wherever the model is right.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.losses.float_bits import exp_negative
from tacit.losses.loss import Code, Loss
from tacit.losses.mills_ratio import normal_tails, one_less_exp

Vector = NDArray[np.float64]

PROBIT_END = 8.0
"""Φ(-8) = 6e-16, as near to 0 as floats tell a probability from 1."""
CLOGLOG_ENDS = -30.0, 3.5
"""exp(-e^3.5) = 4e-15 and e^-30 = 9e-14, likewise."""
_HIGHEST = math.exp(CLOGLOG_ENDS[1])
_ROUNDING = 1.0 + 1e-9
# 1 / R(8), and the limit of s(s - z); the slope and the curvature of y = 0 at the end.
PROBIT = Loss("probit", Code.PROBIT, 8.1214, 1.0, (math.inf, math.inf), one_signed=True)
CLOGLOG = Loss("cloglog", Code.CLOGLOG, _HIGHEST * _ROUNDING, _HIGHEST * _ROUNDING, (math.inf, math.inf), True)


def weighted(loss: Loss, steepest: float, top: float) -> Loss:
    """A probit or cloglog loss with bounds on its slope and its curvature."""
    steepest, top = min(steepest, loss.lipschitz), min(top, loss.smoothness)
    return Loss(f"weighted-{loss.name}", loss.code, steepest * _ROUNDING, top * _ROUNDING, (steepest, top))


@numba.njit(nogil=True, error_model="numpy")
def probit_parts(z: float) -> tuple[float, float, float, float, float]:
    """Return the slopes and curvatures of y = 0 and of y = 1, and the expected curvature."""
    place = min(max(z, -PROBIT_END), PROBIT_END)
    _, one, zero = normal_tails(place)
    inside = 1.0 if -PROBIT_END <= z <= PROBIT_END else 0.0
    # φ² / (Φ(z) Φ(-z)), and s(s - z) with s = -one.
    return zero, -one, inside * zero * (zero - place), inside * one * (one + place), one * zero


@numba.njit(nogil=True, error_model="numpy")
def cloglog_parts(z: float) -> tuple[float, float, float, float, float]:
    """Return the slopes and curvatures of y = 0 and of y = 1, and the expected curvature."""
    place = min(max(z, CLOGLOG_ENDS[0]), CLOGLOG_ENDS[1])
    m = _HIGHEST * exp_negative(place - CLOGLOG_ENDS[1])
    chance = one_less_exp(m)
    none = exp_negative(-m)
    inside = 1.0 if CLOGLOG_ENDS[0] <= z <= CLOGLOG_ENDS[1] else 0.0
    slope = m * none / chance
    # m (m - chance) e^-m / chance² = slope (m / chance - 1), whose difference is m/2 near 0.
    bend = m / chance - 1.0 if m >= 1e-4 else m * (0.5 + m / 12.0)
    return m, -slope, inside * m, inside * slope * bend, m * slope


@numba.njit(nogil=True, error_model="numpy")
def slope_and_curvature(code: int, z: float, y: float, steepest: float, top: float) -> tuple[float, float, float]:
    """Return slope and curvature of a label, and the larger |slope| of both, all times ω."""
    zero, one, flat, bent, expected = probit_parts(z) if code == Code.PROBIT else cloglog_parts(z)
    larger = max(zero, -one)
    weight = min(1.0, steepest / larger, top / max(expected, 1e-300))
    slope, curvature = (one, bent) if y > 0.5 else (zero, flat)
    return weight * slope, min(weight * curvature, top), weight * larger


def unit(loss: Code) -> float:
    """Logits in one unit of the margin: with them slope and curvature at even labels are ½ and ¼, as the logistic's."""
    return {Code.PROBIT: 2 * math.sqrt(2 / math.pi), Code.CLOGLOG: 2 * math.log(2)}.get(loss, 1.0)


def probability(loss: Code, z: Vector) -> Vector:
    """P(1 | z), without overflow."""
    if loss is Code.PROBIT:
        return np.asarray(special.ndtr(z))
    return np.asarray(-np.expm1(-np.exp(np.minimum(z, 700.0))))


def margin_of(loss: Code, share: float) -> float:
    """The margin at which P(1 | z) is a share, of any loss of two labels."""
    match loss:
        case Code.PROBIT:
            return float(special.ndtri(share))
        case Code.CLOGLOG:
            return math.log(-math.log1p(-share))
    return math.log(share / (1 - share))


def level_parts(loss: Code, share: float) -> tuple[float, float]:
    """The larger |slope| of both labels and the expected curvature where P(1 | z) is a share."""
    if loss is Code.LOGISTIC:
        rare = min(share, 1 - share)
        return 1 - rare, rare * (1 - rare)
    parts = probit_parts if loss is Code.PROBIT else cloglog_parts
    zero, one, _, _, expected = parts(margin_of(loss, share))
    return max(zero, -one), expected


def expected_parts(loss: Loss, z: Vector) -> tuple[Vector, Vector]:
    """Expected curvature ω e and variance ω² e of the slope at margins, if the model is right."""
    if loss.code is Code.PROBIT:
        z = np.clip(z, -PROBIT_END, PROBIT_END)
        logs = special.log_ndtr(z), special.log_ndtr(-z)
        density = -0.5 * z * z - 0.5 * math.log(2 * math.pi)
        larger, expected = np.exp(density - np.minimum(*logs)), np.exp(2 * density - logs[0] - logs[1])
    else:
        m = np.exp(np.clip(z, *CLOGLOG_ENDS))
        one = m / np.expm1(m)
        larger, expected = np.maximum(m, one), m * one
    steepest, top = loss.shape[0], loss.shape[1]
    weight = np.minimum(1.0, np.minimum(steepest / larger, top / expected))
    return np.asarray(weight * expected), np.asarray(weight**2 * expected)
