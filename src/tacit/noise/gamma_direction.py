"""Vectors with density proportional to exp(-‖b‖/scale): a Gamma norm and a uniform direction, in floats.

The law is that of real numbers. Floats only come near it, so a release with this noise is certified with the
arithmetic "real-number proof". Proof: `proofs/noise/gamma_direction.md`.
"""

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.noise.entropy import Entropy
from tacit.noise.gaussian import MAXIMUM_BITS, rounded_gaussian
from tacit.validate import whole

WORD_BITS = 64
VALUES_AT_ONCE = 1 << 20


def gamma_directions(count: int, width: int, scale: float, entropy: Entropy) -> NDArray[np.float64]:
    r"""Independent vectors of `width` floats with density ∝ exp(-‖b‖/scale), one a row.

    .. math:: \|b\| \sim \mathrm{Gamma}(width, scale), \quad b/\|b\| \text{ uniform on the sphere}

    Guarantee: over the reals, adding b to a vector of L2 sensitivity Δ is Δ/scale-differentially private. The norm is
    the sum of `width` exponentials, each from its own random word; the direction is that of exact Gaussians. The noise
    is private if and only if `entropy` is secure.
    """
    if not 0.0 < scale < np.inf:
        raise SettingError(f"scale is {scale!r}; expected a positive finite number")
    shape = whole("count", count, 0), whole("width", width, 1)
    drawn = np.empty(shape)
    rows = max(1, VALUES_AT_ONCE // width)
    for start in range(0, count, rows):
        part = drawn[start : start + rows]
        # A half is added: no uniform is 0 or, rounded, above 1.
        uniforms = (entropy.words(part.size).astype(np.float64) + 0.5) * 2.0**-WORD_BITS
        norms = -np.log(uniforms).reshape(part.shape).sum(axis=1) * scale
        part[:] = rounded_gaussian(part.size, MAXIMUM_BITS, entropy).reshape(part.shape)
        part *= (norms / np.linalg.norm(part, axis=1))[:, np.newaxis]
    return drawn
