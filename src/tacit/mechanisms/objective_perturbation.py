"""Minimisers of an objective with linear noise. Private: the store.

The noise in the objective hides a record in the exact minimiser. A computed point is only near it
(`certified_minimum`), and a second noise hides the difference. Proof: proofs/mechanisms/objective_perturbation.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tacit.contract.accuracy_of_minimum import FARTHEST, Accuracy, pure_cover_scale
from tacit.contract.query import Answer, PerturbedMinimum
from tacit.contract.sensitivity import PerturbedPrice, PurePrice, is_price_of, ridge_of
from tacit.errors import SettingError
from tacit.mechanisms.certified_minimum import Objective, find_minimum
from tacit.mechanisms.newton_direction import Exact
from tacit.noise.entropy import Entropy
from tacit.noise.gamma_direction import gamma_directions
from tacit.noise.gaussian import rounded_gaussian
from tacit.noise.laplace import discrete_laplace
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import Floats, Integers


def answer_perturbed_minimum(
    query: PerturbedMinimum, price: PerturbedPrice, store: Store, entropy: Entropy | None, *, even: bool = True
) -> Answer:
    """The minimiser, with noise; `noise_scale` is that of the linear noise in the objective. `even` as in `Objective`.

    Guarantee
    ---------
    - A record's gradient is at most clip·lipschitz and its curvature at most ratio·ridge, for any theta.
    - The point found is within `Accuracy.drift` / clip of the exact minimiser, on any table.
    - For one exact minimiser the released integers differ by at most `drift.bound` before noise.
    - Both noises are rounded real Gaussians of scale 2^bits, drawn exactly. At δ = 0 the linear noise has a Gamma norm,
      over the reals, and the other is discrete Laplace, drawn exactly.
    """
    if store.layout.shifted or store.layout.unit_rows != 1:
        raise SettingError("The objective is perturbed for plain records, without offset or units.")
    if not is_price_of(price, query.loss, query.classes):
        raise SettingError(f"The price is not that of a perturbed minimum of the {query.loss.name} loss.")
    size = store.width * query.classes
    accuracy = Accuracy.of(price, query.loss, records=store.length, width=store.width)
    unit = Fraction(query.clip) * Fraction(query.loss.lipschitz)
    linear = [Fraction(0)] * size if entropy is None else _linear_noise(price, size, unit, entropy)
    ridge = ridge_of(price, query.clip, query.loss)
    theta = find_minimum(Objective(query, store, ridge, linear, accuracy, even))
    if entropy is None:
        return Answer(_shaped(theta, query), 0.0)
    step = Fraction(accuracy.step(price, size)) / Fraction(query.clip)
    released = [
        float((round(Fraction(float(at)) / step) + int(draw)) * step)
        for at, draw in zip(theta, _cover_noise(price, size, entropy), strict=True)
    ]
    # A coordinate of noise with density ∝ exp(-‖b‖ / scale) has the variance (size + 1)·scale².
    factor = math.sqrt(size + 1) if isinstance(price, PurePrice) else 1.0
    scale = query.clip * query.loss.lipschitz * 2.0**price.bits / price.bound
    return Answer(_shaped(np.array(released), query), scale * factor)


def _linear_noise(price: PerturbedPrice, size: int, unit: Fraction, entropy: Entropy) -> Exact:
    """Noise b of the objective; `unit` is the bound on a record's gradient."""
    if isinstance(price, PurePrice):
        gamma = gamma_directions(1, size, 2.0**price.bits, entropy)[0]
        return [Fraction(float(draw)) * unit / price.bound for draw in gamma]
    farthest = FARTHEST << price.bits
    noise = rounded_gaussian(size, price.bits, entropy)
    return [max(-farthest, min(int(draw), farthest)) * unit / price.bound for draw in noise]


def _cover_noise(price: PerturbedPrice, size: int, entropy: Entropy) -> Integers:
    """Noise that hides how the minimum was computed."""
    if isinstance(price, PurePrice):
        return discrete_laplace(size, pure_cover_scale(price, size), entropy)
    return rounded_gaussian(size, price.drift.bits, entropy)


def _shaped(theta: Floats, query: PerturbedMinimum) -> Floats:
    """One column a class, where there are several."""
    return theta if query.classes == 1 else np.ascontiguousarray(theta.reshape(query.classes, -1).T)
