"""Mills' ratio of the normal law and 1 - e^-m, compiled: fixed sequences of IEEE operations that call no library.

R(x) = (1 - Φ(x)) / φ(x) for x ≥ 0. With s = 4 / (4 + x) in (0, 1], R(x) / s is smooth; it is summed as a Chebyshev
series in 2s - 1, whose coefficients were computed with 50 digits and fall below 1e-18 after 26 terms.
"""

import math

import numba
import numpy as np

from tacit.losses.float_bits import exp_negative

_STRETCH = 4.0
_TERMS = (
    0.6081401071287601, 0.47106364364487086, 0.1392391622740954, 0.030403993036051142,
    0.004340177035931943, 0.00020090530018249141, -6.300873370135883e-05, -1.1845929817645294e-05,
    6.331472841497064e-07, 3.85101745997825e-07, -2.118740157515424e-09, -1.296334650273668e-08,
    -7.070323319150624e-11, 4.871641594722769e-10, -6.2298637420689176e-12, -1.9893121798622115e-11,
    1.1546035447888047e-12, 8.227140310560963e-13, -1.0913460109524325e-13, -3.0751779598081935e-14,
    8.103543395521696e-15, 7.633098896831416e-16, -5.045935068926838e-16, 1.792548875355647e-17,
    2.5423880995096355e-17, -4.39061057013339e-18,
)  # fmt: skip
_SERIES = np.array(_TERMS)
_ROOT = 1.0 / math.sqrt(2.0 * math.pi)
_SMALL = 0.25
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = (1.0 / math.factorial(k) for k in range(2, 13))


@numba.njit(nogil=True, error_model="numpy")
def mills_ratio(x: float) -> float:
    """Return (1 - Φ(x)) / φ(x) for x >= 0, by Clenshaw's sum."""
    s = _STRETCH / (_STRETCH + x)
    twice = 4.0 * s - 2.0
    last, before = 0.0, 0.0
    for k in range(_SERIES.shape[0] - 1, 0, -1):
        last, before = _SERIES[k] + twice * last - before, last
    return float(s * (_SERIES[0] + 0.5 * twice * last - before))


@numba.njit(nogil=True, error_model="numpy")
def normal_tails(z: float) -> tuple[float, float, float]:
    """Return φ(z), φ(z) / Φ(z) and φ(z) / Φ(-z)."""
    ratio = mills_ratio(abs(z))
    density = _ROOT * exp_negative(-0.5 * z * z)
    small, large = density / (1.0 - density * ratio), 1.0 / ratio
    return density, (small if z >= 0.0 else large), (large if z >= 0.0 else small)


@numba.njit(nogil=True, error_model="numpy")
def one_less_exp(m: float) -> float:
    """Return 1 - e^-m for m >= 0: by Taylor's series below 1/4, where the difference would cancel."""
    if m >= _SMALL:
        return 1.0 - exp_negative(-m)
    series = _C7 - m * (_C8 - m * (_C9 - m * (_C10 - m * (_C11 - m * _C12))))
    series = _C2 - m * (_C3 - m * (_C4 - m * (_C5 - m * (_C6 - m * series))))
    return m * (1.0 - m * series)
