"""Everything that can be audited, by name: estimators, solvers and mechanisms.

A new solver, or a new form of one, is one line in `SOLVER_FITS`; a new query is one line in `QUERIES` of
`single_answers.py`. What is neither is an `Attack` of its own in `OTHERS`. A test fails for what has no entry.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from tacit.audit.attack import Attack, Subject
from tacit.audit.fits import AuditedFit
from tacit.audit.simulated_pairs import FAR, Outcome, lone_row, opposed_rows, overshot_row
from tacit.audit.single_answers import QUERIES, relations_of
from tacit.errors import SettingError
from tacit.estimators.classifiers import LinearSVC, LogisticRegression
from tacit.estimators.regressors import (
    GaussianMean,
    HuberRegressor,
    LinearRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from tacit.privacy.relation import Relation

STEPS = 10
_FAR_START: Mapping[str, Any] = {
    "row_norm": 1.0,
    "solver": "gradient",
    "iterations": STEPS,
    "step_size": 0.01,
    "output": "last",
    "prior_mean": (0.0, FAR),
}
"""Short steps from a public start where all slopes are at their bounds; the last iterate adds up all gradients."""


def _opposed(estimator: Callable[..., Any], outcome: Outcome, **settings: Any) -> AuditedFit:
    """An estimator attacked by its coefficients, with two rows whose gradients are opposed."""
    return AuditedFit(
        estimator.__name__,
        partial(estimator, **_FAR_START, **settings),
        outcome,
        Relation.REPLACE_ONE,
        pair=opposed_rows,
        coefficients=(1.0, 0.0, 1.0),
    )


ESTIMATORS = (
    _opposed(LogisticRegression, Outcome.LABELS),
    _opposed(LinearSVC, Outcome.LABELS),
    _opposed(LinearRegression, Outcome.NUMBERS),
    _opposed(Ridge, Outcome.NUMBERS),
    _opposed(HuberRegressor, Outcome.NUMBERS, scale=0.1),
    _opposed(QuantileRegressor, Outcome.NUMBERS, smoothing=0.1),
    AuditedFit(
        "PoissonRegressor",
        partial(PoissonRegressor, **_FAR_START),
        Outcome.COUNTS,
        pair=overshot_row,
        coefficients=(-1.0, 0.0, -1.0),
    ),
    AuditedFit(
        "GaussianMean",
        partial(GaussianMean, solver="gradient"),
        Outcome.NONE,
        pair=lone_row,
        coefficients=(1.0, 1.0, 1.0),
    ),
)
SOLVER_FITS = (
    AuditedFit("auto", LogisticRegression),
    AuditedFit("gradient", partial(LogisticRegression, **_FAR_START), relation=Relation.REPLACE_ONE, pair=opposed_rows),
    AuditedFit("whitened-gradient", partial(LogisticRegression, solver="whitened-gradient")),
    AuditedFit("staged-gradient", partial(HuberRegressor, solver="whitened-gradient"), Outcome.NUMBERS, pair=lone_row),
    AuditedFit("one-step", partial(LogisticRegression, inference=True), records=256),
    AuditedFit("moments", partial(LinearRegression, solver="moments"), Outcome.NUMBERS, pair=lone_row),
    AuditedFit("newton", partial(LogisticRegression, solver="newton")),
    AuditedFit("majorised-newton", partial(LinearRegression, solver="majorised-newton"), Outcome.NUMBERS),
    AuditedFit("double-noise-newton", partial(LogisticRegression, solver="double-noise-newton")),
    AuditedFit(
        "objective-perturbation", partial(LogisticRegression, solver="objective-perturbation"), approximate=True
    ),
    AuditedFit("intercept-only", LogisticRegression, records=2, columns=lambda mu: 2 + math.ceil(2 * mu)),
    AuditedFit("mean", partial(GaussianMean, solver="gradient"), Outcome.NONE, pair=lone_row),
    AuditedFit("whitened-mean", GaussianMean, Outcome.NONE, records=256, pair=lone_row),
    AuditedFit("several-classes", partial(LogisticRegression, solver="whitened-gradient"), Outcome.CLASSES),
    AuditedFit("private-bounds", lambda **given: LogisticRegression(**{**given, "bounds": "private"})),
    AuditedFit("counted-records", partial(LogisticRegression, solver="newton"), relation=Relation.ADD_REMOVE),
)
OTHERS: tuple[Attack, ...] = ()


def _query_attacks() -> list[Attack]:
    """An attack on each query for each relation; by its name alone under the first of these."""
    found = []
    for query, case in QUERIES.items():
        for number, relation in enumerate(relations_of(query)):
            name = query.__name__ if number == 0 else f"{query.__name__}:{relation}"
            found.append(Attack(name, Subject.MECHANISM, partial(case.worlds, relation)))
    return found


ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {
        attack.name: attack
        for attack in (
            *(Attack(fit.name, Subject.ESTIMATOR, fit.worlds) for fit in ESTIMATORS),
            *(Attack(fit.name, Subject.SOLVER, fit.worlds) for fit in SOLVER_FITS),
            *_query_attacks(),
            *OTHERS,
        )
    }
)
"""Every attack by its name."""
REPLAYED: Mapping[str, AuditedFit] = MappingProxyType({fit.name: fit for fit in (*ESTIMATORS, *SOLVER_FITS)})
"""Fits whose transcripts are replayed, by name."""


def find(name: str, among: Mapping[str, Any] = ATTACKS) -> Any:
    """Return the entry of a name, or refuse it with the names there are."""
    if name in among:
        return among[name]
    close = difflib.get_close_matches(str(name), among, 1, 0.5)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    raise SettingError(f"nothing called {str(name)[:60]!r} can be audited.{guess} There are: {', '.join(among)}")
