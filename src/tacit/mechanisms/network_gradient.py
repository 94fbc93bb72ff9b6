"""Clipped gradient sums of a torch module over a secret batch, with exact Gaussian noise. Private: examples and batch.

The members of a Poisson batch stand at random places of a public number of slots, which are computed in chunks of a
public shape. A blank record leaves its place empty, and no other example notices. Proof:
proofs/mechanisms/network_gradient.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.network_query import Network, NetworkGradient
from tacit.contract.query import Answer
from tacit.errors import SettingError
from tacit.mechanisms.clipped_sum import clip_factors, integer_sums, norms, require_plain_torch, unit_of
from tacit.mechanisms.example_gradients import example_parts, parameters_of
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.process_group import answered_together
from tacit.noise.entropy import Entropy
from tacit.noise.record_sampling import PoissonBatch, random_places
from tacit.rows.storage.example_rows import ExampleRows, PaddedBatch, Places


def answer_network_gradient(
    query: NetworkGradient, price: BatchPrice, rows: ExampleRows, entropy: Entropy | None, *, together: bool = False
) -> Answer:
    """Noised sum of the clipped gradients of a fresh batch, divided by the rate of the batches.

    Guarantee
    ---------
    - One record that is blanked moves the integer sum by at most `price.bound` in L2 norm.
    - The divisor is public. Empty batches are answered like all others.
    - No two answers share a batch, nor the key it was drawn with, nor noise.
    - With `together` the sum is over the records of all processes of a group, and noise is drawn once.
    """
    if entropy is None:
        raise SettingError("Networks are trained with noise here: without it use torch alone.")
    require_plain_torch()
    batch = rows.padded(*drawn_places(price.batches, rows.length, query.slots, entropy), query.slots)
    unit = unit_of(price.bound, query.clip, query.theta.size)
    total = integer_gradient(query, unit, batch)

    def noised(integers: NDArray[np.int64]) -> Answer:
        return noised_sum(integers, unit * float(price.batches.rate), price, entropy)

    return answered_together(total, noised) if together else noised(total)


def drawn_places(batches: Batches, length: int, slots: int, entropy: Entropy) -> tuple[Places, Places]:
    """Draw a Poisson batch of at most `slots` records, and a place for each.

    Guarantee: the members are a Poisson batch given that it has at most `slots` of them; given the others, a record is
    among them with probability at most the rate. The places of the others have the same law with it and without.
    """
    if batches.sampling is not Sampling.POISSON or slots < min(Fraction(length), batches.rate * length):
        raise SettingError("A network needs Poisson batches, and slots for those of expected size.")
    while True:
        members = PoissonBatch(batches.numerator, entropy).members(0, length)
        if len(members) <= slots:
            return members, random_places(len(members), slots, entropy)


def integer_gradient(query: NetworkGradient, unit: float, batch: PaddedBatch) -> NDArray[np.int64]:
    """Sum of the clipped gradients of a padded batch in steps of 1 / unit, chunk after chunk."""
    parameters = parameters_of(query.network.module)
    load_vector(query.network.module, query.theta)
    total = {name: torch.zeros(value.numel(), dtype=torch.int64) for name, value in parameters.items()}
    for first in range(0, query.slots, query.chunk):
        part = slice(first, first + query.chunk)
        # Copied to where torch aligns memory. One record more may move what numpy allocates, and so how it is rounded.
        tensors = (torch.from_numpy(array[part]).clone() for array in batch)
        for name, found in chunk_sums(query.network, query.clip, unit, *tensors).items():
            total[name] += found
    return torch.cat(list(total.values())).numpy()


def chunk_sums(
    network: Network, clip: float, unit: float, inputs: Tensor, labels: Tensor, filled: Tensor
) -> dict[str, Tensor]:
    """Integer sums of the clipped gradients of one chunk, by parameter."""
    parts = example_parts(network, inputs, labels)
    with torch.no_grad():
        width = sum(value.numel() for value in parameters_of(network.module).values())
        norm = norms(parts, width)
        return integer_sums(parts, clip_factors(norm, clip, filled), unit, norm)


def load_vector(module: nn.Module, theta: NDArray[np.float64]) -> None:
    """Set the trained parameters of a module from their vector, rounded to float32."""
    parameters = parameters_of(module)
    if theta.shape != (sum(value.numel() for value in parameters.values()),):
        raise SettingError("theta must have one entry for each trained parameter.")
    with np.errstate(over="ignore"):
        # Infinite weights leave no example a gradient.
        values = torch.from_numpy(theta.astype(np.float32))
    first = 0
    with torch.no_grad():
        for value in parameters.values():
            value.copy_(values[first : first + value.numel()].reshape(value.shape))
            first += value.numel()
