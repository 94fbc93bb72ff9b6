"""The command `tacit`, its one handler of errors, and the short commands schema, predict and key."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TextIO

import typer
import typer.main

from tacit import __version__
from tacit.cli import options
from tacit.cli.account import account
from tacit.cli.audit import audit
from tacit.cli.compare import compare
from tacit.cli.demo import demo
from tacit.cli.fit import fit
from tacit.cli.images import images
from tacit.cli.ledger import ledger
from tacit.cli.options import argument, flag
from tacit.cli.output import EPILOG, Exit, Screen, exit_of, require_writable, tell_error, tell_fault
from tacit.cli.plan import plan
from tacit.cli.report import report
from tacit.cli.stored_fit import examine, plot, summary
from tacit.cli.verify import verify
from tacit.documents.signature import new_key
from tacit.errors import TacitError
from tacit.files import replacing, write_text
from tacit.validate import between

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.design.response import Response

    Blocks = Iterable[NDArray[np.float64]]

# The root of what typer raises for a wrong command line; its place differs between versions.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

COLUMN, OTHER = "probability", "prediction"
MISSING = '""'  # A quoted blank: readers of CSV skip a line that is empty, and the rows would shift.

app = typer.Typer(
    name="tacit",
    epilog=EPILOG,
    add_completion=False,
    # Its tracebacks may print local variables, and those hold rows.
    pretty_exceptions_enable=False,
    # Boxes are for terminals; without them help is also faster.
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False
) -> None:
    """Fit statistical models to sensitive tables, under differential privacy.

    Begin with: tacit demo
    """
    if version:
        typer.echo(f"tacit {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def schema(
    data: options.DataFile,
    *,
    output: Annotated[Path | None, flag("FILE", "Write a TOML file.", "--output", "-o")] = None,
    file: options.FileOptions,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Write a schema to fill in, from names and types.

    No value of the table is read, and no statistic of its values: bounds and levels are public
    facts that a person declares.
    """
    require_writable([output], [data], force=force)
    from tacit.engine.prediction import describe, proposed
    from tacit.schema.template import template

    written = file.format_of(proposed(data))
    found = describe(data, written)
    is_text = all(kind == "unknown" for kind in found.kinds)
    text = template(found.names, found.kinds, data.name, written if is_text else None, file.missing or ())
    if output is not None:
        write_text(output, text)
    columns = [{"name": name, "kind": kind} for name, kind in zip(found.names, found.kinds, strict=True)]
    screen.result({"columns": columns, "template": text, "output": output and str(output)})
    done = f"The template is in {output}. Fill in the bounds and levels, then: tacit fit"
    screen.plain(text if output is None else done)


def predict(
    fit: Annotated[Path, argument("FIT", "What tacit fit --output wrote.")],
    data: options.DataFile,
    *,
    intervals: Annotated[
        float | None,
        flag("P", "Add intervals of this level, such as 0.95: of the mean, and of a new response of numbers."),
    ] = None,
    output: Annotated[Path | None, flag("FILE", "Write a CSV file.", "--output", "-o")] = None,
    file: options.FileOptions,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Predict probabilities for the records of a table, or values and counts.

    Probabilities are those of the second class, or of each where there are three or more; a record with a missing or
    undeclared value has none. Costs no budget, and protects nobody in the new table. Intervals are for fits that paid
    for theirs; one that is withheld is left empty.
    """
    if intervals is not None:
        between("--intervals", intervals, 0, 1)
    require_writable([output], [fit, data], force=force)
    from tacit.estimators.fit import load

    with screen.work():
        fitted = load(fit)
        names, reading = columns_of(fitted.stored.design.response), file.reading_of(fitted.stored.design.reading)
        what = "predictions" if names == (OTHER,) else "probabilities"
        if intervals is None:
            later = fitted.predict_blocks(data, reading=reading)
        else:
            ends, later = fitted.interval_blocks(data, intervals, reading=reading)
            names = (*names, *ends)
        # The first block now, so that a wrong table is refused before a byte is written.
        blocks = chain(list(islice(later, 1)), later)
        if output is not None:
            with replacing(output) as draft, draft.open("w", encoding="utf-8", newline="\n") as stream:
                records, missing = write_csv(blocks, stream, names)
            screen.result({"output": str(output), "records": records, "missing": missing})
            screen.plain(f"{records:,} {what}, {missing:,} missing, are in {output}")
        elif screen.as_json:
            _write_json(blocks, sys.stdout, OTHER if names[0] == OTHER else COLUMN, names if intervals else ())
        else:
            write_csv(blocks, sys.stdout, names)


def columns_of(response: Response) -> tuple[str, ...]:
    """Names of what is predicted of a response."""
    if response.kind == "classes":
        return tuple(f"{COLUMN} of {label}" for label in response.classes)
    return (COLUMN if response.kind == "binary" else OTHER,)


def write_csv(blocks: Blocks, stream: TextIO, names: Sequence[str] = (COLUMN,)) -> tuple[int, int]:
    """Write a line per record, in order, read back bit by bit; return the numbers of records and of missing ones."""
    records = missing = 0
    csv.writer(stream, lineterminator="\n").writerow(names)
    for block in blocks:
        rows = block.reshape(-1, len(names)).tolist()
        lines = [",".join(MISSING if math.isnan(value) else repr(value) for value in row) for row in rows]
        stream.write("\n".join([*lines, ""]))
        records += len(rows)
        missing += sum(math.isnan(row[0]) for row in rows)
    return records, missing


def _write_json(blocks: Blocks, stream: TextIO, name: str, columns: Sequence[str] = ()) -> None:
    """Write a number a record, or a list of them, which `columns` name where they are not the classes."""
    stream.write(f'{{"columns": {json.dumps(columns)}, "{name}": [' if columns else f'{{"{name}": [')
    separator = ""
    for block in blocks:
        # One number a record, or one for each class; missing where the first is.
        firsts = (block if block.ndim == 1 else block[:, 0]).tolist()
        values = [None if math.isnan(first) else value for first, value in zip(firsts, block.tolist(), strict=True)]
        if columns:
            values = [it and [None if math.isnan(number) else number for number in it] for it in values]
        if values:
            stream.write(separator + json.dumps(values)[1:-1])
            separator = ", "
    stream.write("]}\n")


def key(path: Annotated[Path, argument("FILE", "Where the private key goes; .pub is added.")], screen: Screen) -> None:
    """Make a pair of keys for signing certificates.

    The keys are Ed25519 keys; no file is overwritten.
    """
    public = new_key(path)
    screen.result({"private_key": str(path), "public_key": f"{path}.pub", "public": public})
    screen.plain(
        f"The private key is in {path}; keep it to yourself.\n"
        f"The public key is in {path}.pub; hand it to whoever verifies:\n  {public}"
    )


for command in (demo, fit, plan, summary, plot, predict, schema, verify, report, key, account, audit, compare, images):
    app.command(epilog=EPILOG)(options.grouped(command))
app.command("test", epilog=EPILOG)(options.grouped(examine))
app.add_typer(ledger)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    Guarantee: Every failure has its documented exit code and one message, which holds no value of a table. With
    ``--json`` it is a JSON document on standard output.
    """
    as_json = "--json" in arguments
    try:
        code = typer.main.get_command(app).main(args=list(arguments), prog_name="tacit", standalone_mode=False)
        sys.stdout.flush()
    except TacitError as error:
        tell_error(type(error).__name__, str(error), as_json=as_json)
        return exit_of(error)
    except (KeyboardInterrupt, typer.Abort):
        code = Exit.INTERRUPTED
    except (BrokenPipeError, SystemExit) as error:
        # typer makes an exit with the code of a fault out of a broken pipe.
        if not isinstance(error, BrokenPipeError) and not isinstance(error.__context__, BrokenPipeError):
            raise
        # The reader went away (tacit predict … | head); nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.UNREAD
    except _UsageError as error:
        what = error.format_message() if hasattr(error, "format_message") else str(error)
        context = getattr(error, "ctx", None)
        whose = "tacit" if context is None else context.command_path
        tell_error("UsageError", f"{what} Try: {whose} --help", as_json=as_json)
        return Exit.INPUT
    except Exception as error:  # noqa: BLE001 (a fault must not quote the table)
        tell_fault(error, as_json=as_json)
        return Exit.INTERNAL
    if code == Exit.INTERRUPTED:
        tell_error("Interrupted", "interrupted", as_json=as_json)
    return int(code or 0)


def main() -> NoReturn:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without ε must not lose a result that has been paid for.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))
