"""The command `tacit`, its one handler of errors, and the short commands schema, verify and key."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer
import typer.main

from tacit import __version__
from tacit.cli import options
from tacit.cli.account import account
from tacit.cli.demo import demo
from tacit.cli.fit import fit, plan
from tacit.cli.ledger import ledger
from tacit.cli.options import argument, flag
from tacit.cli.output import EPILOG, Exit, Screen, exit_of, require_writable, tell_error, tell_fault
from tacit.cli.predict import predict
from tacit.documents.signature import new_key
from tacit.errors import TacitError
from tacit.files import write_text

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
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Write a schema to fill in, from names and types.

    No value of the table is read, and no statistic of its values: bounds and levels are public
    facts that a person declares.
    """
    require_writable([output], [data], force=force)
    from tacit.engine.prediction import describe
    from tacit.schema.template import template

    found = describe(data)
    text = template(found.names, found.kinds, data.name)
    if output is not None:
        write_text(output, text)
    columns = [{"name": name, "kind": kind} for name, kind in zip(found.names, found.kinds, strict=True)]
    screen.result({"columns": columns, "template": text, "output": None if output is None else str(output)})
    done = f"The template is in {output}. Fill in the bounds and levels, then: tacit fit"
    screen.plain(text if output is None else done)


def verify(
    file: Annotated[Path, argument("FILE", "A certificate of a fit or a ledger, or a stored fit.")],
    *,
    key: Annotated[str | None, flag("PUBLIC", "Whose signature is expected: digits or file.")] = None,
    screen: Screen,
) -> None:
    """Check that a certificate adds up, offline.

    Its total is derived again from its events. Without a signature this
    checks that the certificate agrees with itself, and no more.
    """
    from tacit.certificate import fit_file
    from tacit.certificate.certificate import Certificate
    from tacit.documents.canonical_json import read_document
    from tacit.ledger.joint_certificate import JointCertificate
    from tacit.report.statements import analyst_table, certificate_table, joint_promise, promise

    document = read_document(file)
    certificate: Certificate | JointCertificate
    if fit_file.is_fit(document):
        stored = fit_file.from_document(document)
        found, certificate = stored.check(key), stored.certificate
    else:
        joint = document.get("format") in tuple(JointCertificate.formats)
        certificate = JointCertificate.of(document) if joint else Certificate.of(document)
        found = certificate.check(key)
    stated = certificate.parsed
    screen.result(
        {
            **{name: getattr(found, name) for name in ("consistent", "signed", "signer", "statement")},
            **{name: list(getattr(found, name)) for name in ("covers", "not_covered")},
            "private": stated["private"],
            **{name: stated["total"][name] for name in ("epsilon", "delta", "mu")},
            **{name: stated[name] for name in ("relation", "unit")},
            "digest": certificate.digest,
        }
    )
    if not isinstance(certificate, Certificate):
        screen.heading("Charges")
        screen.table(analyst_table(certificate))
    elif stated["events"]:
        screen.heading("Events")
        screen.table(certificate_table(certificate))
    screen.heading("Found")
    screen.say(found.statement)
    screen.say(promise(certificate) if isinstance(certificate, Certificate) else joint_promise(certificate))


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


for command in (demo, fit, plan, predict, schema, verify, key, account):
    app.command(epilog=EPILOG)(options.grouped(command))
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
