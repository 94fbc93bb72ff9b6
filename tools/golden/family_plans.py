"""Plans and runs of the families that only `tacit.glm` has, and of statistics of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import tacit
from tacit.privacy.budget import Budget

Settings = Mapping[str, Any]
LARGEST = 30
SIZES = (300, 2000, 9000, 100_000)
MU = 0.1


@dataclass(frozen=True)
class FamilyModel:
    """A model by formula, planned like an estimator."""

    family: str
    settings: Settings = field(default_factory=dict)
    max_weight: None = None

    def plan(self, n: int, d: int) -> Any:
        """Plan a fit of d features."""
        names = [f"x{j}" for j in range(d)]
        labels = self.family in {"probit", "cloglog", "binomial"}
        columns: dict[str, Any] = {name: {"type": "numeric", "lower": -1, "upper": 1} for name in names}
        columns["y"] = {"type": "binary"} if labels else {"type": "numeric", "lower": 0, "upper": LARGEST}
        schema = tacit.Schema.from_mapping({"columns": columns})
        return tacit.plan(f"y ~ {' + '.join(names)}", schema, n=n, family=self.family, **self.settings).plan


def family_model(family: str, *, bounds: object = None, **settings: Any) -> FamilyModel:
    """A model with settings of `glm`; bounds are those of its schema."""
    del bounds
    return FamilyModel(family, settings)


NAMES = ("probit", "cloglog", "gamma", "negative-binomial")
MODELS: Mapping[str, tuple[Callable[..., Any], Settings]] = {
    **{name: (partial(family_model, name), {}) for name in (*NAMES, "gaussian")},
    "poisson by formula": (partial(family_model, "poisson"), {}),
}
SCRIPTS = ("ordinary", "noisy", "drowned", "long", "none", "all")
"""Scripts of answers under which their solvers are run."""


def cases() -> Iterator[tuple[str, str, int, int, Settings]]:
    """Plans with intervals and without, and with a deviance at small and large n·μ."""
    budget = Budget(mu=MU, delta=1e-6)
    for name in NAMES:
        for n in SIZES:
            for inference in (True, False):
                yield f"{name} n={n} {inference}", name, n, 3, {"budget": budget, "inference": inference}
    for name in ("probit", "gaussian", "poisson by formula"):
        for n in (1000, 40_000, 70_000, 150_000, 10**6):
            asked = {"budget": budget, "inference": False, "statistics": ["deviance"]}
            yield f"{name} with a deviance n={n}", name, n, 3, asked


def runs() -> Iterator[tuple[str, str, int, Settings]]:
    """Fits on scripted answers."""
    for name in NAMES:
        for n in (4000, 100_000):
            for inference in (True, False):
                yield f"{name} run n={n} {inference}", name, n, {"inference": inference}
        yield f"{name} level", name, 200, {}
        yield f"{name} run of very many", name, 10**9, {"inference": True}
