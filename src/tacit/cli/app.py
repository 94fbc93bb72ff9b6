"""The command `tacit` and its one handler of errors."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer
import typer.main

from tacit import __version__
from tacit.cli.account import account
from tacit.cli.demo import demo
from tacit.cli.failure_messages import EPILOG, Exit, exit_of, tell_error, tell_fault
from tacit.cli.fit import fit, plan
from tacit.cli.ledger import ledger
from tacit.cli.predict import predict
from tacit.cli.schema import schema
from tacit.cli.verify import key, verify
from tacit.errors import TacitError

# The root of what typer raises for a wrong command line; its place differs between versions.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

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
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Fit statistical models to sensitive tables, under differential privacy.

    Begin with: tacit demo
    """
    if version:
        typer.echo(f"tacit {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (demo, fit, plan, predict, schema, verify, key, account):
    app.command(epilog=EPILOG)(command)
app.add_typer(ledger)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    Guarantee
    ---------
    - Every failure has its documented exit code and one message, which holds no value of a table.
    - With ``--json`` the message is a JSON document on standard output.
    """
    as_json = "--json" in arguments
    try:
        code = typer.main.get_command(app).main(
            args=list(arguments), prog_name="tacit", standalone_mode=False
        )
        sys.stdout.flush()
    except TacitError as error:
        tell_error(type(error).__name__, str(error), as_json=as_json)
        return exit_of(error)
    except (KeyboardInterrupt, typer.Abort):
        code = Exit.INTERRUPTED
    except (BrokenPipeError, SystemExit) as error:
        # typer makes an exit with the code of a fault out of a broken pipe.
        if not isinstance(error, BrokenPipeError) and not isinstance(
            error.__context__, BrokenPipeError
        ):
            raise
        # The reader went away (tacit predict … | head); nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.UNREAD
    except _UsageError as error:
        tell_error("UsageError", _usage_message(error), as_json=as_json)
        return Exit.INPUT
    except Exception as error:  # noqa: BLE001 (a fault must not quote the table)
        tell_fault(error, as_json=as_json)
        return Exit.INTERNAL
    if code == Exit.INTERRUPTED:
        tell_error("Interrupted", "interrupted", as_json=as_json)
    return int(code or 0)


def _usage_message(error: Exception) -> str:
    """What was wrong with the command line, and whose help explains it."""
    what = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    command = "tacit" if context is None else context.command_path
    return f"{what} Try: {command} --help"


def main() -> NoReturn:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without ε must not lose a result that has been paid for.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))
