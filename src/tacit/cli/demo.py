"""`tacit demo`: a complete first experience, without arguments and without data."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.cli import options
from tacit.cli.fit import fit_document, show_plan
from tacit.cli.options import flag
from tacit.cli.output import Screen
from tacit.errors import FileError
from tacit.files import write_text

if TYPE_CHECKING:
    from tacit.planning.demo_table import Columns

FILES = {
    "clinic.csv": "the invented table",
    "clinic.toml": "its schema",
    "fit.json": "the private fit",
    "certificate.json": "its certificate",
    "coefficients.png": "a picture",
}


def demo(
    *,
    output: Annotated[Path, flag("DIRECTORY", "Where its files go.", "--output", "-o")] = Path("tacit-demo"),
    quiet: options.Quiet = False,
    screen: Screen,
) -> None:
    """Show a complete fit, to a synthetic clinic.

    Writes a table, its schema, a fit, its certificate and a picture; earlier files of the demo are overwritten.
    """
    screen = replace(screen, quiet=quiet)
    table = _prepare(output, screen)
    from tacit.certificate.fit_file import read_certificate
    from tacit.estimators.glm import glm
    from tacit.planning import demo_table
    from tacit.report.coefficients import comparison_picture, comparison_table
    from tacit.report.statements import certificate_table, promise

    model = (demo_table.CLINIC_FORMULA, output / "clinic.csv", output / "clinic.toml")
    with screen.work() as progress:
        private = glm(*model, epsilon=1.0, progress=progress, on_plan=lambda plan: show_plan(plan, screen))
        # Without privacy, which is fine because these patients are invented.
        plain = glm(*model, epsilon=float("inf"), inference=False)
    private.save(output / "fit.json")
    write_text(output / "certificate.json", private.certificate.to_json() + "\n")
    comparison_picture(
        private.terms,
        output / "coefficients.png",
        truth=demo_table.CLINIC_TRUTH,
        reference=dict(plain.params),
        units=demo_table.CLINIC_UNITS,
        title="Predictors of readmission, at ε = 1",
        axis="change in log odds of readmission",
    )
    screen.part("Coefficients", comparison_table(private.terms, demo_table.CLINIC_TRUTH, plain.params))
    excess = demo_table.clinic_loss(table, private.params) - demo_table.clinic_loss(table, plain.params)
    bound = private.plan.forecast if private.plan is not None else None
    planned = "" if bound is None else f" (the plan allowed for {bound.excess_loss:.2g})"
    screen.say(
        f"Privacy added {excess:.2g} to the mean loss{planned}. This line and the column "
        "“not private” can be shown because the patients are invented."
    )
    certificate = read_certificate(output / "certificate.json")  # From the file alone, as any reader checks it.
    statement = certificate.check().statement
    screen.heading("Guarantee")
    screen.say(promise(certificate))
    screen.part("Certificate", certificate_table(certificate))
    screen.say(statement)
    screen.heading("Files")
    width = max(len(str(output / name)) for name in FILES)
    for name, content in FILES.items():
        screen.plain(f"  {output / name!s:<{width}}  {content}")
    screen.heading("Next")
    folder = shlex.quote(str(output))
    screen.plain(
        f"  tacit verify {folder}/certificate.json\n"
        f"  tacit predict {folder}/fit.json {folder}/clinic.csv | head\n"
        f'  tacit fit {folder}/clinic.csv "readmit ~ age + smoker" \\\n'
        f"      --schema {folder}/clinic.toml --epsilon 0.5"
    )
    screen.result(
        {
            **fit_document(private, screen.warned),
            "truth": dict(demo_table.CLINIC_TRUTH),
            "not_private": dict(plain.params),
            "excess_loss": excess,
            "verified": statement,
            "files": [str(output / name) for name in FILES],
        }
    )


def _prepare(folder: Path, screen: Screen) -> Columns:
    """Write the synthetic table and its schema, over an earlier demo and nobody else's files."""
    from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, clinic_csv, clinic_table

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the directory {str(folder)!r} cannot be made: {error.strerror}") from error
    table = clinic_table()
    text, file = clinic_csv(table), folder / "clinic.csv"
    taken = [name for name in FILES if (folder / name).exists()]
    if taken and not (file.is_file() and file.read_bytes() == text.encode("utf-8")):
        raise FileError(
            f"{str(folder / taken[0])!r} is not from an earlier demo and is not overwritten; "
            "give another directory with --output"
        )
    write_text(file, text)
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
        "blood pressure 60 to 240, bmi 10 to 70, visits 0 to 20, the wards; one record is one patient",
        "schema",
    )
    screen.say("ε = 1", "budget")
    return table
