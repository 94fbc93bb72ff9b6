"""Result methods that a fit and a fitted estimator share; `Results` does the work."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.inference.estimates import Estimated
from tacit.inference.hypotheses import WaldTest
from tacit.inference.results import Results
from tacit.inference.stored_results import StoredResults
from tacit.inference.summary import Summary


class ResultsMixin:
    """Results by the names that statsmodels gave them. Everything here is free."""

    @abstractmethod
    def _results(self) -> Results | StoredResults:
        """Results of the release, or a refusal where there is none."""

    @property
    def params(self) -> dict[str, float]:
        """Coefficients on the user's scale, by name, the intercept first."""
        results = self._results()
        return results.by_name(results.values)

    @property
    def bse(self) -> dict[str, float]:
        """Standard errors by name, sampling and privacy noise together."""
        return self._results().by_name(self._results().coefficients.std_errors)

    @property
    def tvalues(self) -> dict[str, float]:
        """Coefficients over their standard errors, by name."""
        return self._results().by_name(self._results().coefficients.statistics)

    @property
    def zvalues(self) -> dict[str, float]:
        """Another name of `tvalues`."""
        return self.tvalues

    @property
    def pvalues(self) -> dict[str, float]:
        """Two-sided p-values of no effect, by name, by the law that the intervals have."""
        return self._results().by_name(self._results().coefficients.pvalues)

    def conf_int(
        self, level: float = 0.95, which: str = "total", simultaneous: bool | str = False
    ) -> NDArray[np.float64]:
        """Intervals of all coefficients, the intercept first: columns lower and upper.

        Parameters
        ----------
        level
            Probability of covering, for each interval by itself.
        which
            "total", or "sampling", which leaves out the noise that was added: as wide as a fit
            without privacy would tell, it does **not** cover at its level.
        simultaneous
            True or "bonferroni": all intervals cover at once. "scheffe": so do those of all linear
            combinations of the coefficients.
        """
        return self._results().conf_int(level, which, simultaneous)

    def cov_params(self, which: str = "total") -> NDArray[np.float64]:
        """Covariance of the coefficients; "sampling" leaves out the noise that was added."""
        return self._results().cov_params(which)

    def t_test(self, combinations: Any) -> Estimated:
        """Test linear combinations, each by itself: "x1 - x2 = 0", several, or a matrix."""
        return self._results().t_test(combinations)

    def wald_test(self, combinations: Any) -> WaldTest:
        """Test linear combinations all at once: ["x1", "x2"], "x1 = x2 = 0", or a matrix."""
        return self._results().wald_test(combinations)

    def summary(
        self,
        level: float = 0.95,
        *,
        which: str = "total",
        exponentiate: bool = False,
        simultaneous: bool | str = False,
        stars: bool = False,
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
        """
        return self._results().summary(
            level,
            which=which,
            exponentiate=exponentiate,
            simultaneous=simultaneous,
            stars=stars,
        )

    def summary_frame(self, level: float = 0.95, *, exponentiate: bool = False) -> Any:
        """The summary's table as pandas' DataFrame; without pandas as a dict of columns."""
        return self._results().summary_frame(level, exponentiate=exponentiate)
