"""Parameters that estimators share, each written and documented once.

An estimator is a dataclass: its fields are the parameters that scikit-learn finds in `__init__`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar, dataclass_transform

from numpy.typing import ArrayLike

from tacit.ledger import current_ledger
from tacit.privacy.budget import Budget

_T = TypeVar("_T")
_GUARANTEE = "Guarantee:"
_SHARED = (_GUARANTEE, "Parameters", "Attributes")
"""Parts of a docstring that an estimator takes over from its bases. The first is a list, no section of numpydoc's."""
_LISTED = re.compile(rf"^{_GUARANTEE}\n\n((?:(?:- |  ).*(?:\n|$))+)", re.MULTILINE)
_SECTION = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: type[_T]) -> type[_T]:
    """Make a class an estimator whose parameters are its fields and those of its bases.

    Only `epsilon` and `delta` may be given by position. Shared sections of the bases' docstrings follow its own.
    """
    made = dataclass(eq=False, repr=False, kw_only=True)(cls)
    own, *bases = (_sections(base) for base in (made, *reversed(made.__mro__[1:])))
    parts = [own.pop("")]
    for title in dict.fromkeys((*_SHARED, *own)):
        sources = (own, *bases) if title in _SHARED else (own,)
        bodies = [sections[title] for sections in sources if title in sections]
        if bodies:
            line = "" if title == _GUARANTEE else "-" * len(title)
            parts.append(f"{title}\n{line}\n" + "\n".join(bodies))
    made.__doc__ = "\n\n".join(parts)
    return made


def _sections(cls: type) -> dict[str, str]:
    """Sections of a class's own docstring by title, the text before them by ""."""
    first, *pieces = _SECTION.split(inspect.cleandoc(vars(cls).get("__doc__") or ""))
    titled = zip(pieces[::2], pieces[1::2], strict=True)
    found = {title: body.strip() for title, body in titled}
    if (listed := _LISTED.search(first)) is not None:
        found[_GUARANTEE] = listed[1].strip()
        first = first.replace(listed[0], "")
    return {"": first.strip(), **found}


@dataclass(eq=False, repr=False)
class CommonParameters:
    """Parameters of every estimator.

    Guarantee:

    - The fitted attributes are (ε, δ)-differentially private for one record under `relation` (for one unit where units
      are given), given the public facts that `certificate_` lists.
    - Feature values outside the declared bounds act as if they stood on them.
    - Without declared bounds nothing is fitted: they are never read off the data.

    Parameters
    ----------
    epsilon, delta
        The budget. ε has no default. δ defaults to min(1e-5, n^-1.1), or, where n is private, to min(1e-6,
        n_at_least^-1.1). δ = 0 is pure privacy, for solvers that can.
    budget
        A `tacit.Budget` in their place.
    bounds
        Public bounds of the features: (lower, upper) for all, a pair for each column, a dict of pairs by name, or the
        sequences of all lower and of all upper ends. "private": part of the budget is spent on finding them.
    row_norm
        Public bound on the L2 norm of a feature row, after mapping to [-1, 1] if bounds are given.
    relation
        "replace-one" (n public), "zero-out" (n public) or "add-remove" (declare `n_at_least`).
    n_at_least
        Public lower bound on the number of records, for add-remove.
    solver
        "auto", or one of the solvers in docs/solvers.md: "whitened-gradient", "gradient", "stochastic", "newton",
        "majorised-newton", "output-perturbation", "objective-perturbation", "objective-perturbation-kst",
        "exponential", "aggregate", "frank-wolfe", "zeroth-order"; for two classes also "double-noise-newton"; for least
        squares also "moments" and "adassp". Or an object with `plan` and `run`, a solver of your own
        (docs/extending.md).
    max_weight
        Public largest weight of a record, for `sample_weight`; larger ones are capped.
    max_rows_per_unit
        How many records of one unit are used, for `units`. The guarantee then is for units.
    invalid_rows
        "error" refuses a table with NaN, infinite or undeclared entries, or text in place of numbers; "zero" lets such
        records contribute nothing. A column of text is refused with "error". None: "error" outside a ledger, where the
        certificate then lists that every record is valid as assumed; inside one "zero", and "error" only if the ledger
        allows refusals.
    random_state
        A seed for reproducible noise, for tests: the certificate then says `private: false`.

    Attributes
    ----------
    release_, plan_, certificate_
        The private release, the plan that paid for it, and what was guaranteed.
    """

    epsilon: float | None = None
    delta: float | None = None
    _: KW_ONLY
    budget: Budget | None = None
    bounds: ArrayLike | Mapping[str, Any] | str | None = None
    row_norm: float | None = None
    relation: str = "replace-one"
    n_at_least: int | None = None
    solver: Any = "auto"
    max_weight: float | None = None
    max_rows_per_unit: int | None = None
    invalid_rows: str | None = None
    random_state: int | None = None

    def __post_init__(self) -> None:
        """Note which ledger's block the estimator was created in; parameters stay unchecked."""
        current_ledger.born(self)


@dataclass(eq=False, repr=False, kw_only=True)
class RegressionParameters:
    """Parameters of every estimator with coefficients.

    Guarantee:

    - `predict` and `score` on private records are not private.

    Parameters
    ----------
    output
        "average" of all iterates, their "tail" half, or the "last"; None: the solver's default.
    iterations, step_size
        None: planned from public facts. A Newton step is at most 1, which is the full one.
    sampling, batch_size, sample_rate
        For solver="stochastic": how batches are drawn ("poisson", "without-replacement", "with-replacement"), and their
        expected size or their share of the records. None: Poisson batches of a planned size.
    max_passes
        Public cap on passes over the data; None: 30 where n·d ≥ 10^7 (38 with `inference`), else 1000.
    clip, noise_multiplier
        Set by hand, for solver="gradient" (the clip also for "stochastic"): the largest norm of a unit's gradient in
        prepared coordinates, and the noise of an answer over its sensitivity. With `iterations` the multiplier fixes
        the cost, and epsilon may be left out.
    warm_start
        Where solver="gradient" begins: rows that are `tacit.public`, on which the same model is fitted first, a model
        that is, or a fitted model whose certificate is private.
    radius
        Radius of a ball that holds the slopes; None: no constraint.
    l2, prior_mean
        Ridge penalty (l2 / 2)·‖coef - prior_mean‖² on the slopes; `prior_mean` defaults to 0. None: no penalty, or that
        of the solver where it needs one.
    penalize_intercept
        Whether `radius` and `l2` bound the intercept too.
    constraint
        A set of `tacit.constraints` that holds the slopes; None: none.
    fit_intercept
        Whether to add an intercept.
    feature_map
        A public row-wise map from features to further ones: `tacit.Polynomial`, `tacit.RandomFourier`, or another of
        `tacit.design.feature_map`.
    inference
        Whether the plan pays for standard errors and intervals, out of the same budget. "auto" then is one step from a
        pilot fit, and both descents run in whitened coordinates.
    """

    output: str | None = None
    iterations: int | None = None
    step_size: float | None = None
    sampling: str | None = None
    batch_size: int | None = None
    sample_rate: Any = None
    max_passes: int | None = None
    clip: float | None = None
    noise_multiplier: float | None = None
    warm_start: Any = None
    radius: float | None = None
    l2: float | None = None
    prior_mean: Sequence[float] | None = None
    constraint: Any = None
    penalize_intercept: bool = False
    fit_intercept: bool = True
    feature_map: Any = None
    inference: bool = False
