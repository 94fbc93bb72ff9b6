"""Clipped gradient sums over a secret batch, with exact Gaussian noise. Private: the store, and the batch.

A batch is drawn for one answer and forgotten. Proof: proofs/mechanisms/batch_gradient.md.
"""

from __future__ import annotations

from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.query import Answer, BatchGradientSum
from tacit.errors import SettingError
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.mechanisms.kernels import enforceable
from tacit.noise.entropy import Entropy
from tacit.noise.record_sampling import Batch, PoissonBatch, repeated_batch, subset_batch
from tacit.rows.storage.batch_store import batch_of
from tacit.rows.storage.store import Store


def answer_batch_gradient(query: BatchGradientSum, price: BatchPrice, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sum of the clipped gradients of a fresh batch, divided by the rate of the batches.

    Guarantee
    ---------
    - One record more or less in a Poisson batch moves the integer sum by at most bound in L2 norm; one that is replaced
      in a batch of fixed size by at most 2·bound.
    - The divisor is public: it does not depend on the batch. Empty batches are answered like all others.
    - No two answers share a batch, nor the key it was drawn with.
    """
    if entropy is None:
        raise SettingError("Batches are for private fits: without noise all records are read.")
    batch = drawn(price.batches, store.length, entropy)
    unit = enforceable(price.bound, query.theta.size) / query.clip * float(price.batches.rate)
    total = integer_gradient_sum(query, price.bound, batch_of(store, batch.members))
    return noised_sum(total, unit, price, entropy)


def drawn(batches: Batches, length: int, entropy: Entropy) -> Batch:
    """Draw a batch of a table of `length` records or persons, which is private in a Poisson batch and public else."""
    if batches.sampling is Sampling.POISSON:
        return PoissonBatch(batches.numerator, entropy)
    if length != batches.population:
        raise SettingError("The batches were planned for another number of records.")
    draw = subset_batch if batches.sampling is Sampling.WITHOUT_REPLACEMENT else repeated_batch
    return draw(batches.sample, length, entropy)
