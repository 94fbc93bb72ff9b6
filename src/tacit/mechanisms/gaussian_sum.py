"""An integer sum plus exact Gaussian noise: how every mechanism that is a sum is released.

Private: the sum. Public: its unit and the price. Proof: proofs/mechanisms/gaussian_sum.md.
"""

from __future__ import annotations

from tacit.contract.batches import BatchPrice
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.noise.entropy import Entropy
from tacit.noise.gaussian import rounded_gaussian
from tacit.rows.storage.tiles import Integers


def noised_sum(
    total: Integers, unit: float, price: Price | BatchPrice, entropy: Entropy | None, *, symmetric: bool = False
) -> Answer:
    """(total + noise) / unit with noise of scale 2^bits; without entropy total / unit (ε = ∞).

    To symmetric matrices, stacked along the first axes, the mean of the noise and its transpose is
    added: its standard deviation is `noise_scale` on the diagonal and `noise_scale` / √2 off it.

    Guarantee
    ---------
    - The noise is the real Gaussian of scale 2^bits rounded to integers, drawn exactly for all entries. The integers
      (`Store.total`) are the same for any block size, thread count or order of the records.
    """
    if entropy is None:
        return Answer(total / unit, 0.0)
    noise = rounded_gaussian(total.size, price.bits, entropy).reshape(total.shape)
    if symmetric:
        total, noise, unit = 2 * total, noise + noise.swapaxes(-1, -2), 2 * unit
        return Answer((total + noise) / unit, 2.0 ** (price.bits + 1) / unit)
    return Answer((total + noise) / unit, 2.0**price.bits / unit)
