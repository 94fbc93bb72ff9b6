"""All solvers side by side, on rows that are public: error, time and guarantee of each."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.contract.query import Progress
from tacit.design.response import Continuous
from tacit.display import Displayed, Shown
from tacit.engine.prediction import responses
from tacit.errors import InputError, SettingError
from tacit.estimators.evaluation import Scores, public_scores
from tacit.estimators.fit import Fit
from tacit.estimators.glm import glm
from tacit.estimators.public_rows import PublicRows
from tacit.ledger.with_blocks import uncharged
from tacit.privacy.budget import Budget
from tacit.schema.schema import Schema
from tacit.solvers.choice import PURE_SOLVERS, SOLVERS
from tacit.text_table import Table
from tacit.validate import one_of, whole

REASON = "public rows of a comparison"
NOT_PUBLIC = (
    "compare fits the same rows many times and shows exact errors, so it is for rows that are public or simulated "
    "alone. Mark them: tacit.public(table). On private rows choose a solver by docs/which_solver.md. Nothing was spent."
)


@dataclass(frozen=True)
class SolverResult:
    """One solver: medians over its fits and the fastest of them, or why it does not apply.

    `error` is the excess over the fit without privacy of log loss, or of the mean squared error over the variance.
    """

    solver: str
    error: float | None = None
    score: float | None = None
    seconds: float | None = None
    guarantee: str = ""
    arithmetic: str = ""
    refused: str | None = None


@dataclass(frozen=True, repr=False)
class Comparison(Displayed):
    """Every solver, the best first; those that do not apply are last. `measure` says what the errors are."""

    results: tuple[SolverResult, ...]
    measure: str
    without_privacy: float
    records: int
    repeats: int

    @property
    def applicable(self) -> tuple[SolverResult, ...]:
        """Solvers that were run."""
        return tuple(it for it in self.results if it.refused is None)

    def _shown(self) -> Shown:
        rows = tuple((it.solver, f"{it.error:.3g}", f"{it.seconds:.3g}") for it in self.applicable)
        left = len(self.results) - len(rows)
        notes = (f"{left} solvers do not apply; their reasons are in results.",) if left else ()
        facts = (("Records", f"{self.records:,}"), ("Fits of each", f"{self.repeats}"))
        return Shown("Comparison of solvers", facts, Table(("solver", self.measure, "seconds"), rows), notes)


def compare(
    formula: str,
    data: Any,
    schema: Schema | str | os.PathLike[str],
    family: str = "binomial",
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    budget: Budget | None = None,
    solvers: Sequence[str] | None = None,
    repeats: int = 5,
    progress: Progress | None = None,
) -> Comparison:
    """Fit public rows with every solver that applies, and compare error, time and guarantee.

    Guarantee: rows that are not marked as public are refused before they are read, and nothing is spent.

    Parameters
    ----------
    formula, schema, family, epsilon, delta, budget
        As for `glm`.
    data
        Rows that are public or simulated, marked: `tacit.public(table)`, or of a path.
    solvers
        Some of the solvers; None: all.
    repeats
        Fits of each solver, with fresh noise; medians are shown.
    progress
        Called with (done, total, label).

    Examples
    --------
    >>> import numpy as np, pyarrow, tacit
    >>> schema = tacit.Schema.parse('''
    ... [columns.x]
    ... type = "numeric"
    ... lower = 0
    ... upper = 1
    ... [columns.y]
    ... type = "binary"
    ... ''')
    >>> x = np.linspace(0, 1, 2000)
    >>> table = pyarrow.table({"x": x, "y": (np.arange(2000) * 0.618 % 1 < x).astype(int)})
    >>> found = tacit.compare(
    ...     "y ~ x", tacit.public(table), schema, epsilon=1.0, solvers=["auto", "newton", "moments"], repeats=1
    ... )
    >>> [it.solver for it in found.results if it.refused]
    ['moments']
    """
    if not isinstance(data, PublicRows) or data.y is not None:
        raise SettingError(NOT_PUBLIC)
    names = list(dict.fromkeys((*SOLVERS, *PURE_SOLVERS)) if solvers is None else solvers)
    for name in names:
        one_of("A solver", name, {**SOLVERS, **PURE_SOLVERS})
    repeats = whole("repeats", repeats)
    declared = schema if isinstance(schema, Schema) else Schema.read(schema)
    given = {"epsilon": epsilon, "delta": delta, "budget": budget}
    with uncharged(REASON), warnings.catch_warnings():
        # Of small tables and of repeated fits: both are meant here.
        warnings.simplefilter("ignore")
        exact = glm(formula, data.X, declared, family, epsilon=math.inf, inference=False)
        judge = _Judge(exact, data.X)
        found = []
        for number, name in enumerate(names):
            found.append(_result(name, formula, data.X, declared, family, given, repeats, judge))
            if progress is not None:
                progress(number + 1, len(names), name)
    order = sorted(found, key=lambda it: (it.refused is not None, it.error if it.error is not None else 0.0))
    return Comparison(tuple(order), judge.measure, judge.best, len(judge.response), repeats)


class _Judge:
    """What the fits are judged by: the public rows and the fit without privacy."""

    def __init__(self, exact: Fit, data: Any) -> None:
        self._data, self._design = data, exact.stored.design
        kept = np.concatenate([np.empty(0), *responses(data, self._design)])
        self._valid = np.isfinite(kept)
        prepared = kept[self._valid]
        own = self._design.response
        if own.classes:
            self.response: Any = np.array(own.classes)[prepared.astype(np.int64)]
        elif isinstance(own, Continuous):
            self.response = prepared * own.scale + own.center
        else:
            self.response = prepared
        self._name = "log_loss" if own.classes else "mean_squared_error"
        self._unit = 1.0 if own.classes else float(np.var(self.response)) or 1.0
        self.measure = "excess log loss" if own.classes else "excess mean squared error / variance"
        self._shown = "accuracy" if own.classes else "r2"
        self.best = self.scores(exact)[self._shown]
        self._least = self.scores(exact)[self._name]

    def scores(self, fitted: Fit) -> Scores:
        predicted = fitted.predict(self._data)[self._valid]
        return public_scores(self._design.response, self.response, predicted, chances=True)

    def judge(self, fitted: Fit) -> tuple[float, float]:
        """Excess over the fit without privacy, and accuracy or R²."""
        scores = self.scores(fitted)
        return (scores[self._name] - self._least) / self._unit, scores[self._shown]


def _result(
    name: str, formula: str, data: Any, schema: Schema, family: str, given: Any, repeats: int, judge: _Judge
) -> SolverResult:
    errors, scores, seconds = [], [], []
    try:
        for _ in range(repeats):
            start = time.perf_counter()
            fitted = glm(formula, data, schema, family, solver=name, inference=False, **given)
            seconds.append(time.perf_counter() - start)
            error, score = judge.judge(fitted)
            errors.append(error)
            scores.append(score)
    except InputError as refusal:
        return SolverResult(name, refused=str(refusal))
    certificate = fitted.certificate
    kinds = {entry["arithmetic"] for entry in certificate.document["events"]}
    weakest = next((it for it in ("real-number proof", "bounded-float") if it in kinds), "exact")
    stated = certificate.rederive()
    words = f"ε = {stated.epsilon:.4g}, δ = {stated.delta:.3g}"
    # The first fit of a session loads compiled code: the fastest is what a fit takes.
    return SolverResult(name, float(np.median(errors)), float(np.median(scores)), min(seconds), words, weakest)
