"""`tacit plan`: what a fit would cost and achieve, and what a target would need, before anything is spent."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli import options
from tacit.cli.fit import show_plan
from tacit.cli.options import flag
from tacit.cli.output import Screen, require_writable
from tacit.cli.wording import in_flags
from tacit.errors import SettingError
from tacit.privacy.budget import Budget

if TYPE_CHECKING:
    from tacit.planning.forecast import FitForecast
    from tacit.planning.study import Study
    from tacit.planning.targets import Target


def plan(
    formula: options.Formula,
    *,
    schema: options.SchemaFile,
    records: Annotated[int | None, flag("N", "Number of records, where it is public.", "--n")] = None,
    budget: options.BudgetOptions,
    model: options.ModelOptions,
    target: Annotated[
        str | None, flag("NAME=VALUE", "What the fit shall reach: half-width, power, error or excess.")
    ] = None,
    assume: Annotated[
        list[str] | None,
        flag(
            "NAME=VALUE",
            "What you know of the table: share=0.02 of the second label, mean=0.4 of counts, effect=0.6 (deviation of "
            "the log odds), spread=0.5 (of columns, in half ranges); a column's mean and deviation, age=55,20; shares "
            "of a factor's levels, ward=0.7,0.2,0.1. Repeatable.",
        ),
    ] = None,
    term: Annotated[str | None, flag("NAME", "Coefficient of the target. Default: the widest of all slopes.")] = None,
    effect: Annotated[float | None, flag("B", "Coefficient that a test shall find, for power.")] = None,
    forecast: Annotated[bool, flag(None, "Simulate the fit on public rows.", "--forecast/--no-forecast")] = True,
    plot: Annotated[Path | None, flag("FILE", "Draw the error against ε and n: .png, .svg or .pdf.")] = None,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Show what a fit would cost and achieve.

    No table is read and nothing is spent. The forecast runs the plan on simulated public rows, by the guesses that it
    names and --assume replaces. With a --target and only one of --n and --epsilon, the least of the other is found.
    """
    require_writable([plot], [schema], force=force)
    from tacit.estimators.study import plan as study_plan
    from tacit.planning.assumptions import assumptions_of
    from tacit.planning.targets import target_of
    from tacit.report.figure import picture_file
    from tacit.report.forecast import plot_study, target_document
    from tacit.report.statements import plan_document
    from tacit.solvers.choice import plan_warnings

    asked = None if target is None else target_of(target, term, effect)
    if asked is None and (term is not None or effect is not None):
        raise SettingError("--term and --effect are for a target: add --target, for example --target half-width=0.1")
    if plot is not None:
        picture_file(plot)
    whole = budget.budget() if budget.is_given or asked is None or records is None else None
    if whole is None and budget.delta is not None:
        raise SettingError(
            "--delta needs --epsilon: without a budget the least epsilon is sought at the default delta."
        )
    known = assumptions_of(assume or [])
    study = study_plan(formula, schema, n=records, budget=whole, assumptions=known, **asdict(model))
    if study.open is not None:
        study = _found(study, asked)
    planned = study.plan
    warned = [in_flags(text) for text in (*plan_warnings(planned), *planned.cautions())]
    found = _forecast(study, forecast or asked is not None or plot is not None, needed=asked is not None, warned=warned)
    document: dict[str, Any] = {**plan_document(planned), "warnings": warned, "forecast": _document(found)}
    if asked is not None:
        document["target"] = target_document(study, asked)
    if plot is not None:
        plot_study(study, plot, target=asked)
        document["plot"] = str(plot)
    screen.result(document)
    show_plan(planned, screen)
    _show(found, study, asked, document.get("target"), screen)
    for text in warned:
        screen.say(text, "warning")
    if plot is not None:
        screen.plain(f"  The picture is in {plot}")


def _found(study: Study, asked: Target | None) -> Study:
    """The study with the least n or ε that meets a target, in place of the one that was not given."""
    if asked is None or study.open is None:
        raise SettingError("The number of records is missing: --n N, or n_at_least in the schema where it is private.")
    found = study.least(study.open, asked)
    if found.value is None:
        raise SettingError(str(found.reason))
    if study.open == "n":
        return replace(study, n=round(found.value), open=None)
    return replace(study, budget=Budget(epsilon=found.value, delta=study.budget.delta), open=None)


def _forecast(study: Study, wanted: bool, *, needed: bool, warned: list[str]) -> FitForecast | None:
    """The forecast; a plan that cannot be simulated is shown without one, unless a target needs it."""
    if not wanted:
        return None
    try:
        return study.forecast
    except SettingError as error:
        if needed or not study.plan.private:
            if needed:
                raise
            return None
        warned.append(in_flags(str(error)))
        return None


def _document(found: FitForecast | None) -> dict[str, Any] | None:
    from tacit.report.forecast import forecast_document

    return None if found is None else forecast_document(found)


def _show(
    found: FitForecast | None, study: Study, asked: Target | None, target: dict[str, Any] | None, screen: Screen
) -> None:
    from tacit.report.forecast import forecast_lines, forecast_table, target_lines

    if found is None:
        return
    screen.part("Forecast", forecast_table(found))
    for line in forecast_lines(found):
        screen.say(in_flags(line))
    if asked is not None and target is not None:
        screen.heading("Target")
        for line in target_lines(study, asked, target):
            screen.say(in_flags(line))
