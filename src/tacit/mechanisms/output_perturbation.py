"""Minimisers with noise on them: output perturbation. Private: the store.

A ridge on every coordinate makes the objective strongly convex, so one record moves its minimiser by at most
clip·lipschitz / ridge. A computed point is near the minimiser beyond doubt (`certified_minimum`), and what it may be
off by is part of the sensitivity. Proof: proofs/mechanisms/output_perturbation.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tacit.contract.accuracy_of_minimum import minimum_accuracy, minimum_step
from tacit.contract.query import Answer, NoisyMinimum
from tacit.contract.sensitivity import GammaPrice, Price
from tacit.errors import SettingError
from tacit.mechanisms.certified_minimum import Objective, find_minimum
from tacit.noise.entropy import Entropy
from tacit.noise.gamma_direction import gamma_directions
from tacit.noise.gaussian import rounded_gaussian
from tacit.rows.storage.store import Store


def integer_minimum(query: NoisyMinimum, price: Price | GammaPrice, store: Store) -> tuple[list[int], Fraction]:
    """The minimiser on its lattice before noise, class after class, and the lattice's step, which is public. Private.

    One record more or less moves the integers by at most `price.bound`.
    """
    accuracy = minimum_accuracy(query, records=store.length, width=store.width)
    step = minimum_step(query, price, accuracy, width=store.width)
    return [round(Fraction(float(at)) / step) for at in _minimum(query, store)], step


def answer_noisy_minimum(
    query: NoisyMinimum, price: Price | GammaPrice, store: Store, entropy: Entropy | None
) -> Answer:
    """The noised minimiser; without entropy the minimiser alone (ε = ∞).

    Guarantee
    ---------
    - A record's gradient is at most clip·lipschitz, for any theta.
    - Integers differ by at most `price.bound` between zero-out neighbours, and by twice that if a record is replaced.
    - A Gaussian is the real one of scale 2^bits rounded to integers, drawn exactly.
    - Noise of Gamma norm has the scale 2^bits, over the reals; it is rounded to integers.
    """
    if store.layout.shifted or store.layout.unit_rows != 1:
        raise SettingError("A noisy minimum is for plain records, without offset or units.")
    if entropy is None:
        return Answer(_shaped(_minimum(query, store), query), 0.0)
    return noised_minimum(query, price, *integer_minimum(query, price, store), entropy)


def noised_minimum(
    query: NoisyMinimum, price: Price | GammaPrice, integers: list[int], step: Fraction, entropy: Entropy
) -> Answer:
    """The integers of a minimum with noise on them, in units of theta. Private: the integers."""
    size, scale = len(integers), 2.0**price.bits
    if isinstance(price, GammaPrice):
        drawn = [round(float(draw)) for draw in gamma_directions(1, size, scale, entropy)[0]]
        scale *= math.sqrt(size + 1)
    else:
        drawn = [int(draw) for draw in rounded_gaussian(size, price.bits, entropy)]
    noised = [float((entry + draw) * step) for entry, draw in zip(integers, drawn, strict=True)]
    return Answer(_shaped(np.array(noised), query), scale * float(step))


def _minimum(query: NoisyMinimum, store: Store) -> np.ndarray:
    accuracy = minimum_accuracy(query, records=store.length, width=store.width)
    still = [Fraction(0)] * (store.width * query.classes)
    return find_minimum(Objective(query, store, query.ridge, still, accuracy))


def _shaped(theta: np.ndarray, query: NoisyMinimum) -> np.ndarray:
    """One column a class, where there are several."""
    return theta if query.classes == 1 else np.ascontiguousarray(theta.reshape(query.classes, -1).T)
