"""What a stored fit keeps so that tests and intervals can still be computed: the released sandwich."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.release import Release, Sandwich
from tacit.documents.canonical_json import plain, require
from tacit.documents.dataclass_json import from_plain, to_plain

NAME = "inference"
"""Of the part of a fit file that holds it."""
LARGEST_WIDTH = 256
"""Coefficients beyond which it is not stored: its matrices would fill the file."""


@dataclass(frozen=True)
class StoredInference:
    """The sandwich of a release and n·μ/d, by which its intervals are judged."""

    sandwich: Sandwich
    signal: float

    @classmethod
    def further_parts(cls, release: Release) -> dict[str, Any]:
        """Parts of a fit file beside those that every fit has; none without intervals."""
        sandwich = release.sandwich
        if sandwich is None or len(sandwich.to_user) > LARGEST_WIDTH or not _finite(sandwich):
            return {}
        return {NAME: plain(to_plain(cls(sandwich, release.plan.signal)))}

    @classmethod
    def read(cls, further: Mapping[str, Any], width: int) -> StoredInference | None:
        """Read it from the further parts of a fit with so many coefficients; None where it was not stored."""
        if NAME not in further:
            return None
        found = from_plain(cls, further[NAME], "the inference of the fit")
        sandwich = found.sandwich
        inner = len(sandwich.curvature)
        shapes = (sandwich.curvature.shape, sandwich.score.shape, sandwich.to_user.shape)
        fits = shapes == ((inner, inner), (inner, inner), (width, inner)) and 0 < width <= LARGEST_WIDTH
        fits = fits and (sandwich.step is None or sandwich.step.shape == (inner,))
        require(fits and _finite(sandwich), "the inference of the fit has matrices of another size, or no numbers")
        require(found.signal > 0, "the inference of the fit has no signal")
        return found


def _finite(sandwich: Sandwich) -> bool:
    """Whether every matrix and number is finite."""
    arrays: list[NDArray[np.float64] | float | None] = list(vars(sandwich).values())
    return all(
        bool(np.isfinite(part).all()) if isinstance(part, np.ndarray) else part is None or math.isfinite(part)
        for part in arrays
    )
