"""`tacit compare`: all solvers side by side on a public table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from tacit.cli import options
from tacit.cli.options import flag
from tacit.cli.output import Screen, require_writable
from tacit.cli.wording import in_flags


def compare(
    data: options.DataFile,
    formula: options.Formula,
    *,
    schema: options.SchemaFile,
    budget: options.BudgetOptions,
    public: Annotated[
        bool, flag(None, "Declare that every row is public or simulated. Without it nothing is read.", "--public")
    ] = False,
    family: Annotated[str, flag("NAME", "A family of tacit fit.")] = "binomial",
    solvers: Annotated[str | None, flag("NAMES", "Some of the solvers, with commas. Default: all.")] = None,
    repeats: Annotated[int, flag("N", "Fits of each solver.")] = 5,
    file: options.FileOptions,
    plot: Annotated[Path | None, flag("FILE", "Draw the errors: .png, .svg or .pdf.")] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    screen: Screen,
) -> None:
    """Compare error, time and guarantee of all solvers.

    For public or simulated rows alone: they are fitted many times, and exact errors are shown.
    """
    screen = replace(screen, quiet=quiet)
    whole = budget.budget()
    require_writable([plot], [data, schema], force=force)
    from tacit.errors import SettingError
    from tacit.estimators.public_rows import PublicRows
    from tacit.estimators.solver_comparison import NOT_PUBLIC
    from tacit.estimators.solver_comparison import compare as run
    from tacit.report.figure import picture_file
    from tacit.report.solver_comparison import comparison_document, comparison_lines, comparison_table, plot_comparison

    if not public:
        raise SettingError(NOT_PUBLIC)
    if plot is not None:
        picture_file(plot)
    chosen = None if solvers is None else [name.strip() for name in solvers.split(",")]
    with screen.work() as progress:
        found = run(
            formula,
            PublicRows(data),
            file.of(schema),
            family,
            budget=whole,
            solvers=chosen,
            repeats=repeats,
            progress=progress,
        )
    if plot is not None:
        plot_comparison(found, plot)
    screen.result({**comparison_document(found), "picture": plot and str(plot)})
    screen.part("Solvers", comparison_table(found))
    for line in comparison_lines(found):
        screen.say(in_flags(line))
    if plot is not None:
        screen.plain(f"  The picture is in {plot}")
