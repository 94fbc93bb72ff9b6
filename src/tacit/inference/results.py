"""Results of a fit as statisticians know them. All of it is post-processing, and free."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.contract.release import Release
from tacit.inference.interval_results import IntervalResults
from tacit.inference.results_mixin import ResultsMixin
from tacit.inference.summary import Header, Shown, Summary


@dataclass(frozen=True)
class Results(IntervalResults, ResultsMixin):
    """Results of a release; without the sandwich of inference=True there are coefficients only.

    Guarantee
    ---------
    - Nothing but the release enters: no record, no further charge.
    - Where n·μ/d is below 25, a public number, no interval and no test is offered.
    """

    release: Release

    def _results(self) -> Results:
        return self

    def summarise(self, shown: Shown) -> Summary:
        """The table of coefficients below the facts of the fit."""
        found = self.coefficients if self.offered else None
        design, named = self.release.plan.design, (self.names, self.values)
        header = Header.of(self.release)
        return Summary.of(header, design, named, found, self.reliability, shown)
