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
from tacit.accounting.pld.survey import Aim, Survey
from tacit.accounting.pld.transform import LONGEST, Window


@dataclass(frozen=True)
class Resolution:
    """Everything that is needed to discretise and transform a composition.

    Parameters
    ----------
    window
        Tilt and range of the composition.
    grids
        One per pair.
    guess
        Where epsilon is expected.
    step
        The distance of losses.
    """

    window: Window
    grids: tuple[Grid, ...]
    guess: float
    step: float


def resolve(
    items: Sequence[tuple[Pair, int]],
    direction: Direction,
    survey: Survey,
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
    items, direction
        Pairs with counts, and the order of their distributions.
    survey
        The coarse look at the same items in the same direction.
    aim
        From the survey.
    accuracy
        Part of epsilon that discretisation may cost an upper bound.
    longest
        Number of steps that a window may have.
    """
    window, width = survey.window(survey.working_tilt(aim), aim)
    lowest, highest = survey.ranges(aim)
    if not math.isfinite(width) or np.max(highest) >= LARGEST_LOSS:
        raise GridTooLong(
            f"losses above {LARGEST_LOSS:.0f}; expected moderate noise. Use Rényi accounting"
        )
    count = float(survey.times.sum())
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
    r"""Return the step that costs an upper bound the given part of epsilon.

    .. math:: h = \sqrt{\frac{12\, a\, \varepsilon}{T (1 + s)}}

    Splitting adds about :math:`h^2/6` to the variance of a loss and half of that to its mean, hence
    :math:`s (1 + s) h^2 / 12` to its cumulant function, and that over s to epsilon.

    Guarantee
    ---------
    - Positive unless the composition has no variance.
    """
    # An epsilon near 0 is measured against the deviation of the composition.
    size = max(aim.epsilon, 0.1 * math.sqrt(aim.moments.variance))
    return math.sqrt(12.0 * accuracy * size / (count * (1.0 + aim.tilt)))


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
