"""Declared bounds of the columns of a matrix, in any of four spellings that cannot be mistaken for each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import BoundsError
from tacit.validate import shown

LARGEST_BOUND = 1e150
"""Bounds beyond it could make a map between scales overflow."""
LISTED = 6
Ends = tuple[NDArray[np.float64], NDArray[np.float64]]


def bound_vectors(bounds: Any, names: Sequence[str]) -> Ends:
    """Lower and upper ends of the named columns.

    `bounds` is (lower, upper) for all columns, a pair for each column in their order, a dict of pairs by name, or the
    sequence of all lower ends and that of all upper ends.

    Guarantee: bounds of two columns that are a list of pairs and two sequences alike, with different ends, are refused.
    """
    lower, upper = _read(bounds, names)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        raise BoundsError("bounds must be finite numbers.")
    if not (lower < upper).all():
        raise BoundsError("Every lower bound must lie below its upper bound; are they reversed?")
    with np.errstate(over="ignore"):
        ends, widths = np.abs(lower + upper), (upper - lower) / 2
    if not (ends <= LARGEST_BOUND).all() or not (widths <= LARGEST_BOUND).all():
        raise BoundsError(f"bounds must not exceed {LARGEST_BOUND:g}; rescale the columns.")
    if not (widths >= 1 / LARGEST_BOUND).all():
        raise BoundsError("bounds are too close together for float64; rescale the columns.")
    return lower, upper


def _read(bounds: Any, names: Sequence[str]) -> Ends:
    count = len(names)
    if isinstance(bounds, Mapping):
        return _by_name(bounds, names)
    try:
        found = [np.asarray(side, dtype=np.float64) for side in bounds]
    except (TypeError, ValueError) as error:
        raise BoundsError(f"bounds must be {_spellings(names)}.") from error
    shapes = [side.shape for side in found]
    pairs = count > 0 and shapes == [(2,)] * count
    sequences = len(found) == 2 and all(shape in {(), (count,)} for shape in shapes)
    if pairs and sequences and shapes != [(), ()]:
        return _of_a_square(np.array(found), names)
    if sequences:
        lower, upper = (np.broadcast_to(side, (count,)) for side in found)
        return lower, upper
    if pairs:
        lower, upper = np.array(found).T
        return lower, upper
    raise BoundsError(f"bounds must be {_spellings(names)}; got {len(found)} parts of shapes {shown(shapes)}.")


def _of_a_square(square: NDArray[np.float64], names: Sequence[str]) -> Ends:
    """Two columns: the reading that makes sense, where only one does or both are the same."""
    pairs, sequences = (square[:, 0], square[:, 1]), (square[0], square[1])
    sensible = [ends for ends in (pairs, sequences) if (ends[0] < ends[1]).all()]
    if len(sensible) == 2 and not np.array_equal(square, square.T):
        one, two = ({name: pair for name, *pair in zip(names, *map(_plain, ends), strict=True)} for ends in sensible)
        raise BoundsError(
            f"bounds of two columns can be read in two ways: as pairs [(lower, upper), (lower, upper)], {one}, and as "
            f"two sequences ([lower, lower], [upper, upper]), {two}. Write a dict by name, which has one reading: "
            f"bounds={one} or bounds={two}."
        )
    return sensible[0] if sensible else sequences


def _plain(ends: NDArray[np.float64]) -> list[float]:
    return [float(f"{end:.12g}") for end in ends.tolist()]


def _by_name(bounds: Mapping[Any, Any], names: Sequence[str]) -> Ends:
    missing, unknown = [name for name in names if name not in bounds], [key for key in bounds if key not in set(names)]
    if missing or unknown:
        said = f"is missing {_listed(missing)}" if missing else f"names {_listed(unknown)}, which X has not"
        raise BoundsError(f"The dict of bounds {said}; the columns are {_listed(names)}.")
    try:
        lower, upper = np.array([bounds[name] for name in names], dtype=np.float64).reshape(len(names), 2).T
    except (TypeError, ValueError) as error:
        raise BoundsError(f"A dict of bounds has a pair (lower, upper) for each of {_listed(names)}.") from error
    return lower, upper


def _listed(names: Sequence[Any]) -> str:
    first = ", ".join(shown(str(name)) for name in names[:LISTED])
    return first if len(names) <= LISTED else f"{first} and {len(names) - LISTED} more"


def _spellings(names: Sequence[str]) -> str:
    count = len(names)
    return (
        f"two numbers (lower, upper) for all columns, or for {count} columns one of: a pair for each, "
        f"[(lower, upper), …]; a dict by name, {{{shown(names[0])}: (lower, upper), …}}; "
        f"two sequences of length {count}, ([lower, …], [upper, …])"
    )
