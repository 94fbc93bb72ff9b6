"""What a plan is made from: the user's wishes and the public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

from tacit.contract.plan import Penalty
from tacit.design.design import Design
from tacit.errors import SettingError
from tacit.losses import logistic
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

NEWTON, MAJORISED = "newton", "majorised-newton"
NEWTON_FORMS = (NEWTON, MAJORISED)
DESCENTS = ("gradient", "whitened-gradient")
MOMENTS, PERTURBED, DOUBLE_NOISE = "moments", "objective-perturbation", "double-noise-newton"
SOLVERS = ("auto", *DESCENTS, MOMENTS, *NEWTON_FORMS, PERTURBED, DOUBLE_NOISE)
OUTPUTS = ("average", "tail", "last")
LARGE_TABLE = 10**7
"""n·d from which passes over the data are capped by default."""
PASSES_OF_LARGE_TABLE = 30
PASSES = 1000


@dataclass(frozen=True)
class Wishes:
    """What the user fixed of the plan; None leaves it to the planner."""

    solver: str = "auto"
    output: str | None = None
    iterations: int | None = None
    step_size: float | None = None
    max_passes: int | None = None
    inference: bool = False

    def __post_init__(self) -> None:
        """Refuse what no plan can honour."""
        if self.solver not in SOLVERS:
            raise SettingError(f"solver must be one of {_listed(SOLVERS)}; got {self.solver!r}.")
        if self.output is not None and self.output not in OUTPUTS:
            raise SettingError(f"output must be one of {_listed(OUTPUTS)}; got {self.output!r}.")
        for name in ("iterations", "max_passes"):
            value = getattr(self, name)
            if value is not None and not (_is_whole(value) and value >= 1):
                raise SettingError(f"{name} must be a whole number of at least 1; got {value!r}.")
            object.__setattr__(self, name, None if value is None else int(value))
        if self.step_size is not None and not (
            _is_number(self.step_size) and 0 < self.step_size < math.inf
        ):
            raise SettingError(f"step_size must be positive and finite; got {self.step_size!r}.")
        if self.step_size is not None and not 1e-30 <= self.step_size <= 1e30:
            raise SettingError("step_size must lie between 1e-30 and 1e30.")


@dataclass(frozen=True)
class Facts:
    """The public facts a plan is made from. `records` is n, or n_at_least where n is private."""

    design: Design
    records: int
    relation: Relation
    unit: str
    budget: Budget
    penalty: Penalty
    loss: Loss = logistic.LOSS

    @property
    def coordinates(self) -> int:
        """Number of coefficients of all linear predictors."""
        return self.design.width * self.design.outputs

    @property
    def is_large(self) -> bool:
        """Whether passes over the data are capped by default."""
        return self.records * self.design.width >= LARGE_TABLE

    @property
    def counts(self) -> int:
        """Answers that it takes to know what the records come to: 0 where that is public, else 1.

        It is private where records are weighted, or added and removed.
        """
        return int(self.design.beside.weighting is not None or not self.relation.n_is_public)

    @property
    def sensitivity(self) -> float:
        """What one record can change in a sum of vectors of norm 1."""
        return 2.0 if self.relation is Relation.REPLACE_ONE else 1.0


def passes_allowed(facts: Facts, wishes: Wishes) -> int:
    """Return the public cap on passes over the data, of which counting the records may take one."""
    if wishes.max_passes is not None:
        return wishes.max_passes - facts.counts
    return (PASSES_OF_LARGE_TABLE if facts.is_large else PASSES) - facts.counts


def require_passes(wishes: Wishes, besides: int, each: int = 1) -> None:
    """Refuse a cap that leaves no step of descent, of `each` answers, besides the others."""
    least = besides + (wishes.iterations or 1) * each
    if wishes.max_passes is not None and wishes.max_passes < least:
        raise SettingError(f"max_passes must be at least {least} for this plan.")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(repr(name) for name in names)
