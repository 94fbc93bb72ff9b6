"""`tacit plan`: what a fit would cost and achieve, and what a target would need, before anything is spent."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli import options
from tacit.cli.fit import show_plan
from tacit.cli.options import flag
from tacit.cli.output import Screen, require_writable
from tacit.cli.wording import in_flags
from tacit.errors import SettingError

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
    term: Annotated[str | None, flag("NAME", "Coefficient of the target. Default: the widest of all slopes.")] = None,
    effect: Annotated[float | None, flag("B", "Coefficient that a test shall find, for power.")] = None,
    forecast: Annotated[bool, flag(None, "Simulate the fit on public rows.", "--forecast/--no-forecast")] = True,
    plot: Annotated[Path | None, flag("FILE", "Draw the error against ε and n: .png, .svg or .pdf.")] = None,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Show what a fit would cost and achieve.

    No table is read and nothing is spent. The forecast runs the plan on simulated public rows.
    """
    whole = budget.budget()
    require_writable([plot], [schema], force=force)
    from tacit.estimators.study import plan as study_plan
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
    study = study_plan(formula, schema, n=records, budget=whole, **asdict(model))
    planned = study.plan
    warned = [in_flags(text) for text in (*plan_warnings(planned), *planned.cautions())]
    found = _forecast(study, forecast or asked is not None or plot is not None, needed=asked is not None, warned=warned)
    document: dict[str, Any] = {**plan_document(planned), "warnings": warned, "forecast": _document(found)}
    if asked is not None:
        document["target"] = target_document(study, asked)
    if plot is not None:
        plot_study(study, plot)
        document["plot"] = str(plot)
    screen.result(document)
    show_plan(planned, screen)
    _show(found, study, asked, document.get("target"), screen)
    for text in warned:
        screen.say(text, "warning")
    if plot is not None:
        screen.plain(f"  The picture is in {plot}")


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
        screen.say(line)
    if asked is not None and target is not None:
        screen.heading("Target")
        for line in target_lines(study, asked, target):
            screen.say(line)
