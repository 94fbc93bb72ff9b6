"""`glm()`: a formula, a table and a schema in; a private fit out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.cluster import Cluster
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.query import Progress
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.design.response import Continuous, Count, Positive
from tacit.documents.dataclass_json import to_plain
from tacit.engine.ledger_use import Refusals, require_price
from tacit.engine.table import Table
from tacit.errors import ClusterLost
from tacit.estimators.fit import Fit
from tacit.estimators.loss_choice import LossShape, loss_of
from tacit.estimators.public_rows import PublicRows, model_coefficients, prepared_start, start_fact
from tacit.estimators.settings import Settings, settings_of
from tacit.formula.formula import design_from_formula
from tacit.ledger.current_ledger import active_ledger, pinned
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.schema.schema import Schema
from tacit.solvers.fit_statistics import cap_of
from tacit.solvers.solver import SolverOptions


def glm(
    formula: str,
    data: Any,
    schema: Schema | Mapping[str, Any] | str | os.PathLike[str],
    family: str = "binomial",
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    budget: Budget | None = None,
    row_norm: float | None = None,
    solver: Any = "auto",
    output: str | None = None,
    iterations: int | None = None,
    step_size: float | None = None,
    sampling: str | None = None,
    batch_size: int | None = None,
    sample_rate: Any = None,
    max_passes: int | None = None,
    clip: float | None = None,
    noise_multiplier: float | None = None,
    warm_start: Any = None,
    radius: float | None = None,
    l2: float | None = None,
    prior_mean: Sequence[float] | None = None,
    constraint: Any = None,
    penalize_intercept: bool = False,
    threshold: float = 1.345,
    scale: float | None = None,
    quantile: float = 0.5,
    smoothing: float | None = None,
    alpha: float = 1.0,
    statistics: Sequence[str] | None = None,
    inference: bool | None = None,
    invalid_rows: str | None = None,
    random_state: int | None = None,
    cluster: Any = None,
    progress: Progress | None = None,
    on_plan: Callable[[Plan], None] | None = None,
) -> Fit:
    """Fit a generalised linear model under differential privacy.

    Guarantee: what is returned is (ε, δ)-differentially private for one unit of the schema, under its relation, given
    the public facts that `certificate` lists. Bounds and levels come from the schema, never from the table.

    Parameters
    ----------
    formula
        For example ``"readmit ~ age + C(ward)"``.
    data
        A pandas, polars or Arrow table, or CSV or Parquet files: a path, a folder, a pattern (``"year/*.parquet"``),
        a list of paths, or a pyarrow dataset.
    schema
        A `Schema`, the path of a TOML file, or a dict laid out like one.
    family
        "binomial" (a binary column), "multinomial" (a factor of three or more levels), "gaussian" (least squares),
        "huber" (large errors count less) or "quantile" (a numeric column, whose declared bounds are those of the
        response), or "poisson" (the mean of counts: a numeric column from 0 to its largest count). "probit" and
        "cloglog" are for a binary column too, "negative-binomial" for counts of variance m + alpha·m², "gamma" for
        a numeric column above 0; these two have the log link.
    epsilon, delta, budget
        The budget; ε has no default.
    threshold, scale, quantile, smoothing
        Of the families "huber" and "quantile", as in `HuberRegressor` and `QuantileRegressor`.
    alpha
        Of the family "negative-binomial": the dispersion of the counts, declared and not fitted.
    statistics
        What to pay for beside the coefficients, out of the same budget: ["deviance"], the mean deviance of a record
        at the released coefficients, with the noise on it. Without it nothing is told of how well the model fits.
    inference
        Whether to pay for standard errors and intervals out of the same budget. By default yes, unless a penalty, a
        constraint, or another solver than "auto" is asked for; "quantile" has none.
    solver
        "auto" (with intervals one step from a pilot), "newton", "majorised-newton", "whitened-gradient", "gradient",
        "output-perturbation", "objective-perturbation", "objective-perturbation-kst", "aggregate"; for "binomial" also
        "double-noise-newton", for "gaussian" also "moments" and "adassp". Only the first has intervals.
    cluster
        Where files are read and summed: the address of a Dask scheduler (``"tcp://127.0.0.1:8786"``), a number of
        worker processes on this machine, or a `Cluster`. A seeded fit has the bits of one without.
    progress
        Called with (done, total, label) after each public step.
    on_plan
        Called with the plan before anything is spent.

    The other parameters are those of `LogisticRegression`.
    """
    given = dict(locals())
    shape = LossShape(threshold, scale, quantile, smoothing, alpha)
    declared = Schema.of(schema)
    settings = settings_of({**given, **vars(declared)})
    design = design_from_formula(formula, declared, family=family, row_norm=row_norm)
    loss = loss_of(family, design.response, shape)
    facts = [*_facts(formula, design, row_norm), *shape.facts(family)]
    if settings.options.statistics:
        facts.append(PublicFact("statistics", {"deviance": {"clipped at": cap_of(loss)}}, "declared"))
    if warm_start is not None:
        settings = settings.starting_at(prepared_start(_started(formula, warm_start, settings, design, loss), design))
        facts.append(start_fact(warm_start))
    opening = {"progress": progress, "cluster": Cluster.of(cluster)}
    try:
        release = _fit(formula, data, settings, design, loss, facts, opening, on_plan)
    except ClusterLost as lost:
        raise lost.returning(lambda release: Fit.of(release, family)) from None
    return Fit.of(release, family)


def _started(formula: str, start: Any, settings: Settings, design: Design, loss: Loss) -> NDArray[np.float64]:
    """Coefficients to begin at: those of a model, or of this one on a public table."""
    if not isinstance(start, PublicRows):
        return model_coefficients(start, design)
    exact = replace(
        settings,
        budget=Budget(epsilon=math.inf),
        options=SolverOptions(),
        relation=Relation.REPLACE_ONE,
        invalid_rows=None,
        seed=None,
    )
    plain = replace(design, attached=replace(design.attached, weighting=None, unit=None))
    with pinned(None):
        return _fit(formula, start.X, exact, plain, loss, [], {}, None).coefficients()


def _fit(
    formula: str,
    data: Any,
    settings: Settings,
    design: Design,
    loss: Loss,
    facts: Sequence[PublicFact],
    opening: Mapping[str, Any],
    on_plan: Callable[[Plan], None] | None,
) -> Release:
    # A frame of its own, as in `Model.fit`: warnings of the table point to the caller of `glm`.
    # The ledger is asked for once: the one that decides about refusals is the one that is charged.
    with pinned(active_ledger()):
        refusals = Refusals.settle(settings.invalid_rows, label=loss.name, formula=formula, data=data)
        if isinstance(data, str | os.PathLike | list | tuple):
            # Before a file is opened: a schema tells all but the number of records.
            tried = settings.first_plan([(design, loss)], None)
            if settings.options.solver != "auto":
                # What a named solver asks for does not depend on their number.
                require_price(tried, private=tried.private and settings.seed is None)
        with refusals.logged():
            units = design.attached.unit is not None
            opened = Table(data, fewest=settings.fewest, grouped=units, reading=design.reading, **opening)
        with opened as table:
            common = settings.facts(table, refusals.invalid_rows, units=units)
            return table.fit(
                design,
                lambda n: settings.first_plan([(design, loss)], n).with_facts(*common, *facts),
                refusals=refusals,
                seed=settings.seed,
                on_plan=on_plan,
            )


def _facts(formula: str, design: Design, row_norm: float | None) -> list[PublicFact]:
    response = design.response
    facts: dict[str, Any] = {"formula": formula}
    if isinstance(response, Continuous | Positive):
        facts["y_bounds"] = [response.lower, response.upper]
    elif isinstance(response, Count):
        facts["y_max"] = response.upper
    else:
        facts["classes"] = list(response.classes)
    facts["bounds"] = {c.name: [c.lower, c.upper] for c in design.columns}
    facts |= {f"levels of {name}": list(levels) for name, levels in design.levels.items()}
    if row_norm is not None:
        facts["row_norm"] = row_norm
    facts |= {name: value for name, value in to_plain(design.attached).items() if value}
    return [PublicFact(name, value, "declared") for name, value in facts.items()]
