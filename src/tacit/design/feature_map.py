"""Feature maps: public functions φ of one mapped row u, not read off the data, with ‖φ(u)‖ bounded by construction."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.display import Displayed
from tacit.documents.dataclass_json import NOT_STORED
from tacit.errors import SettingError
from tacit.validate import positive, whole, within

MOST_FEATURES = 100_000


@dataclass(frozen=True)
class Polynomial(Displayed):
    """All products of up to `degree` mapped columns; the constant is left to the intercept.

    With `interaction_only` no column is multiplied by itself. In order and number the features are
    those of scikit-learn's PolynomialFeatures(degree, interaction_only, include_bias=False).

    Guarantee: for |u_j| <= 1 and ‖u‖ <= R, ‖φ(u)‖² <= Σ_k min(number of products of k columns, R^(2k)).
    """

    degree: int
    interaction_only: bool = False
    kind: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole("degree", self.degree, 1, 20))
        if not isinstance(self.interaction_only, bool):
            raise SettingError("interaction_only must be True or False.")

    def monomials(self, width: int) -> tuple[tuple[int, ...], ...]:
        """Which columns each feature multiplies, products of fewer columns first."""
        if self.outputs(width) > MOST_FEATURES:
            many = f"has more than {MOST_FEATURES} products of {width} columns"
            raise SettingError(f"A polynomial of degree {self.degree} {many}; lower the degree or use RandomFourier.")
        choose: Any = itertools.combinations if self.interaction_only else itertools.combinations_with_replacement
        return tuple(itertools.chain.from_iterable(choose(range(width), k) for k in range(1, self.degree + 1)))

    def outputs(self, width: int) -> int:
        """Number of features of so many columns."""
        return sum(self._products(width, size) for size in range(1, self.degree + 1))

    def names(self, columns: Sequence[str]) -> Iterator[str]:
        """Names of the features, one by one: "a", "a^2", "a b"; together they may be long."""
        for monomial in self.monomials(len(columns)):
            powers = ((j, len(list(same))) for j, same in itertools.groupby(monomial))
            yield " ".join(columns[j] if power == 1 else f"{columns[j]}^{power}" for j, power in powers)

    def bounds(self, width: int, input_norm: float) -> tuple[float, float]:
        """Bounds on one feature and on ‖φ(u)‖, for |u_j| <= 1 and ‖u‖ <= input_norm."""
        # The products of k columns are among the terms of (Σ u_j²)^k, each at least once.
        sizes = range(1, self.degree + 1)
        return 1.0, math.sqrt(sum(min(float(self._products(width, k)), input_norm ** (2 * k)) for k in sizes))

    def _products(self, width: int, size: int) -> int:
        return math.comb(width if self.interaction_only else width + size - 1, size)


@dataclass(frozen=True)
class RandomFourier(Displayed):
    """√(1/count)·(cos w·u, sin w·u) for `count` random frequencies w ~ N(0, I / scale²).

    The inner product of two rows of features approaches the Gaussian kernel exp(-‖u - v‖² / (2 scale²)) as `count`
    grows. The frequencies are public: they come from `seed`, the same on every machine, and protect nothing.

    Guarantee: ‖φ(u)‖ = 1 for every u, since cos² + sin² = 1. Frequencies depend on the fields and the width alone.

    Rahimi & Recht, "Random features for large-scale kernel machines", NeurIPS 2007.
    """

    count: int
    scale: float = 1.0
    seed: int = 0
    kind: ClassVar[str] = "random-fourier"

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", whole("count", self.count, 1, MOST_FEATURES // 2))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0, 2**63 - 1))
        object.__setattr__(self, "scale", within("scale", self.scale, 1e-6, 1e6))

    def outputs(self, _width: int) -> int:
        """Number of features, a cosine and a sine for each frequency."""
        return 2 * self.count

    def names(self, _columns: Sequence[str]) -> Iterator[str]:
        """Names of the features: the cosines, then the sines."""
        return (f"{wave}{index}" for wave in ("cos", "sin") for index in range(self.count))

    def bounds(self, _width: int, _input_norm: float) -> tuple[float, float]:
        """Bounds on one feature and on ‖φ(u)‖."""
        return 1.0 / math.sqrt(self.count), 1.0


@dataclass(frozen=True)
class Custom:
    """A user's function of one row, its result shrunk to `row_norm` where it is longer.

    The function is given one row of the matrix at a time, on the user's scale (clipped into the
    bounds where there are any), and returns a vector of always the same length. A row on which it
    fails, or returns something else or no finite numbers, is an invalid record.

    Guarantee: the function never sees two rows at once. One that remembers rows itself breaks the guarantee of the
    release. ‖φ(x)‖ <= row_norm, whatever the function returns. No message carries what the function raised.

    `features` is the length of the result; None: found by calling the function on a public row.
    `label` is the name in the stored fit, by default the function's own; no function is stored.
    """

    function: Callable[[NDArray[np.float64]], Any] | None = field(metadata=NOT_STORED)
    row_norm: float
    features: int | None = None
    label: str | None = None
    kind: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        if self.function is not None and not callable(self.function):
            raise SettingError("function must be callable: it takes one row and returns a vector.")
        object.__setattr__(self, "row_norm", positive("row_norm", self.row_norm))
        if self.features is not None:
            object.__setattr__(self, "features", whole("features", self.features, 1, MOST_FEATURES))
        if self.label is not None and not isinstance(self.label, str):
            raise SettingError("label of a feature map must be text.")
        if self.label is None:
            object.__setattr__(self, "label", str(getattr(self.function, "__qualname__", type(self.function).__name__)))

    def measured(self, public_row: NDArray[np.float64]) -> Custom:
        """The map with its number of features, found on a row that is no record."""
        if self.features is not None or self.function is None:
            return self
        try:
            result = np.asarray(self.function(public_row.copy()), dtype=np.float64)
        except Exception as error:
            where = "fails on a public row, the middle of the bounds"
            raise SettingError(f"The function of the feature map {where}; mend it, or declare features=…") from error
        if result.ndim != 1 or not 1 <= len(result) <= MOST_FEATURES:
            raise SettingError("The function of a feature map must return a vector of numbers.")
        return replace(self, features=len(result))

    def outputs(self, _width: int) -> int:
        """Number of features."""
        if self.features is None:
            raise SettingError("The number of features is not known; declare features=…")
        return self.features

    def names(self, columns: Sequence[str]) -> Iterator[str]:
        """Names of the features: f0, f1 and so on."""
        return (f"f{index}" for index in range(self.outputs(len(columns))))

    def bounds(self, width: int, _input_norm: float) -> tuple[float, float]:
        """Size of one feature if all are equally large, and the bound on ‖φ(x)‖."""
        return self.row_norm / math.sqrt(self.outputs(width)), self.row_norm


FeatureMap = Polynomial | RandomFourier | Custom
