"""The softmax loss log Σ_k e^(z_k) - z_y of K margins and a class y.

Its gradient in the margins is p - e_y, of norm at most √2; its curvature diag(p) - p p' has
eigenvalues in [0, 1/2].
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.losses.loss import Code, Loss

LOSS = Loss("softmax", Code.SOFTMAX, lipschitz=math.sqrt(2.0), smoothness=0.5)


def value(z: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the loss of margins (record, class) and their classes from 0."""
    return np.asarray(special.logsumexp(z, axis=1) - np.take_along_axis(z, y[:, None], 1)[:, 0])


def probability(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of all classes."""
    return np.asarray(special.softmax(z, axis=1))
