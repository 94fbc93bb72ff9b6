"""Where random bits come from. No other module may create randomness for noise.

A word that has been handed out must never be logged, stored or handed out again.
"""

import os
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.validate import whole

BYTES_PER_WORD = 8


class Entropy(Protocol):
    """A source of independent uniform 64-bit words."""

    @property
    def secure(self) -> bool:
        """Whether the words are unpredictable, so that noise made of them is private."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` fresh words, uniform on {0, …, 2^64 - 1}, independent of all earlier ones."""


@dataclass(frozen=True, slots=True)
class SystemEntropy:
    """The system's cryptographic generator: fresh words every call, and no state to copy in a fork, repeat or leak."""

    secure: ClassVar[bool] = True

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` fresh words from `os.urandom`."""
        return np.frombuffer(os.urandom(BYTES_PER_WORD * whole("count", count, 0)), dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class SeededEntropy:
    """Reproducible words for tests; whoever knows the seed can subtract the noise.

    Guarantee: the same seed gives the same words, in whatever portions they are asked for. Never declared secure, so a
    certificate built on it says `private: false`.
    """

    secure: ClassVar[bool] = False
    seed: int
    _generator: np.random.PCG64DXSM = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_generator", np.random.PCG64DXSM(whole("seed", self.seed, 0)))

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` words further along the stream of this seed."""
        return np.asarray(self._generator.random_raw(whole("count", count, 0)))
