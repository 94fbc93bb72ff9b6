"""Properties that a fit must have for a solver, and how it is refused where it has not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tacit.contract.plan import Penalty
from tacit.errors import SettingError, TacitError
from tacit.losses.black_box import BlackBoxLoss
from tacit.losses.loss import LOG_LINKED, TWO_LABELS, Code, Loss
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


NEEDS: Mapping[str, str] = {
    "moments": "the squared loss",
    "newton": "bounds on the curvature",
    "majorised-newton": "bounds on the curvature",
    "double-noise-newton": "bounds on the curvature",
    "whitened-gradient": "a known scale of the slopes",
}
"""What solvers but "gradient" need of a loss; those that are not listed need convexity and smoothness."""
HAND_SET = ("clip", "noise_multiplier", "start")


def is_for_gradient(facts: PublicFacts, options: SolverOptions) -> bool:
    """Whether a fit is one of plain noisy gradients: of an own loss, or with numbers set by hand."""
    return facts.loss.code is Code.OWN or any(getattr(options, name) is not None for name in HAND_SET)


def require_gradient(facts: PublicFacts, options: SolverOptions) -> None:  # noqa: C901 - one branch a refusal
    """Refuse an own loss, or numbers set by hand, where a solver or intervals need more than slopes."""
    if not is_for_gradient(facts, options):
        return
    solver, own = options.solver, facts.loss.code is Code.OWN
    what = "an own loss" if own else "fits with clip, noise_multiplier or warm_start set by hand"
    if options.inference:
        raise SettingError(f"There are no intervals for {what}: set inference=False.")
    if isinstance(facts.loss, BlackBoxLoss) and solver != "zeroth-order":
        raise SettingError('Of a black-box loss only values are known: use solver="zeroth-order".')
    if not isinstance(solver, str) or (own and solver == "zeroth-order"):
        return
    if solver in {"auto", "gradient"}:
        if facts.design.open_places:
            raise SettingError(f'There must be declared bounds for {what}, not "private" ones.')
        if facts.loss.relative:
            found = "the scale of the residuals would have to be found first"
            raise SettingError(f"There must be a declared scale or smoothing for {what}: {found}.")
        if not facts.relation.n_is_public:
            instead = 'relation="zero-out", whose sums have the same sensitivity'
            raise SettingError(f"There must be a public n for {what}: use {instead}.")
        return
    if own:
        need = NEEDS.get(solver, "convexity and smoothness")
        why = "clipping enforces the bound on its slope, and nothing enforces the rest"
        raise SettingError(f'solver="{solver}" needs {need}. Of an own loss {why}: use solver="gradient".')
    if solver == "stochastic" and options.noise_multiplier is None and options.start is None:
        return
    raise SettingError(f'solver="{solver}" takes no clip, noise_multiplier or warm_start: use solver="gradient".')


def has_intervals(loss: Loss) -> bool:
    """Whether private fits of a loss can have intervals."""
    return loss.code in {*TWO_LABELS, *LOG_LINKED, Code.SOFTMAX, Code.SQUARED, Code.HUBER}


def takes_no(solver: str, *names: str) -> list[Requirement]:
    """Return the requirements that some options are left out."""
    return [Requirement(leaves_out(name), f'solver="{solver}" takes no {name}: leave it out.') for name in names]


def leaves_out(name: str) -> Callable[[PublicFacts, SolverOptions], bool]:
    """Return the property that an option is left to the solver."""
    return lambda _, options: getattr(options, name) is None
