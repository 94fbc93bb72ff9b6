"""From a coarse pass to a grid: the step, the window and the losses of each distribution.

As in the coarse pass, nothing here is certified and nothing needs to be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld.coarse_pass import Aim, CoarseLosses
from tacit.accounting.pld.errors import GridTooLong
from tacit.accounting.pld.grid import LARGEST_LOSS, SMALLEST_STEP, Grid, dyadic, rounded_step
from tacit.accounting.pld.pairs.pair import Direction, Pair
from tacit.accounting.pld.transform import LONGEST, Window


@dataclass(frozen=True)
class Resolution:
    """What is needed to discretise and transform a composition: one grid per pair, one step.

    `guess` is where epsilon is expected.
    """

    window: Window
    grids: tuple[Grid, ...]
    guess: float
    step: float


def resolve(
    items: Sequence[tuple[Pair, int]],
    direction: Direction,
    coarse: CoarseLosses,
    aim: Aim,
    accuracy: float,
    longest: int = LONGEST,
) -> Resolution:
    """Choose a window and grids for an accuracy of epsilon.

    Guarantee
    ---------
    - The window has about as many steps as the accuracy needs, but fewer than ``longest``.
    - A single lattice of atoms lies on the grid up to 2^-29, relatively.

    Parameters
    ----------
    coarse, aim
        The coarse pass over the same items in the same direction, and the point it estimates.
    accuracy
        Fraction of epsilon that discretisation may cost an upper bound.
    longest
        Number of steps that a window may have.
    """
    window, width = coarse.window(coarse.working_tilt(aim), aim)
    lowest, highest = coarse.ranges(aim)
    if not math.isfinite(width) or np.max(highest) >= LARGEST_LOSS:
        raise GridTooLong(
            f"losses above {LARGEST_LOSS:.0f}; expected moderate noise. Use Rényi accounting"
        )
    count = float(coarse.times.sum())
    deviation = math.sqrt(aim.moments.variance / count)
    wanted = accuracy_step(aim, count, accuracy)
    step = _on_lattice(items, max(wanted, width / (longest / 2), SMALLEST_STEP), width)
    per_octave = min(max(math.ceil(deviation / step), 8), 512)
    grids = []
    means = aim.moments.means
    for (pair, _), mean, bottom, top in zip(items, means, lowest, highest, strict=True):
        grid = dyadic(
            step,
            center=round(float(mean) / step),
            low=float(bottom),
            high=float(top) + step,
            per_octave=per_octave,
        )
        grids.append(_with_atoms(grid, pair, direction))
    return Resolution(window, tuple(grids), aim.epsilon, step)


def accuracy_step(aim: Aim, count: float, accuracy: float) -> float:
    r"""Return the step at which discretisation costs an upper bound the given fraction of epsilon.

    .. math:: h = \sqrt{\frac{12\, a\, \varepsilon}{T (1 + s)}}

    Guarantee
    ---------
    - Positive unless the composition has no variance.
    """
    # An epsilon near 0 is measured against the deviation of the composition.
    size = max(aim.epsilon, 0.1 * math.sqrt(aim.moments.variance))
    return math.sqrt(12.0 * accuracy * size / (count * (1.0 + aim.tilt)))


def _on_lattice(items: Sequence[tuple[Pair, int]], step: float, width: float) -> float:
    """Round the step so that it divides the one lattice of atoms, if there is just one."""
    lattices = {pair.lattice for pair, _ in items if pair.lattice > 0.0}
    if len(lattices) == 1:
        (lattice,) = lattices
        divided = lattice / math.ceil(lattice / step) if step < lattice else lattice
        if divided >= SMALLEST_STEP and width / divided < LONGEST / 2:
            return rounded_step(divided)
    return rounded_step(step)


def _with_atoms(grid: Grid, pair: Pair, direction: Direction) -> Grid:
    """Add the neighbours of every atom within the range of the grid."""
    losses, _ = pair.atoms(direction)
    if not losses.size:
        return grid
    near = np.rint(losses / grid.step).astype(np.int64)
    around = np.concatenate([near - 1, near, near + 1])
    first, last = grid.indices[0], grid.indices[-1]
    around = around[(around >= first) & (around <= last)]
    return Grid(grid.step, np.union1d(grid.indices, around))
