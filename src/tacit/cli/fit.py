"""`tacit fit`: a private fit of a table."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options
from tacit.cli.options import flag
from tacit.cli.output import Screen, error_document, exit_of, require_writable, tell_error
from tacit.documents import signature
from tacit.errors import FileError
from tacit.files import read_bytes, write_text

if TYPE_CHECKING:
    from tacit.contract.plan import Plan
    from tacit.estimators.fit import Fit


def fit(
    data: options.DataFile,
    formula: options.Formula,
    *,
    schema: options.SchemaFile,
    budget: options.BudgetOptions,
    output: Annotated[Path | None, flag("FILE", "Write the fit as JSON.", "--output", "-o")] = None,
    certificate: Annotated[Path | None, flag("FILE", "Write the certificate.")] = None,
    sign: options.Sign = None,
    model: options.ModelOptions,
    invalid_rows: Annotated[
        str | None,
        flag(
            "error|zero",
            "Refuse a table with missing or undeclared entries, or let such rows add nothing.",
            default="error; zero with --ledger",
        ),
    ] = None,
    file: options.FileOptions,
    random_state: Annotated[int | None, flag("N", "Reproducible noise: NOT private.")] = None,
    where: options.ClusterOptions,
    charge: options.ChargeOptions,
    force: options.Force = False,
    quiet: options.Quiet = False,
    screen: Screen,
) -> None:
    """Fit a model to a private table under a budget.

    Everything given is checked before anything is spent.
    """
    screen = replace(screen, quiet=quiet)
    require_writable([output, certificate], [data, schema, sign, charge.ledger], force=force)
    whole, declared, cluster = budget.budget(), file.of(schema), where.asked()
    if sign is not None:
        read_bytes(sign)
    from tacit.estimators.glm import glm

    with charge.charging(), screen.work() as progress:
        fitted = glm(
            formula,
            data,
            declared,
            budget=whole,
            **asdict(model),
            invalid_rows=invalid_rows,
            random_state=random_state,
            cluster=cluster,
            progress=progress,
            on_plan=lambda plan: _before_spending(plan, screen, sign, data if random_state is None else None),
        )
    if sign is not None:
        stored = replace(fitted.stored, certificate=signature.sign(fitted.certificate, sign))
        fitted = replace(fitted, stored=stored)
    _report(fitted, screen, output, certificate)


def _report(fitted: Fit, screen: Screen, output: Path | None, certificate: Path | None) -> None:
    """Write a finished fit and show it; it is shown even if it cannot be written."""
    from tacit.inference.summary_rendering import summary_notes, summary_table
    from tacit.report.statements import promise

    files = {"fit": output, "certificate": certificate}
    document = fit_document(fitted, screen.warned)
    document["files"] = {name: str(path) for name, path in files.items() if path is not None}
    failure = None
    try:
        if output is not None:
            fitted.save(output)
        if certificate is not None:
            write_text(certificate, fitted.certificate.to_json() + "\n")
    except FileError as error:
        failure = error
        document |= error_document("FileError", str(error))
    screen.result(document)
    summary = fitted.summary()
    screen.part("Coefficients", summary_table(summary))
    for note in summary_notes(summary):
        screen.say(note)
    screen.heading("Guarantee")
    screen.say(str(fitted.certificate.rederive()))
    screen.detail(promise(fitted.certificate))
    if failure is not None:
        if not screen.as_json:
            tell_error("FileError", str(failure), as_json=False)
        raise typer.Exit(exit_of(failure))
    for name, path in document["files"].items():
        screen.plain(f"  The {name} is in {path}")


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
    if (line := forecast_line(plan)) is not None:
        screen.say(line, "forecast")


def fit_document(fitted: Fit, warned: list[str]) -> dict[str, Any]:
    """The fit as a program reads it; infinity is "inf"."""
    from tacit.report.coefficients import interval_document, term_documents

    certificate = fitted.certificate.document
    return {
        "terms": term_documents(fitted),
        "intervals": interval_document(fitted),
        **{name: certificate["total"][name] for name in ("epsilon", "delta", "mu")},
        **{name: certificate[name] for name in ("relation", "unit", "private")},
        "warnings": list(warned),
        "certificate": certificate,
    }


def _before_spending(plan: Plan, screen: Screen, key: Path | None, data: Path | None) -> None:
    """Show the plan, warn of earlier fits, rehearse the signature; `data` is None with a seed."""
    screen.bar.rows = plan.records
    show_plan(plan, screen)
    if data is not None and plan.private:
        from tacit.ledger.current_ledger import active_ledger
        from tacit.ledger.repeated_fits import RefitWarning, note_file_fit

        before = note_file_fit(data)
        if before and active_ledger() is None:
            times = "once" if before == 1 else f"{before} times"
            text = (
                f"{str(data)!r} was fitted {times} before from this account. Each fit has its own "
                "guarantee, and together they cost more than each states. Charge the fits of a "
                "table to one ledger, which bounds and certifies the total: tacit ledger create "
                "FILE --epsilon 3 --delta 1e-6, then tacit fit … --ledger FILE."
            )
            warnings.warn(text, RefitWarning, stacklevel=2)
    if key is not None:
        import numpy as np

        from tacit.certificate.certificate import Certificate
        from tacit.contract.release import Release

        # A certificate does not depend on the coefficients, so any will do.
        signature.sign(Certificate.issue(Release(plan, np.zeros(plan.design.width))), key)
