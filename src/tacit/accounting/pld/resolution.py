"""From a survey to a grid: the step, the window and the losses that each law keeps.

As in the survey, nothing here is certified and nothing needs to be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld._signals import GridTooLong
from tacit.accounting.pld.grid import LARGEST_LOSS, SMALLEST_STEP, Grid, dyadic, rounded_step
from tacit.accounting.pld.pairs.pair import Direction, Pair
from tacit.accounting.pld.survey import Survey
from tacit.accounting.pld.transform import LONGEST, Window

# Steps of more than this part of the deviation of one loss say little.
_COARSEST = 0.5


@dataclass(frozen=True)
class Resolution:
    """Everything that is needed to discretise and transform a composition.

    Parameters
    ----------
    window
        Tilt and range of the composition.
    grids
        One per pair.
    fraction
        The step over the tilted deviation of one loss, as it came out.
    """

    window: Window
    grids: tuple[Grid, ...]
    fraction: float


def resolve(
    items: Sequence[tuple[Pair, int]],
    direction: Direction,
    survey: Survey,
    tilt: float,
    fraction: float,
) -> Resolution:
    """Choose a window and grids whose step is a fraction of the deviation of one loss.

    Guarantee
    ---------
    - The window has fewer than 2^22 steps; where that makes the step coarser than half a
      deviation, `GridTooLong` is raised instead.
    - A single lattice of atoms lies on the grid up to 2^-29, relatively.

    Parameters
    ----------
    items, direction
        Pairs with counts, and the order of their distributions.
    survey
        The coarse look at the same items in the same direction.
    tilt
        From the survey.
    fraction
        Finer grids have a smaller fraction.
    """
    moments = survey.moments(tilt)
    count = float(survey.times.sum())
    deviation = math.sqrt(moments.variance / count)
    (low, high), (below, above) = survey.window(tilt)
    lowest, highest = survey.ranges(tilt)
    if not math.isfinite(high - low) or np.max(highest) >= LARGEST_LOSS:
        raise GridTooLong(
            f"losses above {LARGEST_LOSS:.0f}; expected moderate noise. Use Rényi accounting"
        )
    step = max(fraction * deviation, (high - low) / (LONGEST / 2), SMALLEST_STEP)
    step = _on_lattice(items, step, high - low)
    if step > _COARSEST * deviation and step > 2.0 * SMALLEST_STEP and not _is_lattice(items, step):
        raise GridTooLong(
            f"{count:.0f} losses need a grid of more than {LONGEST} points. Use Rényi accounting"
        )
    per_octave = min(max(math.ceil(deviation / step), 8), 512)
    grids = []
    for (pair, _), mean, bottom, top in zip(
        items, moments.means, lowest, highest, strict=True
    ):
        grid = dyadic(
            step,
            center=round(float(mean) / step),
            low=float(bottom),
            high=float(top) + step,
            per_octave=per_octave,
        )
        grids.append(_with_atoms(grid, pair, direction))
    margin = 2.0 * step
    window = Window(tilt, low - margin, high + margin, below, above)
    return Resolution(window, tuple(grids), step / deviation if deviation > 0.0 else 0.0)


def _lattices(items: Sequence[tuple[Pair, int]]) -> set[float]:
    return {pair.lattice for pair, _ in items if pair.lattice > 0.0}


def _on_lattice(items: Sequence[tuple[Pair, int]], step: float, width: float) -> float:
    """Round the step so that it divides the one lattice of atoms, if there is just one."""
    lattices = _lattices(items)
    if len(lattices) == 1:
        (lattice,) = lattices
        divided = lattice / math.ceil(lattice / step) if step < lattice else lattice
        if divided >= SMALLEST_STEP and width / divided < LONGEST / 2:
            return rounded_step(divided)
    return rounded_step(step)


def _is_lattice(items: Sequence[tuple[Pair, int]], step: float) -> bool:
    return any(rounded_step(lattice) == step for lattice in _lattices(items))


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
