"""Properties that a fit must have for a solver, and how it is refused where it has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.contract.plan import Penalty
from tacit.errors import SettingError, TacitError
from tacit.losses.loss import Code
from tacit.solvers.solver import PublicFacts, SolverOptions


@dataclass(frozen=True)
class Requirement:
    """A property of loss, relation, design or options that a solver needs.

    `missing` is the refusal; `{solver}` and `{loss}` stand for what was asked for.
    """

    holds: Callable[[PublicFacts, SolverOptions], bool]
    missing: str
    error: type[TacitError] = SettingError


def require(requirements: Sequence[Requirement], facts: PublicFacts, options: SolverOptions) -> None:
    """Refuse a fit that misses a property, and name the first that is missing."""
    for requirement in requirements:
        if not requirement.holds(facts, options):
            said = {"solver": repr(options.solver), "loss": facts.loss.name}
            raise requirement.error(requirement.missing.format(**said))


def loss_is(*codes: Code) -> Callable[[PublicFacts, SolverOptions], bool]:
    """Return the property that the loss is one of these."""
    return lambda facts, _: facts.loss.code in codes


def declared_bounds(facts: PublicFacts, _: SolverOptions) -> bool:
    """Whether no bounds have to be found."""
    return not facts.design.open_places


def public_n(facts: PublicFacts, _: SolverOptions) -> bool:
    """Whether the number of records is public."""
    return facts.relation.n_is_public


def no_penalty(facts: PublicFacts, _: SolverOptions) -> bool:
    """Whether the coefficients are free."""
    return facts.penalty == Penalty()


def no_intervals(_: PublicFacts, options: SolverOptions) -> bool:
    """Whether no intervals are asked for."""
    return not options.inference


NO_INTERVALS = Requirement(
    no_intervals,
    'There are no intervals for solver={solver}: leave solver="auto", which has them, or set inference=False.',
)


def takes_no(solver: str, *names: str) -> list[Requirement]:
    """Return the requirements that some options are left out."""
    return [Requirement(leaves_out(name), f'solver="{solver}" takes no {name}: leave it out.') for name in names]


def leaves_out(name: str) -> Callable[[PublicFacts, SolverOptions], bool]:
    """Return the property that an option is left to the solver."""
    return lambda _, options: getattr(options, name) is None
