"""Differences between the levels of a factor, by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from tacit.design.design import Design
from tacit.design.factor import Indicator
from tacit.documents.quoting import quoted
from tacit.errors import SettingError
from tacit.inference.hypotheses import Combinations

LARGEST = 1000
"""Contrasts at most; of more levels one reference is asked for."""


def factor_contrasts(design: Design, factor: str, reference: str | None = None) -> Combinations:
    """All differences of two levels, or of each level from one; labels say which.

    Guarantee
    ---------
    - Each is the difference of two linear predictors that differ in this factor alone; where the
      factor has interactions, with the other columns of these at zero or their first level.
    """
    places = _places(design, factor)
    levels = design.levels[factor]
    pairs: Sequence[tuple[str, str]] = [(b, a) for a, b in combinations(levels, 2)]
    if reference is not None:
        if reference not in levels:
            raise SettingError(
                f"{quoted(reference)} is no level of {quoted(factor)}; the levels are {', '.join(levels[:40])}."
            )
        pairs = [(level, reference) for level in levels if level != reference]
    if len(pairs) > LARGEST:
        raise SettingError(
            f"{quoted(factor)} has {len(levels)} levels, too many for all differences; name one level as reference."
        )
    weights = np.zeros((len(pairs), len(design.names)))
    for row, (first, second) in zip(weights, pairs, strict=True):
        for level, sign in ((first, 1.0), (second, -1.0)):
            if level in places:
                row[places[level]] += sign
    labels = tuple(f"{factor}: {first} - {second}" for first, second in pairs)
    if design.outputs > 1:
        labels = tuple(f"{label}: {pair}" for label in design.response.classes for pair in labels)
    each = np.asarray(np.kron(np.eye(design.outputs), weights), dtype=np.float64)
    return Combinations(each, np.zeros(len(labels)), labels)


def _places(design: Design, factor: str) -> dict[str, int]:
    """Places of the coefficients of a factor's levels; the reference level has none."""
    first = int(design.reports_intercept)
    found = {
        column.factors[0].level: place
        for place, column in enumerate(design.columns, first)
        if len(column.factors) == 1 and isinstance(column.factors[0], Indicator) and column.factors[0].column == factor
    }
    if factor not in design.levels or not found:
        known = ", ".join(map(quoted, design.levels)) or "none"
        raise SettingError(
            f"{quoted(str(factor))} is no factor with coefficients of its own in this model; its factors: {known}."
        )
    return found
