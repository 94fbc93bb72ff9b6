"""From a release to the parts of its summary: header, lines, and what must be said below them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan
from tacit.contract.release import Release
from tacit.design.response import Binary, Count, Response
from tacit.errors import SettingError
from tacit.inference.estimates import Estimated
from tacit.inference.reliability import Judgement, not_offered
from tacit.inference.summary import Facts, Line
from tacit.losses.loss import Code

MODELS: Mapping[Code, str] = MappingProxyType(
    {
        Code.LOGISTIC: "binomial, logit link",
        Code.SOFTMAX: "multinomial, softmax link",
        Code.SQUARED: "gaussian, identity link",
        Code.HUBER: "huber, identity link",
        Code.POISSON: "poisson, log link",
        Code.PINBALL: "quantile, identity link",
        Code.HINGE: "support vector machine",
        Code.DISTANCE: "mean",
    }
)
BOUNDED: Mapping[Code, str] = MappingProxyType(
    {
        Code.SQUARED: "Errors far from their center count less (Huber's score): under errors that "
        "are not symmetric the intercept is that of their center, not of their mean.",
        Code.POISSON: "Counts far from their rate count less, and are centred again by their "
        "dispersion: the target is the rate of all but outliers.",
    }
)
"""What the private route with intervals estimates in place of the plain model's target."""


def facts_of(release: Release) -> Facts:
    """The header: family, records, guarantee, method."""
    plan = release.plan
    why = None
    if not plan.private:
        why = "no noise was added"
    elif release.reproducible:
        why = "the noise came from a fixed seed"
    return Facts(
        model=MODELS.get(plan.loss.code, plan.loss.name),
        response=plan.design.response.column,
        records=plan.records,
        records_at_least=not plan.relation.n_is_public,
        guarantee=plan.guarantee(),
        not_private=why,
        method=plan.solver.name,
        passes=plan.queries if plan.private else None,
    )


def coefficient_lines(
    names: Sequence[str],
    values: NDArray[np.float64],
    found: Estimated | None,
    ends: NDArray[np.float64] | None,
    exponentiate: bool,
) -> tuple[Line, ...]:
    """A line a coefficient, as it is or as a ratio."""
    shown = ratios(values) if exponentiate else values
    if found is None or ends is None:
        return tuple(Line(name, value) for name, value in zip(names, shown.tolist(), strict=True))
    errors = found.std_errors
    if exponentiate:
        errors, ends = shown * errors, ratios(ends)
    columns = {
        "coef": shown,
        "std_err": errors,
        "statistic": found.statistics,
        "pvalue": found.pvalues,
        "lower": ends[:, 0],
        "upper": ends[:, 1],
        "privacy_share": found.privacy_share,
    }
    return tuple(
        Line(
            name=name,
            statement=found.statements[place],
            **{field: float(column[place]) for field, column in columns.items()},
        )
        for place, name in enumerate(names)
    )


def ratios(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exponentials of log odds or log rates; infinite beyond the range of floats."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))


def ratio_name(response: Response) -> str:
    """What the exponential of a coefficient is called, where it is anything."""
    match response:
        case Binary():
            return "odds ratio"
        case Count():
            return "rate ratio"
    raise SettingError(
        "exponentiate=True is for two classes (odds ratios) and counts (rate ratios)."
    )


def notes_of(release: Release, judgement: Judgement | None) -> tuple[str, ...]:
    """Sentences below the table: why intervals are not nominal, and what is estimated."""
    plan = release.plan
    if judgement is None:
        reason = None if release.sandwich is None else not_offered(plan)
        return () if reason is None else (f"Intervals are not offered: {reason}.",)
    notes = []
    if judgement.reasons:
        notes.append(f"Not nominal, because {'; '.join(judgement.reasons)}.")
    if judgement.intercept_reasons:
        notes.append(f"Intercept: approximate, because {'; '.join(judgement.intercept_reasons)}.")
    if plan.private and plan.loss.code in BOUNDED:
        notes.append(BOUNDED[plan.loss.code])
    return (*notes, *_degrees(plan))


def _degrees(plan: Plan) -> tuple[str, ...]:
    if math.isinf(plan.signal):
        return ("Robust standard errors (HC0), normal quantiles.",)
    return ()
