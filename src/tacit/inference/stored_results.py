"""Results of a fit that was read from a file: the same numbers and the same statements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.certificate.certificate import INFINITE
from tacit.certificate.fit_file import LARGEST_COVARIANCE, StoredFit
from tacit.certificate.stored_inference import LARGEST_WIDTH
from tacit.errors import SettingError, UnavailableError
from tacit.inference.estimates import SOURCES, Estimated, Line
from tacit.inference.hypotheses import WaldTest
from tacit.inference.interval_results import IntervalResults
from tacit.inference.kept_release import CODES, KeptRelease
from tacit.inference.prediction import Mean, Prediction
from tacit.inference.regions import ConfidenceRegion
from tacit.inference.summary import MODELS, WHY_NOT, Header, Shown, Summary
from tacit.validate import one_of

OLD = "Read from a file of an older format, which keeps 95% intervals and no tests."


@dataclass(frozen=True)
class StoredResults:
    """Coefficients of a stored fit with standard errors, tests and intervals.

    Guarantee
    ---------
    - Where intervals were paid for, summaries, intervals, tests, regions and predictions give what they gave before
      the fit was kept, to the last bit, at every level.
    - A file of 0.1.0 gives its 95% intervals, and what it does not hold is refused.
    """

    stored: StoredFit

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept first; class after class where several."""
        return self.stored.design.terms

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Coefficients in the order of `names`."""
        return np.array([term.coef for term in self.stored.estimates.terms])

    @cached_property
    def coefficients(self) -> Estimated:
        """The coefficients with their errors."""
        estimates, count = self.stored.estimates, len(self.names)
        scatter, statements = estimates.scatter, estimates.reliability.terms
        if scatter is None or statements is None:
            raise UnavailableError(self._missing())
        return Estimated(
            names=self.names,
            values=self.values,
            sampling=np.array(scatter.sampling),
            privacy=np.array(scatter.privacy),
            degrees=np.array(scatter.degrees),
            null=np.zeros(count),
            statements=statements,
            dimension=self.stored.design.identified,
        )

    def cov_params(self, which: str = "total") -> NDArray[np.float64]:
        """Covariance of the coefficients, sampling and privacy noise together."""
        one_of("which", which, SOURCES)
        rows = self.stored.estimates.covariance
        if which != "total" and (self.stored.estimates.scatter is not None or self._kept is not None):
            return self._able.cov_params(which)
        if self.stored.estimates.scatter is None:
            raise SettingError(self._missing())
        if rows is None:
            raise SettingError(
                f"The covariance is kept for up to {LARGEST_COVARIANCE} coefficients, where it is finite."
            )
        count = len(rows)
        matrix = np.zeros((count, count))
        matrix[np.tril_indices(count)] = np.concatenate(rows)
        return np.asarray(np.tril(matrix) + np.tril(matrix, -1).T)

    def summarise(self, shown: Shown) -> Summary:
        """The table of coefficients below the facts of the fit."""
        estimates, design = self.stored.estimates, self.stored.design
        found = None if estimates.scatter is None else self.coefficients
        if found is None and any(term.std_err is not None for term in estimates.terms):
            return self._old_summary(shown)
        named, reliability = (self.names, self.values), estimates.reliability
        return Summary.of(self._header(), design, named, found, reliability, shown)

    def t_test(self, combinations: Any) -> Estimated:
        """Test each linear combination by itself, for example "x1 - x2 = 0"."""
        return self._able.t_test(combinations)

    def wald_test(self, combinations: Any) -> WaldTest:
        """Test all linear combinations at once, for example ["x1", "x2"]."""
        return self._able.wald_test(combinations)

    def confidence_region(self, combinations: Any, level: float = 0.95) -> ConfidenceRegion:
        """Region of linear combinations that covers all of them at once."""
        return self._able.confidence_region(combinations, level)

    def contrasts(self, factor: str, reference: str | None = None) -> Estimated:
        """Differences between levels of a factor, each by itself."""
        return self._able.contrasts(factor, reference)

    def get_prediction(
        self, rows: NDArray[np.float64], mean: Mean, offset: NDArray[np.float64] | float = 0.0
    ) -> Prediction:
        """Mean predictions for rows of the design, as `IntervalResults.get_prediction`."""
        return self._able.get_prediction(rows, mean, offset)

    @cached_property
    def _kept(self) -> KeptRelease | None:
        return KeptRelease.of(self.stored)

    @property
    def _able(self) -> IntervalResults:
        """Results of combinations, where the file keeps what they need."""
        if self.stored.estimates.scatter is None:
            raise UnavailableError(self._missing())
        if self._kept is None:
            raise UnavailableError(
                "This file keeps the errors of its coefficients, and not those of combinations of them: it is of an "
                f"older version, or the fit has more than {LARGEST_WIDTH} coefficients. Test them before it is kept."
            )
        return IntervalResults(self._kept)

    def _old_summary(self, shown: Shown) -> Summary:
        if shown != Shown():
            raise SettingError(self._missing())
        lines = tuple(
            Line(term.name, term.coef, term.std_err, lower=term.lower, upper=term.upper)
            for term in self.stored.estimates.terms
        )
        return Summary(header=self._header(), lines=lines, notes=(OLD,))

    def _missing(self) -> str:
        if any(term.std_err is not None for term in self.stored.estimates.terms):
            return "This file is of an older format, which keeps 95% intervals only, in terms."
        if not self.stored.estimates.reliability.offered:
            return " ".join(self.stored.estimates.reliability.notes)
        return "This fit did not pay for intervals, or they are not in its file."

    def _header(self) -> Header:
        document = self.stored.certificate.parsed
        family, why = self.stored.family, document["why_not_private"]
        return Header(
            model=MODELS[CODES[family]],
            response=self.stored.design.response.column,
            records=document["records"]["value"],
            records_at_least=document["records"]["which"] != "n",
            guarantee=self.stored.certificate.rederive(),
            not_private=WHY_NOT.get(why),
            method=document["solver"],
            passes=None if why == INFINITE else sum(e["times"] for e in document["events"]),
        )
