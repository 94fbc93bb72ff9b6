"""Whether a design that was read from a file can be one: bounds, names, levels, maps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from itertools import zip_longest
from typing import Any

from tacit.design.cell_rules import LabelCell
from tacit.design.design import Column, Design
from tacit.design.factor import Indicator, Numeric, require_declared
from tacit.design.feature_map import Custom
from tacit.errors import CertificateError, InputError


def require_design(design: Design) -> None:
    """Refuse a design that contradicts itself, with `CertificateError`."""
    _require_distinct_labels(design.response.classes)
    if len(set(design.names)) != design.width:
        raise CertificateError("two columns of the design share a name")
    if not 0.0 < design.feature_norm < math.inf and design.columns:
        raise CertificateError("feature_norm of the design is not positive and finite")
    if any(not 0 < len(set(levels)) == len(levels) for levels in design.levels.values()):
        raise CertificateError("a factor of the design has no levels, or one of them twice")
    for column in (*design.columns, *design.inputs):
        usable = column.lower < column.upper and 0.0 < column.scale < math.inf
        if not (usable and math.isfinite(column.center)):
            raise CertificateError("a column of the design has no usable bounds or map")
    _require_cells(design)
    if design.feature_map is not None:
        _require_map(design)
        return
    if design.inputs or design.input_norm is not None:
        raise CertificateError("the design has inputs and no feature map")
    levels = {name: frozenset(own) for name, own in design.levels.items()}
    for column in design.columns:
        _require_factors(column, design, levels)


def _require_distinct_labels(classes: tuple[Any, ...]) -> None:
    for label in classes:
        if type(label) not in (str, int, float, bool) or label in (math.inf, -math.inf):
            raise CertificateError("a class label is neither text nor a finite number")
    if len(set(classes)) < len(classes) or any(label != label for label in classes):  # noqa: PLR0124
        raise CertificateError("the class labels are not distinct")


def _require_factors(column: Column, design: Design, levels: Mapping[str, Set[str]]) -> None:
    if not column.factors:
        raise CertificateError("a column of the design has no factors")
    for factor in column.factors:
        try:
            require_declared(factor, design.levels, design.cells)
        except InputError as error:
            raise CertificateError(str(error)) from error
        if isinstance(factor, Indicator) and factor.level not in levels[factor.column]:
            raise CertificateError("an indicator in the design is of an undeclared level")


def _require_cells(design: Design) -> None:
    for name, cell in design.cells.items():
        levels = (None, *design.levels.get(name, ()))
        if isinstance(cell, LabelCell) and not {cell.missing, cell.other} <= set(levels):
            raise CertificateError("what stands for a missing label is an undeclared level")


def _require_map(design: Design) -> None:
    names = tuple(column.name for column in design.inputs)
    plain = all(column.factors == (Numeric(column.name),) for column in design.inputs)
    if design.feature_map is None or not names or not plain:
        raise CertificateError("the feature map of the design has no inputs")
    if any(column.factors for column in design.columns):
        raise CertificateError("a column of the design has factors beside a feature map")
    try:
        expected = design.feature_map.names(names)
        known = (column.name for column in design.columns)
        # One by one: the names that a forged map has together may fill the memory.
        other = any(one != name for one, name in zip_longest(expected, known))
    except InputError as error:
        raise CertificateError(str(error)) from error
    if other:
        raise CertificateError("the columns of the design are not those of its feature map")
    custom = isinstance(design.feature_map, Custom)
    norm = 1.0 if design.input_norm is None else design.input_norm
    if custom != (design.input_norm is None) or not 0.0 < norm < math.inf:
        raise CertificateError("the norm of the inputs does not fit the feature map")
