"""A finished fit: coefficients, certificate, predictions; kept as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.certificate.certificate import Certificate
from tacit.certificate.fit_file import StoredFit
from tacit.certificate.release_digest import digest_of_fit
from tacit.contract.plan import Plan
from tacit.contract.release import Release
from tacit.contract.released_statistic import ReleasedStatistic
from tacit.design.design import Design
from tacit.design.reading import Reading
from tacit.display import Displayed
from tacit.engine.prediction import Outside, margins, offsets
from tacit.errors import SettingError
from tacit.estimators.evaluation import UNPAID, Scores, model_fact, private_scores, public_scores
from tacit.estimators.loss_choice import loss_of, predicted
from tacit.estimators.public_rows import PublicRows, prepared_start
from tacit.estimators.settings import settings_of
from tacit.inference.prediction import Prediction
from tacit.inference.results import Results
from tacit.inference.results_mixin import ResultsMixin
from tacit.inference.stored_results import StoredResults
from tacit.inference.summary_rendering import summary_facts
from tacit.ledger.current_ledger import active_ledger, pinned
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.text_table import one_line

SHOWN_TERMS = 6
"""Coefficients of a fit that is printed."""


@dataclass(frozen=True, repr=False)
class Fit(ResultsMixin, Displayed):
    """A private fit. Everything in it has been paid for; using it is free.

    Examples
    --------
    >>> import tacit
    >>> schema = tacit.Schema.parse('''
    ... [columns.age]
    ... type = "numeric"
    ... lower = 0
    ... upper = 110
    ... [columns.readmit]
    ... type = "binary"
    ... ''')
    >>> data = {"age": [20.0, 60.0, 80.0, 30.0] * 500, "readmit": [0, 1, 1, 0] * 500}
    >>> import pyarrow
    >>> fit = tacit.glm("readmit ~ age", pyarrow.table(data), schema, epsilon=1.0)
    >>> [term["name"] for term in fit.terms]
    ['Intercept', 'age']
    """

    stored: StoredFit
    release: Release | None = None

    @classmethod
    def of(cls, release: Release, family: str) -> Fit:
        """Fit of a release, with intervals where the plan paid for them."""
        return cls(StoredFit.from_release(release, family, Results(release).estimates()), release)

    @property
    def terms(self) -> list[dict[str, Any]]:
        """Name, coefficient, standard error and interval of each term; None where not paid for."""
        return self.stored.terms

    @property
    def statistics(self) -> dict[str, ReleasedStatistic]:
        """Statistics that were asked for with `statistics=`, by name: value, noise and bound."""
        return self.stored.statistics

    @property
    def plan(self) -> Plan | None:
        """The plan that was run; None for a fit read from a file."""
        return None if self.release is None else self.release.plan

    def get_prediction(self, data: Any) -> Prediction:
        """Mean predictions for new public records, with intervals: `.conf_int()`.

        Rows beyond the declared bounds are predicted at the nearest bound, those of no declared level have NaN; a
        warning counts both.
        """
        design, results = self.stored.design, self._results()
        outside = Outside(design)
        rows = np.concatenate(
            [np.empty((0, design.width)), *margins(data, design, np.eye(design.width), outside=outside)]
        )
        outside.warn()
        shift = np.concatenate([np.empty(0), *offsets(data, design)])
        return results.get_prediction(rows, partial(predicted, design.response), shift)

    def evaluate(
        self,
        data: Any,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        budget: Budget | None = None,
        invalid_rows: str | None = None,
        scores: Sequence[str] | None = None,
    ) -> Scores:
        """Say how good the fit is: free on a public table, `tacit.public(table)`, by a paid sum on a private one.

        The scores are those of `LogisticRegression.evaluate`, for the unit and the relation of the fit.
        """
        paid = epsilon is not None or delta is not None or budget is not None
        design, document = self.stored.design, self.certificate.parsed
        if isinstance(data, PublicRows):
            if data.y is not None or paid or scores is not None:
                raise SettingError(
                    "A public table holds its response and costs nothing: evaluate(tacit.public(table))."
                )
            return public_scores(design.response, data.X[design.response.column], self.predict(data.X), chances=True)
        if not paid:
            raise SettingError(UNPAID)
        relation, unit, records = document["relation"], document["unit"], document["records"]["value"]
        at_least = None if Relation.parse(relation).n_is_public else records
        given = {"epsilon": epsilon, "delta": delta, "budget": budget, "invalid_rows": invalid_rows}
        settings = settings_of(given, relation=relation, unit=unit, n_at_least=at_least)
        theta = prepared_start(self.stored.coefficients, design)
        loss, facts = loss_of(self.stored.family, design.response), [model_fact(private=self.certificate.private)]
        with pinned(active_ledger()):
            return private_scores(design, loss, theta, settings, (data, None, {}), None, facts, scores)

    @property
    def not_covered(self) -> tuple[str, ...]:
        """Parts of the file that its certificate does not cover; of a fit of 0.1.0 the design."""
        return self.stored.not_covered

    def _results(self) -> Results | StoredResults:
        return StoredResults(self.stored) if self.release is None else Results(self.release)

    def __str__(self) -> str:
        """The model, its guarantee and its first coefficients; `summary()` has all."""
        shown = self.summary()
        lines = "\n".join(f"  {word}: {said}" for word, said in summary_facts(shown)[:3])
        names, values = self._results().names[:SHOWN_TERMS], self._results().values[:SHOWN_TERMS].tolist()
        terms = ", ".join(f"{one_line(name)} {value:.4g}" for name, value in zip(names, values, strict=True))
        left = len(self._results().names) - len(names)
        more = f", and {left:,} more" if left else ""
        return f"Fit\n{lines}\n  Coefficients: {terms}{more}\n  summary() shows all that was paid for."

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    @property
    def certificate(self) -> Certificate:
        """What was guaranteed, and why it is true."""
        return self.stored.certificate

    @property
    def release_digest(self) -> str:
        """The digest under which a ledger noted this fit: `release` of its charge, also in the ledger's certificate."""
        return digest_of_fit(self.stored)

    def predict_blocks(self, data: Any, *, reading: Reading | None = None) -> Iterator[NDArray[np.float64]]:
        """Predictions for new records, block by block.

        Probabilities of the second class, or a column of them for each of several classes; responses within their
        bounds; expected counts. A record with a missing or undeclared value has NaN. An offset or an exposure of the
        formula is a column of the records and counts as in the fit. The records are written as those of the fit were,
        or as `reading` says.
        """
        design = self.stored.design
        design = design if reading is None else replace(design, reading=reading)
        yield from self._predicted(data, design)

    def _predicted(self, data: Any, design: Design, outside: Outside | None = None) -> Iterator[NDArray[np.float64]]:
        for block in margins(data, design, self.stored.coefficients, shifted=True, outside=outside):
            yield predicted(design.response, block)

    def interval_blocks(
        self, data: Any, level: float = 0.95, *, reading: Reading | None = None
    ) -> tuple[tuple[str, ...], Iterator[NDArray[np.float64]]]:
        """Names of the ends of intervals, and block by block the means of new records with these ends beside them.

        They are those of `get_prediction`: `conf_int`, and of a response that is a number or a count `response_int`
        where it is offered. A withheld interval is NaN, and so is everything of a record that could not be read.
        """
        design, results = self.stored.design, self._results()
        design = design if reading is None else replace(design, reading=reading)

        def predictions() -> Iterator[Prediction]:
            rows = margins(data, design, np.eye(design.width))
            for block, shift in zip(rows, offsets(data, design), strict=True):
                yield results.get_prediction(block, partial(predicted, design.response), shift)

        # Of a row of zeros, to see what there is; a fit without intervals is refused here.
        one = results.get_prediction(np.zeros((1, design.width)), partial(predicted, design.response))
        names = one.interval_names(level)
        return names, (found.with_ends(level, names) for found in predictions())

    def predict(self, data: Any) -> NDArray[np.float64]:
        """Prediction for each new record, as `predict_blocks`; not protected, like any lookup.

        A warning counts cells beyond the declared bounds, and those of no declared level.
        """
        design = self.stored.design
        empty, outside = np.empty(0 if design.outputs == 1 else (0, design.outputs)), Outside(design)
        found = np.concatenate([empty, *self._predicted(data, design, outside)])
        outside.warn()
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit as JSON; `tacit.load` reads it back."""
        self.stored.write(path)


def load(path: str | os.PathLike[str]) -> Fit:
    """Read a stored fit and check that it is what was written."""
    return Fit(StoredFit.read(path))
