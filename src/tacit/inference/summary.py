"""The summary of a fit as data: header, a line for each coefficient, and notes about intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.certificate.certificate import INFINITE
from tacit.certificate.fit_file import Reliability
from tacit.certificate.stated_parts import SEEDED
from tacit.contract.plan import LEVEL_ONLY, MANY_ROWS
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.design.response import Binary, Classes, CloglogBinary, Count, Positive, ProbitBinary, Response
from tacit.display import Displayed
from tacit.errors import SettingError
from tacit.inference.estimates import Estimated, Line, factors_of, lines_frame, ratios, simultaneous_method
from tacit.inference.kept_release import KeptRelease
from tacit.inference.reliability import ExactJudgement, StepJudgement, not_offered
from tacit.inference.summary_rendering import summary_csv, summary_html, summary_latex, summary_markdown, summary_text
from tacit.inference.units import Units, beside_units, checked_units
from tacit.losses.loss import Code
from tacit.privacy.budget import Guarantee

MODELS: Mapping[Code, str] = MappingProxyType(
    {
        Code.LOGISTIC: "binomial, logit link",
        Code.SOFTMAX: "multinomial, softmax link",
        Code.SQUARED: "gaussian, identity link",
        Code.HUBER: "huber, identity link",
        Code.POISSON: "poisson, log link",
        Code.PINBALL: "quantile, identity link",
        Code.PROBIT: "binomial, probit link",
        Code.CLOGLOG: "binomial, cloglog link",
        Code.GAMMA: "gamma, log link",
        Code.NEGATIVE_BINOMIAL: "negative binomial, log link",
        Code.HINGE: "support vector machine",
        Code.DISTANCE: "mean",
    }
)
TARGETS: Mapping[Code, str] = MappingProxyType(
    {
        Code.SQUARED: "Target: least squares. The clip of the gradients adapts to their measured "
        "tail, and what it may change is in the intervals.",
        Code.POISSON: "Target: the mean count (quasi-likelihood). The clip of the gradients adapts "
        "to their measured tail, and what it may change is in the intervals.",
        Code.GAMMA: "Target: the mean response (quasi-likelihood). The clip of the gradients adapts "
        "to their measured tail, and what it may change is in the intervals.",
        Code.NEGATIVE_BINOMIAL: "Target: the mean count (quasi-likelihood, with the declared alpha). The clip of the "
        "gradients adapts to their measured tail, and what it may change is in the intervals.",
        Code.HUBER: "Errors far from their center count less (Huber's score): under errors that "
        "are not symmetric the intercept is that of their center, not of their mean.",
        Code.SOFTMAX: "Coefficients of a column add up to 0 over the classes; what tells classes apart are "
        "differences between them, which t_test, or tacit test, takes by name.",
    }
)
"""What a private fit with intervals estimates."""
WHY_NOT = MappingProxyType({INFINITE: "no noise was added", SEEDED: "the noise came from a fixed seed"})


@dataclass(frozen=True)
class Header:
    """The header of a summary.

    `not_private` says why nothing is guaranteed, where nothing is. `records` is the number of
    records, or the declared lower bound where `records_at_least`. `passes` is None where the
    records were read until convergence.
    """

    model: str
    response: str | None
    records: int | None
    records_at_least: bool
    guarantee: Guarantee
    not_private: str | None
    method: str
    passes: int | None

    @classmethod
    def of(cls, release: Release) -> Header:
        """Header of a release: family, records, guarantee, method."""
        plan = release.plan
        why = WHY_NOT[SEEDED] if release.reproducible else None
        if not plan.private:
            why = WHY_NOT[INFINITE]
        return cls(
            model=MODELS.get(plan.loss.code, plan.loss.name),
            response=plan.design.response.column,
            records=plan.records,
            records_at_least=not plan.relation.n_is_public,
            guarantee=plan.guarantee(),
            not_private=why,
            method=plan.solver.name,
            passes=plan.queries if plan.private else None,
        )


@dataclass(frozen=True)
class Shown:
    """How a summary is asked for; see `ResultsMixin.summary`."""

    level: float = 0.95
    which: str = "total"
    exponentiate: bool = False
    simultaneous: bool | str = False
    stars: bool = False
    units: Units | None = None


@dataclass(frozen=True, repr=False)
class Summary(Displayed):
    """Coefficients of a release and its guarantee; `print` it, or show it in a notebook.

    `estimate` names what is shown ("coef", "odds ratio", "rate ratio"). `level`, `which` and
    `simultaneous` are those of the intervals, `statement` and `notes` say how reliable they are.
    `offered` is False where intervals were asked for and would mean nothing.
    """

    header: Header
    lines: tuple[Line, ...]
    estimate: str = "coef"
    level: float = 0.95
    which: str = "total"
    simultaneous: str | None = None
    statement: str | None = None
    notes: tuple[str, ...] = ()
    offered: bool = True
    stars: bool = False

    @classmethod
    def of(
        cls,
        header: Header,
        design: Design,
        named: tuple[tuple[str, ...], NDArray[np.float64]],
        found: Estimated | None,
        reliability: Reliability,
        shown: Shown,
    ) -> Summary:
        """Summary of names and coefficients, with `found` errors where intervals are offered."""
        dates = {name: reading.unit for name, reading in design.reading.dates.items()}
        units = checked_units(shown.units, named[0], dates)
        factors, names = factors_of(units, named[0])
        values = named[1] * factors
        estimate = ratio_name(design.response) if shown.exponentiate else "coef"
        if found is None:
            values = ratios(values) if shown.exponentiate else values
            lines = tuple(map(Line, names, values.tolist()))
        else:
            found = found.in_units(units)
            ends = found.conf_int(shown.level, shown.which, shown.simultaneous)
            lines = replace(found, values=values).lines(ends, exponentiate=shown.exponentiate)
        return cls(
            header=header,
            lines=lines,
            estimate=estimate,
            level=shown.level,
            which=shown.which,
            simultaneous=simultaneous_method(shown.simultaneous),
            statement=reliability.statement,
            notes=(*reliability.notes, *beside_units(units, named[0])),
            offered=reliability.offered,
            stars=shown.stars,
        )

    def as_text(self) -> str:
        """The table as plain text."""
        return summary_text(self)

    def as_html(self) -> str:
        """The table as a fragment of HTML, with its own style."""
        return summary_html(self)

    def as_latex(self) -> str:
        """The table as a LaTeX tabular, for the package booktabs."""
        return summary_latex(self)

    def as_markdown(self) -> str:
        """The table as Markdown, with the facts above it and the notes below."""
        return summary_markdown(self)

    def as_csv(self) -> str:
        """The lines as CSV, with every digit; nothing where there is no number."""
        return summary_csv(self)

    def summary_frame(self) -> Any:
        """The lines as a table of pandas', or as a dict of columns where that is not installed."""
        return lines_frame(self.lines)

    __str__ = as_text
    _repr_html_ = as_html


def ratio_name(response: Response) -> str:
    """What the exponential of a coefficient is called, where it is anything."""
    match response:
        case CloglogBinary():
            return "hazard ratio"
        case ProbitBinary():
            raise SettingError(
                "exponentiate=True has no meaning for a probit model: its coefficients are no logarithms."
            )
        case Binary():
            return "odds ratio"
        case Count():
            return "rate ratio"
        case Positive():
            return "ratio of means"
        case Classes():
            raise SettingError(
                "exponentiate=True is not for several classes, whose coefficients are no ratios by themselves: "
                "differences between two classes are logarithms of odds ratios, and a test takes them by name, such "
                f'as "{response.classes[1]}: x - {response.classes[0]}: x".'
            )
    raise SettingError(
        "exponentiate=True is for two classes (odds ratios, or hazard ratios), counts (rate ratios) and gamma models "
        "(ratios of means); the coefficients of this model are differences."
    )


def notes_of(release: Release | KeptRelease, judgement: ExactJudgement | StepJudgement | None) -> tuple[str, ...]:
    """Sentences below the table: why intervals are not nominal, and what is estimated."""
    plan = release.plan
    dates = tuple(date_notes(plan.design))
    if judgement is None:
        asked = release.sandwich is not None or plan.intervals_declined
        reason = not_offered(plan) if asked else None
        level = (LEVEL_ONLY,) if plan.level_only else ()
        level = (*level, *dates, *map(str, release.statistics))
        return level if reason is None else (*level, f"Intervals are not offered: {reason}.")
    notes = judgement.notes(plan.design.terms)
    if plan.private and plan.loss.code in TARGETS:
        notes.append(TARGETS[plan.loss.code])
    if plan.design.unit_rows > 1:
        notes.append(MANY_ROWS.format(unit=plan.unit))
    notes.extend([*dates, *map(str, release.statistics)])
    return tuple(notes)


def date_notes(design: Design) -> Iterator[str]:
    """Where the intercept lies, of a date that is counted from an origin far from all records."""
    for name, reading in design.reading.dates.items() if design.reports_intercept else ():
        if reading.origin is None and reading.unit == "years":
            text = f"{name} counts years such as 2015.5, and the intercept is at year 0"
            yield f"{text}: declare an origin within the bounds."
        elif reading.origin is None:
            text = f"{name} counts days from 1970-01-01, and the intercept is at that day"
            yield f"{text}: declare an origin within the bounds. Effects of a year: {name}=365.25."
