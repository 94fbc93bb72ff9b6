"""The constants of fits to images. They were set on public images, and a certificate says so.

Shares are of μ². A clip of moments is a Frobenius norm, for rows of norm 1. Iterations grow with the root of μ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tacit.errors import SettingError
from tacit.features.image_rows import FeatureMap
from tacit.validate import one_of

STUDY = "constants were set on training images of this public data set, at no charge"


@dataclass(frozen=True)
class Group:
    """One group of features: channels kept, clip of its second moments, its weight among the groups."""

    kept: int
    clip: float
    weight: float
    sum_share: float
    moment_share: float


@dataclass(frozen=True)
class ImageRecipe:
    """Shape of the images, their features, private whitening, and descent.

    `iterations` are those at μ = 1. `ridge` is added to eigenvalues, as a share of their mean. `constant` is the entry
    that carries the intercepts. With `absolute` |z| is appended, with `turned` also |R z|. Clips, norms and steps are
    for rows of norm 1.
    """

    name: str
    pixels: int
    colours: int
    features: FeatureMap
    groups: tuple[Group, ...]
    iterations: float
    clip: float = 0.05
    step_size: float = 100.0
    momentum: float = 0.9
    tail: float = 0.5
    ridge: float = 1.5
    constant: float = 0.1
    absolute: bool = True
    turned: bool = False
    classes: int = 10

    def steps(self, mu: float) -> int:
        """Number of gradient steps at a budget of μ."""
        return max(20, min(200, round(self.iterations * math.sqrt(mu))))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one image."""
        return (self.pixels, self.pixels) if self.colours == 1 else (self.pixels, self.pixels, self.colours)


RECIPES: Mapping[str, ImageRecipe] = MappingProxyType(
    {
        "mnist": ImageRecipe(
            "mnist",
            28,
            1,
            FeatureMap(coarse=True),
            (Group(50, 0.06, 1.0, 0.01, 0.02), Group(60, 0.025, 0.6, 0.005, 0.015)),
            iterations=140.0,
        ),
        "fashion": ImageRecipe(
            "fashion",
            28,
            1,
            FeatureMap(coarse=True, flips=True),
            (Group(60, 0.08, 1.0, 0.01, 0.02), Group(80, 0.04, 0.6, 0.005, 0.015)),
            iterations=160.0,
        ),
        "cifar10": ImageRecipe(
            "cifar10",
            32,
            3,
            FeatureMap(coarse=True, flips=True),
            (Group(100, 0.045, 1.0, 0.005, 0.018), Group(120, 0.035, 0.6, 0.002, 0.013)),
            iterations=95.0,
            # On 5,000 held-out training images, one run each: +0.7% at ε = 7.53, +0.2% at ε = 3. Untried on grey ones.
            turned=True,
        ),
    }
)
"""By the name that a user gives."""


def find_recipe(name: str | ImageRecipe) -> ImageRecipe:
    """The recipe of that name, or an error that lists them.

    Subclasses are refused: their methods would be run on private rows.
    """
    if type(name) is ImageRecipe and type(name.features) is FeatureMap:
        return name
    if not isinstance(name, str):
        raise SettingError("recipe must be a name or an ImageRecipe with a FeatureMap.")
    return RECIPES[one_of("recipe", name, RECIPES)]
