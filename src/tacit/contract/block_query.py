"""Queries of disjoint blocks: a function is computed on every block of records, and the results are aggregated.

Each unit is in one block, drawn in secret. A function may be anything: whatever it returns for a block, the aggregate
takes its result as one bounded vector, one vote, or one point. So one unit changes one of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.losses.loss import Code, Loss

LARGEST = 1e100
"""Results beyond it are as good as none: a block that returns one gives the default answer."""
BLACK_BOX = Loss("black box", Code.DISTANCE, math.inf, math.inf)
"""Stands for what a function of blocks minimises: nothing is known of it, and nothing needs to be."""


@dataclass(frozen=True)
class BlockMinimum:
    """The minimiser of Σ loss(z·theta, y) + (ridge / 2)‖theta‖² on the prepared rows of a block.

    By a fixed number of damped Newton steps, so that no record decides how long it takes. A unit of several rows counts
    once. With `groups` the result is jackknifed.
    """

    loss: Loss
    width: int
    ridge: float
    groups: int = 0
    rows_needed: int = 1

    @property
    def size(self) -> int:
        """Numbers that a block returns."""
        return self.width

    @property
    def default(self) -> tuple[float, ...]:
        """What a block returns that is too small or fails."""
        return (0.0,) * self.size


@dataclass(frozen=True)
class LeastSquares:
    """Least squares on the rows of a block, as they are: slopes, and the intercept last."""

    width: int
    rows_needed: int = 1
    groups: int = 0

    @property
    def size(self) -> int:
        """Numbers that a block returns."""
        return self.width

    @property
    def default(self) -> tuple[float, ...]:
        """What a block returns that is too small or fails."""
        return (0.0,) * self.size


@dataclass(frozen=True, repr=False)
class BlackBox:
    """A program, as its own code and settings pickled, run on every block in a fresh process.

    It is called with the rows X and the responses y of a block, on the user's scale, and returns `size` numbers. One
    that raises, returns anything else, or takes more than `seconds` of processor time or `memory` bytes beyond those of
    the loaded program, gives the `default`. `scales` take stored columns and the response, whose classes are numbers,
    to the user's, and `centres` are added.
    """

    program: bytes
    default: tuple[float, ...]
    scales: tuple[float, ...]
    centres: tuple[float, ...]
    seconds: float = 60.0
    rows_needed: int = 1
    groups: int = 0
    memory: int = 2 << 30

    @property
    def size(self) -> int:
        """Numbers that a block returns."""
        return len(self.default)

    def __repr__(self) -> str:
        return f"BlackBox(size={self.size})"


BlockFunction = BlockMinimum | LeastSquares | BlackBox


@dataclass(frozen=True)
class BlockQuery:
    """A function, and the number of blocks that it is computed on."""

    function: BlockFunction
    blocks: int

    def __post_init__(self) -> None:
        if self.blocks < 2:
            raise SettingError("There must be at least two blocks.")


@dataclass(frozen=True)
class BlockMean(BlockQuery):
    """The mean over the blocks of (result - centre) / half, each cut into the box [-1, 1] and shrunk to norm `radius`.

    A radius of √size is the whole box.
    """

    centre: NDArray[np.float64]
    half: NDArray[np.float64]
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        ends = np.concatenate([self.centre, self.half, [self.radius]])
        if not (np.abs(ends) <= LARGEST).all() or not (self.half > 0.0).all() or not self.radius > 0.0:
            raise SettingError("Bounds of a block's results must be finite, the lower one first.")
        if len(self.centre) != self.function.size or len(self.half) != self.function.size:
            raise SettingError("There must be a bound for each number of a block's result.")


@dataclass(frozen=True)
class BlockMedian(BlockQuery):
    """A private median of each of the `size` results of the blocks, on a grid of [lower, upper]."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.abs([self.lower, self.upper]) <= LARGEST).all() or not (self.lower < self.upper).all():
            raise SettingError("Bounds of a block's results must be finite, the lower one first.")
        if {len(self.lower), len(self.upper)} != {self.function.size}:
            raise SettingError("There must be a bound for each number of a block's result.")

    @property
    def size(self) -> int:
        """Number of medians."""
        return self.function.size


@dataclass(frozen=True)
class BlockDepth(BlockQuery):
    """A point that is deep among the results of the blocks, which need no bounds, or none if a stability test fails."""


@dataclass(frozen=True)
class VoteChecks(BlockQuery):
    """For each public row, how many blocks vote for the class that most of them vote for.

    A block's result is the number of a class for each public row; what is none counts as class 0.
    """

    classes: int

    @property
    def size(self) -> int:
        """Number of public rows."""
        return self.function.size


@dataclass(frozen=True)
class VoteCounts(BlockQuery):
    """For each of some public `rows`, how many blocks vote for each of the classes."""

    classes: int
    rows: Sequence[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 <= row < self.function.size for row in self.rows):
            raise SettingError("There is no such public row.")

    @property
    def size(self) -> int:
        """Number of rows that votes are counted for."""
        return len(self.rows)


AnyBlockQuery = BlockMean | BlockMedian | BlockDepth | VoteChecks | VoteCounts
