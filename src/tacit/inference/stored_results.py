"""Results of a fit that was read from a file: the same numbers and the same statements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tacit.certificate.certificate import INFINITE, SEEDED
from tacit.certificate.estimates import LARGEST_COVARIANCE
from tacit.certificate.fit_file import StoredFit
from tacit.design.response import FAMILIES
from tacit.errors import SettingError
from tacit.inference.estimates import Estimated, simultaneous_method
from tacit.inference.summary import Header, Line, Summary, coefficient_lines, ratio_name

LEVEL = 0.95
"""The level of the intervals that are kept with the terms."""
WHY_NOT = {INFINITE: "no noise was added", SEEDED: "the noise came from a fixed seed"}
OLD = "Read from a file of an older format, which keeps 95% intervals and no tests."


@dataclass(frozen=True)
class StoredResults:
    """Coefficients of a stored fit with standard errors, tests and intervals.

    Guarantee
    ---------
    - Where intervals were paid for, `summary`, `conf_int` and `cov_params` give what they gave
      before the fit was kept, to the last bit, at every level.
    - A file of 0.1.0 gives its 95% intervals, and what it does not hold is refused.

    Parameters
    ----------
    stored
        The fit as it was kept.
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
            raise SettingError(self._missing())
        return Estimated(
            names=self.names,
            values=self.values,
            sampling=np.array(scatter.sampling),
            privacy=np.array(scatter.privacy),
            degrees=np.array(scatter.degrees),
            null=np.zeros(count),
            statements=statements,
            dimension=count,
        )

    def by_name(self, numbers: NDArray[np.float64]) -> dict[str, float]:
        """Numbers of the coefficients, by name."""
        return dict(zip(self.names, numbers.tolist(), strict=True))

    def conf_int(
        self, level: float = LEVEL, which: str = "total", simultaneous: bool | str = False
    ) -> NDArray[np.float64]:
        """Intervals of all coefficients, as `Results.conf_int`."""
        return self.coefficients.conf_int(level, which, simultaneous)

    def cov_params(self, which: str = "total") -> NDArray[np.float64]:
        """Covariance of the coefficients, sampling and privacy noise together."""
        rows = self.stored.estimates.covariance
        if which != "total":
            raise SettingError('A stored fit keeps the covariance of which="total" only.')
        if self.stored.estimates.scatter is None:
            raise SettingError(self._missing())
        if rows is None:
            raise SettingError(
                f"The covariance is kept for up to {LARGEST_COVARIANCE} coefficients, where it is "
                "finite."
            )
        count = len(rows)
        matrix = np.zeros((count, count))
        matrix[np.tril_indices(count)] = np.concatenate(rows)
        return np.asarray(np.tril(matrix) + np.tril(matrix, -1).T)

    def summary(
        self,
        level: float = LEVEL,
        *,
        which: str = "total",
        exponentiate: bool = False,
        simultaneous: bool | str = False,
        stars: bool = False,
    ) -> Summary:
        """The table of coefficients under the facts of the fit, as `Results.summary`."""
        estimates, found = self.stored.estimates, None
        estimate = ratio_name(self.stored.design.response) if exponentiate else "coef"
        if estimates.scatter is not None:
            found = self.coefficients
        elif any(term.std_err is not None for term in estimates.terms):
            return self._old_summary((level, which, exponentiate, simultaneous, stars))
        ends = None if found is None else found.conf_int(level, which, simultaneous)
        return Summary(
            header=self._header(),
            lines=coefficient_lines(self.names, self.values, found, ends, exponentiate),
            estimate=estimate,
            level=level,
            which=which,
            simultaneous=simultaneous_method(simultaneous),
            statement=estimates.reliability.statement,
            notes=estimates.reliability.notes,
            offered=estimates.reliability.offered,
            stars=stars,
        )

    def summary_frame(self, level: float = LEVEL, *, exponentiate: bool = False) -> Any:
        """The table as pandas' DataFrame; without pandas as a dict of columns."""
        return self.summary(level, exponentiate=exponentiate).summary_frame()

    def t_test(self, combinations: Any) -> NoReturn:
        """Refuse: a file does not keep what combinations need."""
        del combinations
        raise SettingError(
            "A stored fit keeps the errors of its coefficients, and not those of combinations of "
            "them; test combinations before it is kept."
        )

    wald_test = t_test

    def _old_summary(self, asked: tuple[Any, ...]) -> Summary:
        if asked != (LEVEL, "total", False, False, False):
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
            model=f"{family}, {FAMILIES[family].link} link",
            response=self.stored.design.response.column,
            records=document["records"]["value"],
            records_at_least=document["records"]["which"] != "n",
            guarantee=self.stored.certificate.rederive(),
            not_private=WHY_NOT.get(why),
            method=document["solver"],
            passes=None if why == INFINITE else sum(e["times"] for e in document["events"]),
        )
