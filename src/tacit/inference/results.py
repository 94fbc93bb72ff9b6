"""Results of a release as statisticians know them. All of it is post-processing, and free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.release import Release, Sandwich
from tacit.errors import SettingError
from tacit.inference.covariance import Covariance
from tacit.inference.estimates import Estimated, simultaneous_method
from tacit.inference.hypotheses import WaldTest, wald_test
from tacit.inference.linear_combinations import Combinations, combinations_of
from tacit.inference.prediction import Mean, Prediction
from tacit.inference.reliability import Judgement, judge, not_offered, require_offered
from tacit.inference.summary import Header, Summary, coefficient_lines, notes_of, ratio_name
from tacit.losses.loss import Code

WITHOUT_INTERVALS = frozenset({Code.SOFTMAX, Code.HINGE, Code.PINBALL, Code.DISTANCE})


@dataclass(frozen=True)
class Results:
    """Coefficients with standard errors, tests and intervals, on the user's scale.

    Guarantee
    ---------
    - Nothing but the release enters: no record, no further charge.
    - Where n·μ/d is below 25, a public number, no interval and no test is offered.

    Parameters
    ----------
    release
        The private release. Without the sandwich that inference=True pays for there are
        coefficients only.
    """

    release: Release

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

    @cached_property
    def judgement(self) -> Judgement:
        """How reliable the intervals are, and why."""
        return judge(self.release, self._sandwich())

    @cached_property
    def coefficients(self) -> Estimated:
        """The coefficients with their errors."""
        everyone = np.eye(len(self.names))
        return self._estimated(Combinations(everyone, np.zeros(len(self.names)), self.names))

    def conf_int(
        self, level: float = 0.95, which: str = "total", simultaneous: bool | str = False
    ) -> NDArray[np.float64]:
        """Intervals of all coefficients, columns lower and upper; see `ResultsMixin.conf_int`."""
        return self.coefficients.conf_int(level, which, simultaneous)

    def cov_params(self, which: str = "total") -> NDArray[np.float64]:
        """Covariance of the coefficients; "sampling" leaves out the noise that was added."""
        if which not in {"total", "sampling"}:
            raise SettingError(f'which must be "total" or "sampling"; got {which!r}.')
        return self._covariance.covariance(sampling_only=which == "sampling")

    def t_test(self, combinations: Any) -> Estimated:
        """Test each linear combination by itself, for example "x1 - x2 = 0"."""
        return self._estimated(combinations_of(combinations, self.names))

    def wald_test(self, combinations: Any) -> WaldTest:
        """Test all linear combinations at once, for example ["x1", "x2"]."""
        asked = combinations_of(combinations, self.names)
        statements = self.judgement.of(self.names, asked.weights)
        return wald_test(self._covariance, self.values, asked, statements)

    def get_prediction(
        self,
        rows: NDArray[np.float64],
        mean: Mean,
        offset: NDArray[np.float64] | float = 0.0,
    ) -> Prediction:
        """Mean predictions for rows of the design, the constant first; `mean` inverts the link.

        The offset of each row, a term with coefficient 1, is added to its linear predictor.
        """
        missing = np.isnan(rows).any(axis=1)
        labels = tuple(map(str, range(len(rows))))
        known = np.where(np.isnan(rows), 0.0, rows)
        found = self._estimated(Combinations(known, np.zeros(len(rows)), labels))
        values = np.where(missing, np.nan, found.values + offset)
        return Prediction(replace(found, values=values), self.release.plan.design.response, mean)

    def summary(
        self,
        level: float = 0.95,
        *,
        which: str = "total",
        exponentiate: bool = False,
        simultaneous: bool | str = False,
        stars: bool = False,
    ) -> Summary:
        """The table of coefficients below the facts of the fit; see `ResultsMixin.summary`."""
        plan = self.release.plan
        method = simultaneous_method(simultaneous)
        estimate = ratio_name(plan.design.response) if exponentiate else "coef"
        found = self.coefficients if self.offered else None
        ends = None if found is None else found.conf_int(level, which, simultaneous)
        return Summary(
            header=Header.of(self.release),
            lines=coefficient_lines(self.names, self.values, found, ends, exponentiate),
            estimate=estimate,
            level=level,
            which=which,
            simultaneous=method,
            statement=None if found is None else self.judgement.statement,
            notes=notes_of(self.release, None if found is None else self.judgement),
            offered=self.release.sandwich is None or found is not None,
            stars=stars,
        )

    def summary_frame(self, level: float = 0.95, *, exponentiate: bool = False) -> Any:
        """The table as pandas' DataFrame; without pandas as a dict of columns."""
        return self.summary(level, exponentiate=exponentiate).summary_frame()

    def by_name(self, numbers: NDArray[np.float64]) -> dict[str, float]:
        """Numbers of the coefficients, by name."""
        return dict(zip(self.names, numbers.tolist(), strict=True))

    def terms(self) -> list[list[Any]]:
        """Name, coefficient, standard error and 95% interval of each term; None if not offered."""
        if not self.offered:
            return self.release.estimates()
        found = self.coefficients
        columns = (found.values, found.std_errors, *found.conf_int().T)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        return [[name, *row] for name, row in zip(self.names, numbers, strict=True)]

    @cached_property
    def _covariance(self) -> Covariance:
        sandwich = self._sandwich()
        return Covariance.of(sandwich, self.release, safe=self.judgement.safe)

    def _sandwich(self) -> Sandwich:
        if self.release.sandwich is None:
            if self.release.plan.loss.code in WITHOUT_INTERVALS:
                raise SettingError("There are no intervals for this model.")
            raise SettingError("This fit did not pay for intervals; fit with inference=True.")
        require_offered(self.release.plan)
        return self.release.sandwich

    def _estimated(self, asked: Combinations) -> Estimated:
        scatter = self._covariance.scatter(asked.weights)
        return Estimated(
            names=asked.labels,
            values=asked.weights @ self.values,
            sampling=scatter.sampling,
            privacy=scatter.privacy,
            degrees=scatter.degrees,
            null=asked.values,
            statements=self.judgement.of(self.names, asked.weights),
            dimension=len(self.names),
        )
