"""Tests, intervals and predictions of a release, or of a stored fit that keeps what they need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.certificate.fit_file import Estimates, Reliability, Scatter, Term, triangle_of
from tacit.contract.release import Release, Sandwich
from tacit.errors import SettingError, UnavailableError
from tacit.inference.covariance import Covariance
from tacit.inference.estimates import SOURCES, Estimated
from tacit.inference.hypotheses import (
    Combinations,
    WaldTest,
    between_classes,
    combinations_of,
    factor_contrasts,
    named_contrast,
    wald_test,
)
from tacit.inference.kept_release import KeptRelease
from tacit.inference.prediction import Mean, Prediction
from tacit.inference.regions import ConfidenceRegion, confidence_region
from tacit.inference.reliability import WITHHELD, ExactJudgement, StepJudgement, judge, not_offered, overall
from tacit.inference.response_law import ResponseLaw
from tacit.inference.step_covariance import StepCovariance
from tacit.inference.summary import notes_of
from tacit.losses.loss import Code
from tacit.validate import one_of

WITHOUT_INTERVALS = frozenset({Code.HINGE, Code.PINBALL, Code.DISTANCE})


@dataclass(frozen=True)
class IntervalResults:
    """What the sandwich of a release tells; nothing else enters, and nothing is charged."""

    release: Release | KeptRelease

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept first; class after class where several."""
        return self.release.plan.design.terms

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Coefficients in the order of `names`."""
        return self.release.coefficients().T.ravel()

    @property
    def offered(self) -> bool:
        """Whether there are intervals: they were paid for, and the signal n·μ/d is large enough."""
        return self.release.sandwich is not None and not_offered(self.release.plan) is None

    @property
    def reliability(self) -> Reliability:
        """What a summary and a file say of the intervals."""
        if not self.offered:
            notes = notes_of(self.release, None)
            declined = self.release.plan.intervals_declined
            return Reliability(self.release.sandwich is None and not declined, notes=notes)
        terms, notes = self.coefficients.statements, notes_of(self.release, self.judgement)
        return Reliability(True, overall(terms), terms, notes)

    def terms(self) -> list[list[Any]]:
        """Name, coefficient, standard error and 95% interval of each term; None if not offered."""
        none = [None, None, None]
        if not self.offered:
            return [[name, value, *none] for name, value in zip(self.names, self.values.tolist(), strict=True)]
        found = self.coefficients
        columns = (found.values, found.std_errors, *found.conf_int().T)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        rows = zip(self.names, numbers, found.statements, strict=True)
        return [[name, row[0], *none] if word == WITHHELD else [name, *row] for name, row, word in rows]

    def estimates(self) -> Estimates:
        """What a file keeps of the coefficients: errors and statements where they were paid for."""
        terms, reliability = tuple(Term(*row) for row in self.terms()), self.reliability
        if not self.offered:
            return Estimates(terms, reliability=reliability)
        found = self.coefficients
        scatter = Scatter(*(tuple(column.tolist()) for column in (found.sampling, found.privacy, found.degrees)))
        return Estimates(terms, scatter, triangle_of(self.cov_params().tolist()), reliability)

    @cached_property
    def judgement(self) -> ExactJudgement | StepJudgement:
        """How reliable the intervals are, and why."""
        return judge(self.release, self._sandwich())

    @cached_property
    def coefficients(self) -> Estimated:
        """The coefficients with their errors."""
        everyone = np.eye(len(self.names))
        return self._estimated(Combinations(everyone, np.zeros(len(self.names)), self.names))

    def cov_params(self, which: str = "total") -> NDArray[np.float64]:
        """Covariance of the coefficients; "sampling" leaves out the noise that was added."""
        one_of("which", which, SOURCES)
        return self._covariance.covariance(sampling_only=which == "sampling")

    def t_test(self, combinations: Any) -> Estimated:
        """Test each linear combination by itself, for example "x1 - x2 = 0"."""
        return self._estimated(self._asked(combinations)[0])

    def wald_test(self, combinations: Any) -> WaldTest:
        """Test all linear combinations at once, for example ["x1", "x2"]."""
        return wald_test(self._covariance, self.values, *self._asked(combinations))

    def confidence_region(self, combinations: Any, level: float = 0.95) -> ConfidenceRegion:
        """Region of linear combinations that covers all of them at once."""
        return confidence_region(self._covariance, self.values, *self._asked(combinations), level)

    def _asked(self, combinations: Any) -> tuple[Combinations, tuple[str, ...], str]:
        """Combinations that are asked for at once, what is said of each, and why some are withheld."""
        asked = self._read(combinations)
        asked = between_classes(asked, self.release.plan.design.outputs)
        return asked, self.judgement.of(self.names, asked.weights), self.judgement.why(asked.weights)

    def _read(self, asked: Any) -> Combinations:
        """Combinations as they are written, some perhaps as `contrasts` names them."""
        texts = [asked] if isinstance(asked, str) else asked
        if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
            return combinations_of(asked, self.names)
        design = self.release.plan.design
        parts = [named_contrast(design, text) or combinations_of(text, self.names) for text in texts]
        return Combinations(
            np.concatenate([part.weights for part in parts]),
            np.concatenate([part.values for part in parts]),
            tuple(label for part in parts for label in part.labels),
        )

    def contrasts(self, factor: str, reference: str | None = None) -> Estimated:
        """Differences between levels of a factor, each by itself."""
        self._sandwich()
        return self._estimated(factor_contrasts(self.release.plan.design, factor, reference))

    def get_prediction(
        self, rows: NDArray[np.float64], mean: Mean, offset: NDArray[np.float64] | float = 0.0
    ) -> Prediction:
        """Mean predictions for rows of the design, the constant first; `mean` inverts the link.

        The offset of each row, a term with coefficient 1, is added to its linear predictor.
        """
        if self.release.plan.design.outputs > 1:
            raise SettingError("Intervals of predictions are for two classes and for numbers, not for several classes.")
        missing = np.isnan(rows).any(axis=1)
        labels = tuple(map(str, range(len(rows))))
        known = np.where(np.isnan(rows), 0.0, rows)
        found = self._estimated(Combinations(known, np.zeros(len(rows)), labels))
        values = np.where(missing, np.nan, found.values + offset)
        response = self.release.plan.design.response
        law = partial(ResponseLaw.of, self.release, self._sandwich())
        return Prediction(replace(found, values=values), response, mean, law)

    @cached_property
    def _covariance(self) -> Covariance | StepCovariance:
        judgement = self.judgement
        if isinstance(judgement, StepJudgement):
            return judgement.covariance
        return Covariance.of(self._sandwich(), self.release.plan.records)

    def _sandwich(self) -> Sandwich:
        plan, sandwich = self.release.plan, self.release.sandwich
        if sandwich is None and plan.loss.code in WITHOUT_INTERVALS:
            raise UnavailableError("There are no intervals for this model.")
        reason = not_offered(plan)
        if reason is not None and (sandwich is not None or plan.intervals_declined):
            raise UnavailableError(f"Intervals are not offered: {reason}.")
        if sandwich is None:
            raise UnavailableError("This fit did not pay for intervals; fit with inference=True.")
        return sandwich

    def _estimated(self, asked: Combinations) -> Estimated:
        scatter = self._covariance.scatter(asked.weights)
        statements = self.judgement.of(self.names, asked.weights)
        # A withheld interval is the whole line: its variance is infinite.
        withheld = np.array([word == WITHHELD for word in statements])
        return Estimated(
            names=asked.labels,
            values=asked.weights @ self.values,
            sampling=np.where(withheld, np.inf, scatter.sampling),
            privacy=np.where(withheld, np.inf, scatter.privacy),
            degrees=scatter.degrees,
            null=asked.values,
            statements=statements,
            dimension=self.release.plan.design.identified,
        )
