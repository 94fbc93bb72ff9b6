"""Public random numbers: the frequencies of random Fourier features.

They come from a public seed by splitmix64, an integer generator that is the same on every machine,
and protect nothing; the noise of a release never comes from here.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.rows.encoding.transforms import logarithm
from tacit.rows.storage.tiles import Floats

_STEP = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_WORD = 2**64


def frequencies_in_turns(seed: int, width: int, count: int, scale: float) -> Floats:
    """Frequencies w / (2π) with w ~ N(0, I / scale²), one a column of a (width, count) matrix.

    Guarantee
    ---------
    - The matrix depends on the arguments alone, to the bit, on every machine.
    """
    draws = normal_draws(seed, width * count).reshape(count, width).T
    return np.ascontiguousarray(draws / (2.0 * math.pi * scale))


def normal_draws(seed: int, count: int) -> Floats:
    """Standard normal numbers: the inverse of the normal distribution at uniform numbers."""
    # The middles of 2^53 equal intervals: never 0 or 1, and symmetric about 1/2.
    words = uniform_words(seed, count) >> np.uint64(11)
    return _inverse_normal((words.astype(np.float64) + 0.5) * 2.0**-53)


def uniform_words(seed: int, count: int) -> NDArray[np.uint64]:
    """The first words of splitmix64 (Steele, Lea & Flood, 2014) from this seed."""
    index = np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        word = np.uint64(seed % _WORD) + index * np.uint64(_STEP)
        for shift, factor in _MIX:
            word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(word ^ (word >> np.uint64(31)))


def _inverse_normal(p: Floats) -> Floats:
    """Wichura's algorithm AS 241 (Applied Statistics 37, 1988), relative error about 1e-16."""
    q = p - 0.5
    tail = np.minimum(p, 1.0 - p)
    r = np.sqrt(-logarithm(tail))
    middle = 0.180625 - q * q
    result = np.where(
        np.abs(q) <= 0.425,
        q * _ratio(middle, _CENTRE),
        np.copysign(np.where(r <= 5.0, _ratio(r - 1.6, _NEAR), _ratio(r - 5.0, _FAR)), q),
    )
    return np.asarray(result)


def _ratio(x: Floats, coefficients: tuple[tuple[float, ...], ...]) -> Floats:
    parts = []
    for side in coefficients:
        total = np.zeros_like(x)
        for coefficient in side:
            total = total * x + coefficient
        parts.append(total)
    return parts[0] / parts[1]


def _table(*sides: str) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, side.split())) for side in sides)


# Numerators and denominators, highest power first.
_CENTRE = _table(
    "2.5090809287301226727e3 3.3430575583588128105e4 6.7265770927008700853e4"
    " 4.5921953931549871457e4 1.3731693765509461125e4 1.9715909503065514427e3"
    " 1.3314166789178437745e2 3.3871328727963666080e0",
    "5.2264952788528545610e3 2.8729085735721942674e4 3.9307895800092710610e4"
    " 2.1213794301586595867e4 5.3941960214247511077e3 6.8718700749205790830e2"
    " 4.2313330701600911252e1 1.0",
)
_NEAR = _table(
    "7.74545014278341407640e-4 2.27238449892691845833e-2 2.41780725177450611770e-1"
    " 1.27045825245236838258e0 3.64784832476320460504e0 5.76949722146069140550e0"
    " 4.63033784615654529590e0 1.42343711074968357734e0",
    "1.05075007164441684324e-9 5.47593808499534494600e-4 1.51986665636164571966e-2"
    " 1.48103976427480074590e-1 6.89767334985100004550e-1 1.67638483018380384940e0"
    " 2.05319162663775882187e0 1.0",
)
_FAR = _table(
    "2.01033439929228813265e-7 2.71155556874348757815e-5 1.24266094738807843860e-3"
    " 2.65321895265761230930e-2 2.96560571828504891230e-1 1.78482653991729133580e0"
    " 5.46378491116411436990e0 6.65790464350110377720e0",
    "2.04426310338993978564e-15 1.42151175831644588870e-7 1.84631831751005468180e-5"
    " 7.86869131145613259100e-4 1.48753612908506148525e-2 1.36929880922735805310e-1"
    " 5.99832206555887937690e-1 1.0",
)
