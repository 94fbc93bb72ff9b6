"""The design: how a record becomes a vector of bounded numbers, in public facts only.

A design column is a product of factors, functions of one cell each, with public bounds. Its value v is clipped into
[lower, upper] and mapped to u = (v - center) / scale. The vector of all u, without the intercept, is shrunk to norm
`feature_norm` where it is longer; the intercept then adds a coordinate 1. Coefficients return by the inverse map.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.design.attached_columns import AttachedColumns
from tacit.design.declared_bounds import bound_vectors
from tacit.design.factor import Cell, Factor, Numeric, require_declared
from tacit.design.feature_map import Custom, FeatureMap, Polynomial
from tacit.design.reading import Reading
from tacit.design.response import Absent, Classes, Continuous, Response
from tacit.documents.canonical_json import quoted
from tacit.documents.dataclass_json import OMITTED, from_plain, stored_as, to_plain
from tacit.errors import BoundsError, CertificateError, SettingError
from tacit.validate import positive

INTERCEPT = "Intercept"
LARGEST_DENSE = 512
"""Coefficients up to which those of the user are a product with a square matrix: two megabytes."""
PRIVATE = "private"
"""In place of bounds: they are found by counts, and paid for."""


@dataclass(frozen=True)
class Column:
    """A product of factors (none out of a feature map), its public bounds and its map to u."""

    name: str
    factors: tuple[Factor, ...]
    lower: float
    upper: float
    center: float
    scale: float

    @property
    def is_open(self) -> bool:
        """Whether its bounds are yet to be found, by counts that are paid for."""
        return math.isinf(self.scale)


@dataclass(frozen=True)
class Design:
    """How a record becomes a row of the design.

    Guarantee: the norm of a prepared row is at most `row_norm`, whatever the record holds.

    `levels` are the declared ones of every factor column used, the reference included. `cells` are
    rules for the cells that the factors use; a matrix has none. A `feature_map`, only for a matrix,
    makes the columns out of `inputs`, whose mapped vector is first shrunk to `input_norm`. `reading`
    says how cells are spelt: files, codes for missing cells, dates.
    """

    columns: tuple[Column, ...]
    response: Response
    feature_norm: float
    intercept: bool = True
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attached: AttachedColumns = field(default_factory=AttachedColumns, metadata=stored_as("beside"))
    cells: Mapping[str, Cell] = field(default_factory=dict)
    feature_map: FeatureMap | None = None
    inputs: tuple[Column, ...] = ()
    input_norm: float | None = None
    reading: Reading = field(default_factory=Reading, metadata=OMITTED)

    def __post_init__(self) -> None:
        for factor in (factor for column in self.columns for factor in column.factors):
            require_declared(factor, self.levels, self.cells)

    @property
    def width(self) -> int:
        """Number of coefficients, the intercept included."""
        return len(self.columns) + self.intercept

    @property
    def outputs(self) -> int:
        """Number of linear predictors: one a class where there are three or more, else one."""
        return len(self.response.classes) if isinstance(self.response, Classes) else 1

    @property
    def identified(self) -> int:
        """Number of coefficients that records can tell: those of all classes but one."""
        return self.width * max(self.outputs - 1, 1)

    @property
    def row_norm(self) -> float:
        """Bound on the norm of a prepared row, the intercept's 1 included."""
        return math.hypot(self.feature_norm, 1.0) if self.intercept else self.feature_norm

    @property
    def unit_rows(self) -> int:
        """The largest number of records that a unit contributes."""
        return 1 if self.attached.unit is None else self.attached.unit.max_rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept first as it is reported."""
        names = tuple(column.name for column in self.columns)
        return (INTERCEPT, *names) if self.reports_intercept else names

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of all released coefficients: `names`, or class after class where several."""
        return tuple(self.each_term())

    def each_term(self) -> Iterator[str]:
        """The same, one by one: together they may be long."""
        names = self.names
        if self.outputs == 1:
            return iter(names)
        return (f"{label}: {name}" for label in self.response.classes for name in names)

    @property
    def reports_intercept(self) -> bool:
        """Whether the constant has a coefficient; for a mean it only serves to whiten."""
        return self.intercept and not isinstance(self.response, Absent)

    @property
    def open_places(self) -> tuple[int, ...]:
        """Columns whose bounds are yet to be found; the response's place is the width."""
        places = [j for j, column in enumerate(self.columns) if column.is_open]
        if isinstance(self.response, Continuous) and self.response.is_open:
            places.append(self.width)
        return tuple(places)

    def to_user(self) -> NDArray[np.float64]:
        """Matrix from prepared coefficients (intercept last) to the user's (intercept first).

        The response's scale is in it; its center, which adds to the intercept, is `shift`. Where
        there is no response, it takes the mean of prepared rows to the mean of the user's columns.
        """
        count = len(self.columns)
        scales = np.array([column.scale for column in self.columns])
        if isinstance(self.response, Absent):
            return np.asarray(np.eye(count, self.width) * scales[:, None])
        matrix = np.zeros((self.width, self.width))
        matrix[int(self.intercept) :, :count] = np.diag(1.0 / scales)
        if self.intercept:
            centers = np.array([column.center for column in self.columns])
            matrix[0] = np.append(-centers / scales, 1.0)
        return matrix * (self.response.scale if isinstance(self.response, Continuous) else 1.0)

    def user_coefficients(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """`to_user` times prepared coefficients (intercept last), one column a class if several.

        Guarantee: memory grows with the width, not with its square. Up to `LARGEST_DENSE` coefficients it is the
        product by the matrix, to the bit.
        """
        if self.width <= LARGEST_DENSE:
            return np.asarray(self.to_user() @ theta)
        count, tail = len(self.columns), (1,) * (theta.ndim - 1)
        scales = np.array([column.scale for column in self.columns]).reshape(-1, *tail)
        if isinstance(self.response, Absent):
            return np.asarray(scales * theta[:count])
        slopes = theta[:count] / scales
        if self.intercept:
            centers = np.array([column.center for column in self.columns]).reshape(-1, *tail)
            slopes = np.concatenate([theta[count:] - np.sum(centers * slopes, axis=0, keepdims=True), slopes])
        return np.asarray(slopes * (self.response.scale if isinstance(self.response, Continuous) else 1.0))

    def shift(self) -> NDArray[np.float64]:
        """What the response's center adds to the user's coefficients, or the columns' to means."""
        if isinstance(self.response, Absent):
            return np.array([column.center for column in self.columns])
        constant = np.zeros(self.width)
        if self.intercept and isinstance(self.response, Continuous):
            constant[0] = self.response.center
        return constant

    def to_json(self) -> dict[str, Any]:
        """Plain data for the stored fit; of a custom feature map its name and no code."""
        return dict(to_plain(self))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Design:
        """Read back what `to_json` wrote; a custom feature map comes back without its function."""
        try:
            return from_plain(cls, data, "the design")
        except (TypeError, ValueError) as error:
            raise CertificateError(f"The stored design is incomplete: {quoted(str(error), 200)}") from error


def numeric_column(name: str, lower: float, upper: float, *, centred: bool = True) -> Column:
    """A numeric column mapped into [-1, 1]; shifted if an intercept can absorb it (`centred`)."""
    center, scale = (lower + upper) / 2, (upper - lower) / 2
    if not centred:
        center, scale = 0.0, max(abs(lower), abs(upper))
    return Column(name, (Numeric(name),), lower, upper, center, scale)


def _unbounded_column(name: str, scale: float) -> Column:
    return Column(name, (Numeric(name),), -math.inf, math.inf, 0.0, scale)


def matrix_design(
    names: Sequence[str],
    response: Response,
    *,
    bounds: ArrayLike | Mapping[str, Any] | None,
    row_norm: float | None,
    intercept: bool,
    shifted: bool = True,
    feature_map: FeatureMap | None = None,
) -> Design:
    """Design of a plain numeric matrix with public bounds, a public row norm, or both.

    `bounds` is as in `bound_vectors`. With bounds="private" a part of the budget is spent on finding them.
    With `row_norm` alone columns are scaled by √d / row_norm, so that the mean square of a prepared
    coordinate is at most 1. Unless `shifted`, columns are scaled only: the zeros of a sparse
    matrix stay zeros. With a `feature_map` the columns so mapped are its inputs, and `row_norm` bounds their norm.
    """
    count = len(names)
    if count == 0:
        raise BoundsError("There are no features.")
    if row_norm is not None:
        row_norm = positive("row_norm", row_norm, BoundsError)
    if feature_map is not None:
        return _mapped_design(names, response, bounds, row_norm, intercept, feature_map)
    root = math.sqrt(count)
    norm = root if bounds is None or row_norm is None else min(row_norm, root)
    if bounds is None:
        if row_norm is None:
            raise BoundsError(
                "Public bounds are missing, and they are never read off the data. Three ways out: declare "
                "bounds=(lower, upper) for the features, declare row_norm=… (a bound on the L2 norm of a feature "
                'row), or set bounds="private" to spend part of the budget on finding them.'
            )
        columns = tuple(_unbounded_column(name, row_norm / root) for name in names)
    elif isinstance(bounds, str):
        if bounds != PRIVATE:
            raise BoundsError(f'bounds must be numbers, or the word "{PRIVATE}".')
        if not shifted:
            refused = f'bounds="{PRIVATE}" shifts the columns, which a sparse matrix does not allow'
            raise BoundsError(f"{refused}. Declare bounds or row_norm, or pass X.toarray().")
        columns = tuple(_unbounded_column(name, math.inf) for name in names)
    else:
        lower, upper = bound_vectors(bounds, names)
        columns = tuple(
            numeric_column(name, low, high, centred=intercept and shifted)
            for name, low, high in zip(names, lower.tolist(), upper.tolist(), strict=True)
        )
    return Design(columns, response, norm, intercept)


def _mapped_design(
    names: Sequence[str],
    response: Response,
    bounds: ArrayLike | Mapping[str, Any] | None,
    row_norm: float | None,
    intercept: bool,
    feature_map: FeatureMap,
) -> Design:
    if isinstance(bounds, str):
        raise BoundsError("A feature map needs columns with declared bounds or row_norm.")
    if not isinstance(feature_map, FeatureMap):
        raise SettingError("feature_map must be a Polynomial, RandomFourier or Custom.")
    if bounds is None and isinstance(feature_map, Polynomial):
        raise BoundsError("This feature map needs columns in [-1, 1]: declare bounds=(lower, upper) for them.")
    custom = isinstance(feature_map, Custom)
    if bounds is None and row_norm is None and custom:
        inputs, input_norm = tuple(_unbounded_column(name, 1.0) for name in names), None
    else:
        # The map takes up any shift, with an intercept or without.
        plain = matrix_design(names, response, bounds=bounds, row_norm=row_norm, intercept=True)
        inputs, input_norm = plain.columns, None if custom else plain.feature_norm
    if isinstance(feature_map, Custom):
        feature_map = feature_map.measured(np.array([column.center for column in inputs]))
    width = len(names)
    scale, bound = feature_map.bounds(width, math.sqrt(width) if input_norm is None else input_norm)
    # A single feature of a custom map may be larger than the others.
    end = math.inf if custom else scale
    columns = tuple(Column(name, (), -end, end, 0.0, scale) for name in feature_map.names(names))
    design = Design(columns, response, bound / scale, intercept)
    return replace(design, feature_map=feature_map, inputs=inputs, input_norm=input_norm)


def is_intercept(name: str) -> bool:
    """Whether a coefficient of this name is an intercept, of a model or of one of its classes."""
    return name == INTERCEPT or name.endswith(f": {INTERCEPT}")
