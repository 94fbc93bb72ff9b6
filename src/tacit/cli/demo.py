"""`tacit demo`: a complete first experience, without arguments and without data."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.cli import options
from tacit.cli.fit import fit_document, show_plan
from tacit.cli.options import flag
from tacit.cli.output import Screen
from tacit.errors import FileError
from tacit.files import write_text

if TYPE_CHECKING:
    from tacit.estimators.fit import Fit
    from tacit.planning.clinic import Columns

EPSILON = 1.0
FILES = {
    "clinic.csv": "the invented table",
    "clinic.toml": "its schema",
    "fit.json": "the private fit",
    "certificate.json": "its certificate",
    "coefficients.png": "a picture",
}


def demo(
    output: Annotated[Path, flag("DIRECTORY", "Where its files go.", "--output", "-o")] = Path(
        "tacit-demo"
    ),
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Show a complete fit, to a synthetic clinic.

    Writes a table, its schema, a fit, its certificate and a picture; earlier files of the demo are
    overwritten.
    """
    screen = Screen(as_json, quiet)
    table = _prepare(output, screen)
    private, plain = _fit_both(output, screen)
    _keep(output, private, plain)
    excess = _show(table, private, plain, screen)
    statement = _verify(output, screen)
    _suggest(output, screen)
    from tacit.planning.clinic import CLINIC_TRUTH

    screen.result(
        {
            **fit_document(private, screen.warned),
            "truth": dict(CLINIC_TRUTH),
            "not_private": plain.params,
            "excess_loss": excess,
            "verified": statement,
            "files": [str(output / name) for name in FILES],
        }
    )


def _prepare(folder: Path, screen: Screen) -> Columns:
    """Write the synthetic table and its schema."""
    from tacit.planning.clinic import CLINIC_FORMULA, CLINIC_SCHEMA, clinic_csv, clinic_table

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"the directory {str(folder)!r} cannot be made: {error.strerror}"
        ) from error
    table = clinic_table()
    text = clinic_csv(table)
    _require_ours(folder, text)
    write_text(folder / "clinic.csv", text)
    write_text(folder / "clinic.toml", CLINIC_SCHEMA)
    screen.heading("Tacit: a model of sensitive records, under differential privacy")
    screen.say(
        f"A synthetic clinic of {len(table['readmit']):,} patients, made from a model whose "
        "coefficients are known, so that the private answer can be held against the truth."
    )
    screen.plain("")
    screen.say(CLINIC_FORMULA, "model")
    screen.say(
        "public facts, declared by a person and never read off the table: age 0 to 110, "
        "blood pressure 60 to 240, bmi 10 to 70, visits 0 to 20, the wards; one record is one "
        "patient",
        "schema",
    )
    screen.say(f"ε = {EPSILON:g}", "budget")
    return table


def _require_ours(folder: Path, text: str) -> None:
    """Overwrite an earlier demo, known by its table, and nobody else's files."""
    taken = [name for name in FILES if (folder / name).exists()]
    found = folder / "clinic.csv"
    if taken and not (found.is_file() and found.read_bytes() == text.encode("utf-8")):
        raise FileError(
            f"{str(folder / taken[0])!r} is not from an earlier demo and is not overwritten; "
            "give another directory with --output"
        )


def _fit_both(folder: Path, screen: Screen) -> tuple[Fit, Fit]:
    """Fit privately, then without privacy, which is fine because these patients are invented."""
    from tacit.estimators.glm import glm
    from tacit.planning.clinic import CLINIC_FORMULA

    model = (CLINIC_FORMULA, folder / "clinic.csv", folder / "clinic.toml")
    with screen.work() as progress:
        private = glm(
            *model,
            epsilon=EPSILON,
            progress=progress,
            on_plan=lambda plan: show_plan(plan, screen),
        )
        plain = glm(*model, epsilon=float("inf"), inference=False)
    return private, plain


def _keep(folder: Path, private: Fit, plain: Fit) -> None:
    from tacit.planning.clinic import CLINIC_TRUTH, CLINIC_UNITS
    from tacit.report.comparison import comparison_picture

    private.save(folder / "fit.json")
    write_text(folder / "certificate.json", private.certificate.to_json() + "\n")
    comparison_picture(
        private.terms,
        folder / "coefficients.png",
        truth=CLINIC_TRUTH,
        reference=plain.params,
        units=CLINIC_UNITS,
        title=f"Predictors of readmission, at ε = {EPSILON:g}",
        axis="change in log odds of readmission",
    )


def _show(table: Columns, private: Fit, plain: Fit, screen: Screen) -> float:
    """Compare the three sets of coefficients; return the loss that privacy added."""
    from tacit.planning.clinic import CLINIC_TRUTH, clinic_loss
    from tacit.report.comparison import comparison_table

    screen.heading("Coefficients")
    screen.table(comparison_table(private.terms, CLINIC_TRUTH, plain.params))
    excess = clinic_loss(table, private.params) - clinic_loss(table, plain.params)
    bound = private.plan.forecast if private.plan is not None else None
    planned = "" if bound is None else f" (the plan allowed for {bound.excess_loss:.2g})"
    screen.say(
        f"Privacy added {excess:.2g} to the mean loss{planned}. This line and the column "
        "“not private” can be shown because the patients are invented."
    )
    return excess


def _verify(folder: Path, screen: Screen) -> str:
    """Check the certificate that was written, from the file alone."""
    from tacit.certificate.fit_file import read_certificate
    from tacit.report.statements import certificate_table, promise

    certificate = read_certificate(folder / "certificate.json")
    statement = certificate.check().statement
    screen.heading("Guarantee")
    screen.say(promise(certificate))
    screen.heading("Certificate")
    screen.table(certificate_table(certificate))
    screen.say(statement)
    return statement


def _suggest(folder: Path, screen: Screen) -> None:
    quoted = shlex.quote(str(folder))
    screen.heading("Files")
    width = max(len(str(folder / name)) for name in FILES)
    for name, content in FILES.items():
        screen.plain(f"  {folder / name!s:<{width}}  {content}")
    screen.heading("Next")
    screen.plain(
        f"  tacit verify {quoted}/certificate.json\n"
        f"  tacit predict {quoted}/fit.json {quoted}/clinic.csv | head\n"
        f'  tacit fit {quoted}/clinic.csv "readmit ~ age + smoker" \\\n'
        f"      --schema {quoted}/clinic.toml --epsilon 0.5"
    )
