"""`tacit fit`: a table, a formula, a schema and a budget in; a private fit out."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tacit.cli import options
from tacit.cli.exit_codes import error_document, exit_of, tell_error
from tacit.cli.output import Screen
from tacit.cli.output_files import require_writable
from tacit.errors import FileError, SettingError

if TYPE_CHECKING:
    from tacit.contract.plan import Plan
    from tacit.estimators.fit import Fit


def fit(
    data: options.DataFile,
    formula: options.Formula,
    *,
    schema: options.SchemaFile,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    mu: options.Mu = None,
    rho: options.Rho = None,
    family: options.Family = "binomial",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Keep the fit as JSON.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", metavar="FILE", help="Keep the certificate.")
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", metavar="KEY", help="Sign the certificate (see tacit key)."),
    ] = None,
    solver: options.Solver = "auto",
    iterations: options.Iterations = None,
    step_size: options.StepSize = None,
    max_passes: options.MaxPasses = None,
    l2: options.Ridge = 0.0,
    radius: options.Radius = None,
    row_norm: options.RowNorm = None,
    inference: options.Inference = None,
    invalid_rows: options.InvalidRows = None,
    random_state: Annotated[
        int | None,
        typer.Option("--random-state", metavar="N", help="Reproducible noise: NOT private."),
    ] = None,
    ledger: options.LedgerFile = None,
    dataset: options.Dataset = None,
    analyst: options.Analyst = None,
    project: options.Project = None,
    label: options.Label = None,
    key: options.RequestKey = None,
    again: options.Again = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit a model to a private table under a budget.

    Everything given is checked before anything is spent.
    """
    screen = Screen(as_json, quiet)
    require_writable([output, certificate], [data, schema, sign, ledger], force=force)
    budget = options.budget_of(epsilon, delta, mu, rho)
    if sign is not None:
        _require_readable(sign)
    from tacit.estimators.glm import glm

    asked = Asked(dataset, analyst, project, label, key, again or None)
    with charging(ledger, asked), screen.work() as progress:
        fitted = glm(
            formula,
            data,
            schema,
            family,
            budget=budget,
            row_norm=row_norm,
            solver=solver,
            iterations=iterations,
            step_size=step_size,
            max_passes=max_passes,
            radius=radius,
            l2=l2,
            inference=inference,
            invalid_rows=invalid_rows,
            random_state=random_state,
            progress=progress,
            on_plan=lambda plan: _before_spending(
                plan, screen, sign, None if random_state is not None else data
            ),
        )
    if sign is not None:
        fitted = signed(fitted, sign)
    report(fitted, screen, {"fit": output, "certificate": certificate})


class Asked(NamedTuple):
    """What a ledger is told of a fit: of which dataset, by whom, for what, and under which key."""

    dataset: str | None = None
    analyst: str | None = None
    project: str | None = None
    label: str | None = None
    key: str | None = None
    again: bool | None = None


def charging(ledger: Path | None, asked: Asked) -> AbstractContextManager[object]:
    """The ledger that the fit is charged to; it must exist and be that of the dataset."""
    if ledger is None:
        for name, text in asked._asdict().items():
            if text is not None:
                raise SettingError(f"--{name} is for a ledger: add --ledger FILE")
        return nullcontext()
    from tacit.ledger.ledger import Ledger

    if not ledger.exists():
        raise FileError(
            f"the ledger {str(ledger)!r} does not exist; begin it with its budget: "
            f"tacit ledger create {ledger} --epsilon 3 --delta 1e-6"
        )
    opened = Ledger(ledger, dataset=asked.dataset, analyst=asked.analyst, project=asked.project)
    if asked.again and asked.key is None:
        raise SettingError("--again pays once more for the request under a key: add --key NAME")
    return opened.request(asked.key, label=asked.label, again=bool(asked.again))


def report(fitted: Fit, screen: Screen, files: dict[str, Path | None]) -> None:
    """Keep a finished fit and show it; it is shown even where it cannot be kept."""
    failure = _keep(fitted, files)
    document = fit_document(fitted, screen.warned)
    document["files"] = {name: str(path) for name, path in files.items() if path is not None}
    if failure is not None:
        document |= error_document(type(failure).__name__, str(failure))
    screen.result(document)
    show(fitted, screen)
    if failure is not None:
        if not screen.as_json:
            tell_error(type(failure).__name__, str(failure), as_json=False)
        raise typer.Exit(exit_of(failure))
    for name, path in document["files"].items():
        screen.plain(f"  The {name} is in {path}")


def show(fitted: Fit, screen: Screen) -> None:
    """Write coefficients, what may be said of them, guarantee and promise."""
    from tacit.inference.summary_rendering import summary_notes, summary_table
    from tacit.report.statements import promise

    summary = fitted.summary()
    screen.heading("Coefficients")
    screen.table(summary_table(summary))
    for note in summary_notes(summary):
        screen.say(note)
    screen.heading("Guarantee")
    screen.say(str(fitted.certificate.rederive()))
    screen.detail(promise(fitted.certificate))


def show_plan(plan: Plan, screen: Screen) -> None:
    """Write route, steps, price and forecast of a plan."""
    from tacit.report.statements import forecast_line, plan_headline, plan_table

    if screen.quiet:
        return
    screen.heading("Plan")
    screen.say(plan_headline(plan), "route")
    if plan.private:
        screen.table(plan_table(plan))
    screen.say(str(plan.guarantee()), "price")
    line = forecast_line(plan)
    if line is not None:
        screen.say(line, "forecast")


def fit_document(fitted: Fit, warned: list[str]) -> dict[str, Any]:
    """The fit as a program reads it; infinity is "inf"."""
    from tacit.report.coefficient_json import interval_document, term_documents

    certificate = fitted.certificate.document
    total = certificate["total"]
    return {
        "terms": term_documents(fitted),
        "intervals": interval_document(fitted),
        "epsilon": total["epsilon"],
        "delta": total["delta"],
        "mu": total["mu"],
        "relation": certificate["relation"],
        "unit": certificate["unit"],
        "private": certificate["private"],
        "warnings": list(warned),
        "certificate": certificate,
    }


def signed(fitted: Fit, key: Path) -> Fit:
    """Return the fit with its certificate signed."""
    from tacit.documents.signature import sign

    stored = replace(fitted.stored, certificate=sign(fitted.certificate, key))
    return replace(fitted, stored=stored)


def _before_spending(plan: Plan, screen: Screen, key: Path | None, data: Path | None) -> None:
    """Show the plan, and rehearse the signature: a key that fails must fail before the fit.

    `data` is the file of a private fit; None where the noise has a seed.
    """
    show_plan(plan, screen)
    if data is not None and plan.private:
        _warn_of_refit(data)
    if key is not None:
        import numpy as np

        from tacit.certificate.certificate import Certificate
        from tacit.contract.release import Release
        from tacit.documents.signature import sign

        # A certificate does not depend on the coefficients, so any will do.
        sign(Certificate.issue(Release(plan, np.zeros(plan.design.width))), key)


def _warn_of_refit(data: Path) -> None:
    """Note a fit of a file, and warn of earlier ones unless this one is charged to a ledger."""
    from tacit.ledger.current_ledger import active_ledger
    from tacit.ledger.repeated_fits import RefitWarning, note_file_fit

    before = note_file_fit(data)
    if before and active_ledger() is None:
        times = "once" if before == 1 else f"{before} times"
        text = (
            f"{str(data)!r} was fitted {times} before from this account. Each fit has its own "
            "guarantee, and together they cost more than each states. Charge the fits of a table "
            "to one ledger, which bounds and certifies the total: tacit ledger create FILE "
            "--epsilon 3 --delta 1e-6, then tacit fit … --ledger FILE."
        )
        warnings.warn(text, RefitWarning, stacklevel=2)


def _require_readable(key: Path) -> None:
    try:
        with key.open("rb"):
            pass
    except OSError as error:
        raise FileError(f"the key {str(key)!r} cannot be read: {error.strerror}") from error


def _keep(fitted: Fit, files: dict[str, Path | None]) -> FileError | None:
    from tacit.files import write_text

    output, certificate = files["fit"], files["certificate"]
    try:
        if output is not None:
            fitted.save(output)
        if certificate is not None:
            write_text(certificate, fitted.certificate.to_json() + "\n")
    except FileError as error:
        return error
    return None
