"""Sums over several processes, each with records of its own. Private: the integer sums, until noise is on them.

The processes are one party: they exchange exact sums among themselves. Proof: proofs/mechanisms/process_group.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import distributed

from tacit.contract.query import Answer

Integers = NDArray[np.int64]


def is_joined() -> bool:
    """Whether this process belongs to a group of several."""
    return bool(distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1)


def records_of_all(count: int) -> int:
    """Number of records of all processes together, which is public."""
    numbers = torch.tensor([count])
    distributed.all_reduce(numbers)
    return int(numbers[0])


def answered_together(total: Integers, noised: Callable[[Integers], Answer]) -> Answer:
    """Add up the integers of all processes, let the first one add noise, and hand its answer to all.

    Guarantee: noise is drawn once, and no process sees an answer that differs from that of another.
    """
    numbers = torch.from_numpy(np.ascontiguousarray(total))
    distributed.all_reduce(numbers)
    sent = torch.zeros(total.size + 1, dtype=torch.float64)
    if distributed.get_rank() == 0:
        answer = noised(numbers.numpy())
        sent = torch.from_numpy(np.append(answer.value, answer.noise_scale))
    distributed.broadcast(sent, 0)
    *_, scale = sent.tolist()
    return Answer(sent[:-1].numpy(), scale)
