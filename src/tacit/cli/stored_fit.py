"""`tacit summary`, `tacit plot` and `tacit test`: what a stored fit says. Nothing is spent, and no table is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from tacit.cli import options
from tacit.cli.options import argument, flag
from tacit.cli.output import Screen, require_writable
from tacit.errors import SettingError
from tacit.files import write_text
from tacit.validate import one_of

FitFile = Annotated[Path, argument("FIT", "What tacit fit --output wrote.")]
Level = Annotated[float, flag("P", "Level of the intervals.")]
Exponentiate = Annotated[bool, flag(None, "Odds ratios or rate ratios.", "--exponentiate")]
Per = Annotated[list[str] | None, flag("TERM=UNITS", 'Effects of more than one unit: "age=10 years". Repeatable.')]
FORMATS = {"text": "as_text", "html": "as_html", "latex": "as_latex", "markdown": "as_markdown", "csv": "as_csv"}


def summary(
    fit: FitFile,
    *,
    level: Level = 0.95,
    exponentiate: Exponentiate = False,
    simultaneous: Annotated[bool, flag(None, "Intervals that hold for all terms at once.", "--simultaneous")] = False,
    per: Per = None,
    form: Annotated[str, flag("|".join(FORMATS), "How the table is written.", "--format")] = "text",
    output: Annotated[Path | None, flag("FILE", "Write it to a file.", "--output", "-o")] = None,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Show the coefficients of a stored fit, at any level.

    Costs no budget: what is shown was paid for when the table was fitted.
    """
    one_of("--format", form, tuple(FORMATS))
    require_writable([output], [fit], force=force)
    from tacit.estimators.fit import load
    from tacit.inference.units import parsed_units
    from tacit.report.coefficients import summary_document

    shown = load(fit).summary(
        level, exponentiate=exponentiate, simultaneous=simultaneous, units=parsed_units(per or [])
    )
    text = getattr(shown, FORMATS[form])()
    if output is not None:
        write_text(output, text + "\n")
    screen.result({**summary_document(shown), "output": output and str(output)})
    screen.plain(text if output is None else f"The summary is in {output}")


def plot(
    fit: FitFile,
    output: Annotated[Path, flag("FILE", "The picture: .png, .svg or .pdf.", "--output", "-o")],
    *,
    level: Level = 0.95,
    exponentiate: Exponentiate = False,
    per: Per = None,
    effect: Annotated[
        str | None, flag("COLUMN", "Draw the fitted mean against this column, in place of the coefficients.")
    ] = None,
    at: Annotated[list[str] | None, flag("COLUMN=VALUE", "Where --effect holds another column. Repeatable.")] = None,
    title: Annotated[str | None, flag("TEXT", "Above the picture. Default: the model and its guarantee.")] = None,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Draw the coefficients of a stored fit with their intervals, or with --effect its mean against a column.

    Costs no budget. The thick bar leaves out the noise that was added.
    """
    from tacit.report.figure import picture_file

    require_writable([picture_file(output)], [fit], force=force)
    from tacit.estimators.fit import load
    from tacit.inference.units import parsed_units
    from tacit.report.coefficients import plot as draw

    if effect is None and at:
        raise SettingError("--at holds columns of a picture of an effect: add --effect COLUMN")
    if effect is not None:
        if exponentiate or per:
            raise SettingError("--effect draws means of the response: leave --exponentiate and --per out")
        from tacit.report.effect_picture import plot_effect

        plot_effect(load(fit), effect, output, at=_held(at or []), level=level, title=title)
    else:
        scales = dict(parsed_units(per or []))
        draw(load(fit), output, level=level, exponentiate=exponentiate, units=scales, title=title)
    screen.result({"output": str(output)})
    screen.plain(f"The picture is in {output}")


def _held(words: list[str]) -> dict[str, Any]:
    """Read "age=50" and "ward=surgery"."""
    found: dict[str, Any] = {}
    for text in words:
        name, mark, value = text.rpartition("=")
        if not name.strip() or not mark:
            raise SettingError(f"--at is COLUMN=VALUE, for example age=50; got {text!r}.")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            found[name.strip()] = value.strip()
    return found


def examine(
    fit: FitFile,
    hypotheses: Annotated[
        list[str] | None, argument("HYPOTHESIS", 'For example "age - bmi = 0"; several are tested each.')
    ] = None,
    *,
    contrasts: Annotated[str | None, flag("FACTOR", "Test all differences of two levels of a factor.")] = None,
    reference: Annotated[str | None, flag("LEVEL", "With --contrasts: differences from this level alone.")] = None,
    joint: Annotated[bool, flag(None, "Test all of them at once (Wald).", "--joint")] = False,
    level: Level = 0.95,
    exponentiate: Exponentiate = False,
    form: Annotated[str, flag("|".join(FORMATS), "How the table is written.", "--format")] = "text",
    screen: Screen,
) -> None:
    """Test hypotheses about the coefficients of a stored fit.

    Costs no budget. A hypothesis is a linear combination, such as "age - bmi = 0" or "2*age = 1", or a difference of
    two levels as --contrasts names it, such as "region: north - south".
    """
    one_of("--format", form, tuple(FORMATS))
    if (contrasts is None) == (not hypotheses):
        raise SettingError(
            'what is tested is missing or said twice: give hypotheses ("age = 0"), or --contrasts FACTOR'
        )
    if contrasts is None and reference is not None:
        raise SettingError("--reference is a level of the factor of --contrasts")
    if joint and (contrasts is not None or exponentiate or form != "text"):
        raise SettingError(
            "--joint is one line about given hypotheses: it goes without --contrasts, ratios and --format"
        )
    from tacit.documents.canonical_json import plain
    from tacit.estimators.fit import load
    from tacit.inference.summary import ratio_name
    from tacit.inference.summary_rendering import lines_in, lines_table
    from tacit.report.coefficients import line_documents

    fitted = load(fit)
    estimate = ratio_name(fitted.stored.design.response) if exponentiate else "estimate"
    if joint:
        wald: Any = fitted.wald_test(hypotheses)
        names = ("statistic", "df_num", "df_denom", "pvalue", "distribution", "statement", "labels")
        screen.result({name: plain(getattr(wald, name)) for name in names})
        screen.say(str(wald))
        screen.say(f"Its level is {wald.statement}.")
        return
    found = fitted.t_test(hypotheses) if contrasts is None else fitted.contrasts(contrasts, reference)
    lines = found.lines(found.conf_int(level), exponentiate=exponentiate)
    screen.result({"level": level, "estimate": estimate, "tests": line_documents(lines)})
    if form == "text":
        screen.table(lines_table(lines, estimate, level))
    else:
        screen.plain(lines_in(form, lines, estimate, level))
