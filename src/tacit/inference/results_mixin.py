"""Results by their usual names, for what has a release. What computes them is loaded when it is first asked for."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.inference.estimates import Estimated
    from tacit.inference.hypotheses import WaldTest
    from tacit.inference.regions import ConfidenceRegion
    from tacit.inference.results import Results
    from tacit.inference.stored_results import StoredResults
    from tacit.inference.summary import Summary
    from tacit.inference.units import Units


class ResultsMixin:
    """Results by the names that statsmodels gave them, of a fit and of a fitted estimator."""

    @abstractmethod
    def _results(self) -> Results | StoredResults:
        """Results of the release, or a refusal where there is none."""

    @property
    def params(self) -> Any:
        """Coefficients on the user's scale, by name, the intercept first: pandas' Series, or a dict without it."""
        from tacit.inference.estimates import series_of

        results = self._results()
        return series_of(results.values.tolist(), results.names)

    @property
    def bse(self) -> Any:
        """Standard errors by name, sampling and privacy noise together; infinite where withheld."""
        return self._by_name("std_errors")

    @property
    def tvalues(self) -> Any:
        """Coefficients over their standard errors, by name."""
        return self._by_name("statistics")

    @property
    def zvalues(self) -> Any:
        """Another name of `tvalues`."""
        return self.tvalues

    @property
    def pvalues(self) -> Any:
        """Two-sided p-values of no effect, by name, by the law that the intervals have."""
        return self._by_name("pvalues")

    def _by_name(self, column: str) -> Any:
        from tacit.inference.estimates import series_of

        found = self._results().coefficients
        return series_of(getattr(found, column).tolist(), found.names)

    def conf_int(self, level: float = 0.95, which: str = "total", simultaneous: bool | str = False) -> Any:
        """Intervals of all coefficients, the intercept first: columns lower and upper.

        A DataFrame of pandas', or an array where that is not installed.

        Parameters
        ----------
        level
            Probability of covering, for each interval by itself.
        which
            "total", or "sampling", which leaves out the noise that was added: as wide as a fit
            without privacy would tell, it does **not** cover at its level.
        simultaneous
            True or "bonferroni": all intervals cover at once. "scheffe": so do those of all linear
            combinations of their coefficients. Withheld ones do not count.
        """
        from tacit.inference.estimates import interval_frame

        found = self._results().coefficients
        return interval_frame(found.conf_int(level, which, simultaneous), found.names)

    def cov_params(self, which: str = "total") -> NDArray[np.float64]:
        """Covariance of the coefficients; "sampling" leaves out the noise that was added."""
        return self._results().cov_params(which)

    def t_test(self, combinations: Any) -> Estimated:
        """Test linear combinations, each by itself: "x1 - x2 = 0", several, or a matrix."""
        return self._results().t_test(combinations)

    def wald_test(self, combinations: Any) -> WaldTest:
        """Test linear combinations all at once: ["x1", "x2"], "x1 = x2 = 0", or a matrix."""
        return self._results().wald_test(combinations)

    def confidence_region(self, combinations: Any, level: float = 0.95) -> ConfidenceRegion:
        """Joint region of coefficients, ["x1", "x2"], or of their combinations.

        It holds the values that `wald_test` does not reject at 1 - level.
        """
        return self._results().confidence_region(combinations, level)

    def contrasts(self, factor: str, reference: str | None = None) -> Estimated:
        """Differences between all levels of a factor, or of each from a reference level.

        `.conf_int(simultaneous=True)` holds for all of them at once.
        """
        return self._results().contrasts(factor, reference)

    def summary(
        self,
        level: float = 0.95,
        *,
        which: str = "total",
        exponentiate: bool = False,
        simultaneous: bool | str = False,
        stars: bool = False,
        units: Units | None = None,
    ) -> Summary:
        """Coefficients with what was paid for, and the guarantee; print it.

        Parameters
        ----------
        level, which, simultaneous
            As in `conf_int`.
        exponentiate
            Whether to show odds ratios (of two classes) or rate ratios (of counts). The standard
            errors are then those of the ratios, by the delta method.
        stars
            Whether to mark p-values below .05, .01 and .001, where intervals are nominal.
        units
            Effects of more than one unit of a column: ``{"age": (10, "10 years")}`` or ``{"age": 10}``.
        """
        from tacit.inference.summary import Shown

        return self._results().summarise(Shown(level, which, exponentiate, simultaneous, stars, units))

    def summary_frame(self, level: float = 0.95, *, exponentiate: bool = False) -> Any:
        """The summary's table as pandas' DataFrame; without pandas as a dict of columns."""
        return self.summary(level, exponentiate=exponentiate).summary_frame()
