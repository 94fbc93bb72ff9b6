"""Everything that can be audited, by name: estimators, solvers and mechanisms.

A new solver, or a new form of one, is one line in `SOLVER_FITS`, with ":pure" after its name for its form with δ = 0;
a new query is one line in `QUERIES` (or `PURE_QUERIES`) of `single_answers.py`. What is neither is an `Attack` of its
own in `OTHERS`. A test fails for what has no entry.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from tacit.audit.attack import Attack, Subject, approximate_budget, gaussian_budget, pure_budget
from tacit.audit.block_answers import BLOCK_QUERIES
from tacit.audit.deep_points import DEEP_FIT, deep_fit
from tacit.audit.fits import AuditedFit
from tacit.audit.grouped_answers import GROUPED_QUERIES
from tacit.audit.holdout_claims import holdout_claims
from tacit.audit.image_fits import image_fit
from tacit.audit.network_fits import (
    classifier_fit,
    one_gradient,
    regressor_fit,
    scattering_fit,
    training,
    whole_training,
)
from tacit.audit.poisoning import one_poison
from tacit.audit.programs import (
    Detector,
    LineQueries,
    ask_by_class,
    ask_line,
    ask_solver,
    audited_loss,
    class_totals,
    evaluated_labels,
    hand_set_gradient,
    released_moments,
)
from tacit.audit.simulated_pairs import (
    FAR,
    Outcome,
    contrary_row,
    level_rows,
    lone_row,
    opposed_rows,
    overshot_row,
    sole_level,
    sole_opposed_row,
    sole_row,
)
from tacit.audit.single_answers import PURE_QUERIES, QUERIES, relations_of
from tacit.constraints.region import L1Ball
from tacit.contract.batches import Sampling
from tacit.errors import SettingError
from tacit.estimators.classifiers import LinearSVC, LogisticRegression
from tacit.estimators.covariance import Covariance
from tacit.estimators.hypotheses import HypothesisClassifier
from tacit.estimators.naive_bayes import GaussianNB
from tacit.estimators.own_loss import MarginClassifier, MarginRegressor
from tacit.estimators.pate import PATE
from tacit.estimators.regressors import (
    GaussianMean,
    HuberRegressor,
    LinearRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from tacit.estimators.subsample_aggregate import SubsampleAggregate
from tacit.estimators.whitening import PrivateWhitener
from tacit.privacy.budget import Budget
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

    def make(**given: Any) -> Any:
        # A loss of one's own is compiled when it is needed.
        made = {name: it() if callable(it) else it for name, it in settings.items()}
        return estimator(**_FAR_START, **made, **given)

    return AuditedFit(
        estimator.__name__, make, outcome, Relation.REPLACE_ONE, pair=opposed_rows, coefficients=(1.0, 0.0, 1.0)
    )


OBJECTIVE, OUTPUT = "objective-perturbation", "output-perturbation"
KST = "objective-perturbation-kst"
_LOSSES: tuple[tuple[str, Callable[..., Any], Outcome, Mapping[str, Any]], ...] = (
    ("", LogisticRegression, Outcome.LABELS, {}),
    (":hinge", LinearSVC, Outcome.LABELS, {}),
    (":softmax", LogisticRegression, Outcome.CLASSES, {}),
    (":linear", LinearRegression, Outcome.NUMBERS, {}),
    (":huber", HuberRegressor, Outcome.NUMBERS, {"scale": 0.1}),
    (":quantile", QuantileRegressor, Outcome.NUMBERS, {"smoothing": 0.1}),
    # The ridge is so strong that the slope of the hinge is at its bound, wherever the minimum is.
    (":l2", LinearSVC, Outcome.LABELS, {"l2": 1.0}),
)
"""What is minimised under noise: for the name, the estimator, its response and its settings."""


def _perturbed(solver: str, budget: Callable[[float], Budget]) -> list[AuditedFit]:
    """A solver that minimises, for every loss that it takes."""
    pure = ":pure" if budget is pure_budget else ""
    pair = sole_row if solver == OUTPUT else contrary_row
    return [
        AuditedFit(f"{solver}{loss}{pure}", partial(made, solver=solver, **given), outcome, pair=pair, budget=budget)
        for loss, made, outcome, given in _LOSSES
        if (solver, outcome) != (KST, Outcome.CLASSES)
    ]


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
    AuditedFit(
        "Covariance",
        partial(Covariance, solver="moments"),
        Outcome.NONE,
        pair=lone_row,
        coefficients=(1.0,) * 9,
        seen=released_moments,
    ),
    AuditedFit(
        "PrivateWhitener",
        partial(PrivateWhitener, solver="moments"),
        Outcome.NONE,
        pair=lone_row,
        coefficients=(1.0,) * 9,
        seen=released_moments,
    ),
    AuditedFit(
        "GaussianNB", GaussianNB, pair=level_rows, coefficients=(1.0,) * 5, seen=class_totals, program=ask_by_class
    ),
    AuditedFit(
        "SubsampleAggregate",
        partial(SubsampleAggregate, estimator=Detector(), output_bounds=(-1, 1), blocks=8, jackknife=False),
        Outcome.NUMBERS,
        pair=lone_row,
        program=ask_solver,
    ),
    AuditedFit("PATE", partial(PATE, teacher=Detector(), teachers=8), pair=lone_row, program=ask_solver),
    AuditedFit(
        "HypothesisClassifier",
        partial(HypothesisClassifier, hypotheses=((0.0, 1.0, 0.0), (0.0, -1.0, 0.0))),
        pair=sole_row,
        budget=pure_budget,
    ),
    _opposed(MarginClassifier, Outcome.LABELS, loss=audited_loss),
    _opposed(MarginRegressor, Outcome.NUMBERS, loss=audited_loss),
)
# In so small a ball the slope of a record stays at its clip, however the walk goes.
_WALK = partial(LogisticRegression, solver="frank-wolfe", constraint=L1Ball(0.2), iterations=STEPS)
_SLOPES = partial(_WALK, fit_intercept=False)
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
    # Alone in its block, a record turns the block's least squares from one end of the ball to the other.
    AuditedFit(
        "aggregate",
        partial(LinearRegression, solver="aggregate"),
        Outcome.NUMBERS,
        relation=Relation.REPLACE_ONE,
        columns=1,
        pair=sole_level,
    ),
    AuditedFit(
        "subsample-and-aggregate:median",
        partial(
            SubsampleAggregate,
            estimator=Detector(),
            output_bounds=(-1, 1),
            blocks=8,
            jackknife=False,
            aggregator="median",
        ),
        Outcome.NUMBERS,
        pair=lone_row,
        budget=approximate_budget,
        program=ask_solver,
    ),
    AuditedFit(
        "teachers:confident",
        partial(PATE, teacher=Detector(), teachers=8, threshold=0.6, answers=10),
        pair=lone_row,
        program=ask_solver,
    ),
    AuditedFit("adassp", partial(LinearRegression, solver="adassp"), Outcome.NUMBERS, pair=lone_row),
    *_perturbed(OBJECTIVE, approximate_budget),
    *_perturbed(KST, approximate_budget),
    *_perturbed(OUTPUT, gaussian_budget),
    *_perturbed(OBJECTIVE, pure_budget),
    *_perturbed(OUTPUT, pure_budget),
    AuditedFit("gradient:by-hand", partial(hand_set_gradient, iterations=STEPS)),
    AuditedFit("frank-wolfe", _SLOPES, pair=sole_row, budget=approximate_budget),
    AuditedFit("frank-wolfe:constant", _WALK, pair=sole_row, budget=approximate_budget),
    AuditedFit("frank-wolfe:pure", partial(_SLOPES, iterations=1), pair=sole_row, budget=pure_budget),
    AuditedFit("exponential", partial(LogisticRegression, solver="exponential"), columns=3),
    AuditedFit("exponential:grid", partial(LinearSVC, solver="exponential"), columns=1, budget=approximate_budget),
    AuditedFit("exponential:pure", partial(LogisticRegression, solver="exponential"), columns=1, budget=pure_budget),
    AuditedFit("zeroth-order", partial(LogisticRegression, solver="zeroth-order", iterations=STEPS)),
    # Fewer columns have a direction instead of a level.
    AuditedFit("intercept-only", LogisticRegression, records=2, columns=200),
    AuditedFit("mean", partial(GaussianMean, solver="gradient"), Outcome.NONE, pair=lone_row),
    AuditedFit("whitened-mean", GaussianMean, Outcome.NONE, records=256, pair=lone_row),
    AuditedFit("mean:pure", GaussianMean, Outcome.NONE, pair=lone_row, budget=pure_budget),
    AuditedFit("covariance", Covariance, Outcome.NONE, records=256, pair=lone_row),
    AuditedFit("statistical-queries", LineQueries, Outcome.NONE, pair=lone_row, program=ask_line),
    AuditedFit("evaluation", evaluated_labels, pair=lone_row),
    AuditedFit("several-classes", partial(LogisticRegression, solver="whitened-gradient"), Outcome.CLASSES),
    AuditedFit("private-bounds", lambda **given: LogisticRegression(**{**given, "bounds": "private"})),
    AuditedFit("counted-records", partial(LogisticRegression, solver="newton"), relation=Relation.ADD_REMOVE),
)
_BATCHES = AuditedFit(
    "stochastic",
    partial(LogisticRegression, **{**_FAR_START, "solver": "stochastic"}, sample_rate=0.5, clip=1.0),
    pair=sole_opposed_row,
    budget=approximate_budget,
    coefficients=(1.0, 0.0, 1.0),
)
_BATCH = replace(_BATCHES, make=partial(_BATCHES.make, iterations=1))
_FIXED_SIZES = tuple(
    replace(
        _BATCHES,
        name=f"stochastic:{sampling}",
        make=partial(_BATCHES.make, sampling=sampling),
        relation=Relation.REPLACE_ONE,
    )
    for sampling in (Sampling.WITHOUT_REPLACEMENT, Sampling.WITH_REPLACEMENT)
)
OTHERS: tuple[Attack, ...] = (
    # Which batch was drawn is not known, so their answers have no likelihood ratio: the coefficients are seen.
    Attack(_BATCHES.name, Subject.SOLVER, _BATCHES.worlds),
    *(Attack(fit.name, Subject.SOLVER, fit.worlds) for fit in _FIXED_SIZES),
    Attack("stochastic:poisoned", Subject.SOLVER, one_poison),
    Attack("BatchGradientSum", Subject.MECHANISM, _BATCH.worlds),
    *(
        Attack(f"{query.__name__}{of}", Subject.MECHANISM, partial(case.worlds, relation))
        for query, case in GROUPED_QUERIES.items()
        for of, relation in (("", Relation.REPLACE_ONE), (":zero-out", Relation.ZERO_OUT))
    ),
    Attack("ImageClassifier", Subject.ESTIMATOR, image_fit),
    # Of networks the attacker sees the last weights.
    Attack("DPClassifier", Subject.ESTIMATOR, classifier_fit),
    Attack("DPRegressor", Subject.ESTIMATOR, regressor_fit),
    Attack("DPTrainer", Subject.ESTIMATOR, whole_training),
    Attack("network-descent", Subject.SOLVER, training),
    Attack("NetworkGradient", Subject.MECHANISM, one_gradient),
    # Here every answer is seen.
    Attack("ScatteringClassifier", Subject.ESTIMATOR, scattering_fit),
    *(
        Attack(query.__name__, Subject.MECHANISM, partial(case.worlds, Relation.REPLACE_ONE))
        for query, case in BLOCK_QUERIES.items()
    ),
    # Its tables depend on the price: the stability test must be near its threshold.
    Attack(DEEP_FIT.name, Subject.ESTIMATOR, deep_fit),
    Attack("ReusableHoldout", Subject.MECHANISM, holdout_claims),
)


def _query_attacks() -> list[Attack]:
    """An attack on each query for each relation; by its name alone under the first of these. Pure ones under this."""
    found = []
    for query, case in QUERIES.items():
        for number, relation in enumerate(relations_of(query)):
            name = query.__name__ if number == 0 else f"{query.__name__}:{relation}"
            found.append(Attack(name, Subject.MECHANISM, partial(case.worlds, relation)))
    for query, case in PURE_QUERIES.items():
        worlds = partial(case.worlds, relations_of(query)[0])
        found.append(Attack(f"{query.__name__}:pure", Subject.MECHANISM, worlds))
    return found


_ALL = (
    *(Attack(fit.name, Subject.ESTIMATOR, fit.worlds) for fit in ESTIMATORS),
    *(Attack(fit.name, Subject.SOLVER, fit.worlds) for fit in SOLVER_FITS),
    *_query_attacks(),
    *OTHERS,
)
ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {attack.name: attack for subject in Subject for attack in _ALL if attack.subject is subject}
)
"""Every attack by its name."""
REPLAYED: Mapping[str, AuditedFit] = MappingProxyType({fit.name: fit for fit in (*ESTIMATORS, *SOLVER_FITS, DEEP_FIT)})
"""Fits whose transcripts are replayed, by name."""


def find(name: str, among: Mapping[str, Any] = ATTACKS) -> Any:
    """Return the entry of a name, or refuse it with the names there are."""
    if name in among:
        return among[name]
    close = difflib.get_close_matches(str(name), among, 1, 0.5)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    raise SettingError(f"nothing called {str(name)[:60]!r} can be audited.{guess} There are: {', '.join(among)}")
