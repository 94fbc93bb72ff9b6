"""`tacit ledger`: begin a ledger, show its charges, verify every byte of it, certify them all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options
from tacit.cli.curation import existing, grant, lower, pause, resume, rooms
from tacit.cli.exit_codes import EPILOG
from tacit.cli.output import Screen
from tacit.cli.output_files import require_writable
from tacit.errors import FileError

if TYPE_CHECKING:
    from tacit.ledger.charge import Charge
    from tacit.ledger.ledger import Ledger
    from tacit.ledger.status import Status
    from tacit.privacy.budget import Guarantee
    from tacit.report.table import Table

ledger = typer.Typer(
    name="ledger",
    help="One budget for many fits: create, show, verify, certify, grant, lower, pause, upgrade.",
    epilog=EPILOG,
)
for command in (grant, lower, pause, resume):
    ledger.command(epilog=EPILOG)(command)


@ledger.command(epilog=EPILOG)
def create(
    file: options.KeptLedger,
    *,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    mu: options.Mu = None,
    rho: options.Rho = None,
    dataset: options.Dataset = None,
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="WORD", help="Whom the budget protects, as in the schema."),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", metavar="NAME", help="replace-one, zero-out or add-remove."),
    ] = None,
    refusals: Annotated[
        str | None,
        typer.Option(
            "--refusals",
            metavar="never|curator",
            help="curator: only curators use it, and may be told that a record is invalid.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Begin a ledger with a budget for all fits of a dataset."""
    screen = Screen(as_json)
    budget = options.budget_of(epsilon, delta, mu, rho)
    from tacit.ledger.ledger import Ledger

    if file.exists():
        raise FileError(f"{str(file)!r} exists; a ledger is begun once.")
    begun = Ledger(
        file,
        budget=budget,
        dataset=dataset,
        unit=unit,
        relation=relation,
        refusals=refusals,
    )
    screen.result(_document(begun, None))
    screen.plain(f"The ledger is in {file}; charge fits to it with --ledger.")


@ledger.command(epilog=EPILOG)
def show(
    file: options.KeptLedger, analyst: options.Analyst = None, as_json: options.AsJson = False
) -> None:
    """Show the budget, the charges and what is left."""
    screen = Screen(as_json)
    opened = existing(file)
    status, charges = opened.status(analyst=analyst), opened.charges()
    if analyst is not None:
        charges = tuple(charge for charge in charges if charge.analyst == analyst)
    screen.result(_document(opened, analyst))
    if charges:
        screen.heading("Charges")
        screen.table(_charges_table(charges, opened))
    if status.granted:
        from tacit.report.table import Table

        screen.heading("Analysts")
        rows = tuple(
            (name, f"{whole:.3g}", f"{left:.3g}", str(opened.status(analyst=name)))
            for name, (whole, left) in status.granted.items()
        )
        screen.table(Table(("analyst", "granted", "left of the budget", "that is"), rows))
    screen.heading("Budget")
    _show_budget(opened, status, screen)


@ledger.command(epilog=EPILOG)
def verify(file: options.KeptLedger, as_json: options.AsJson = False) -> None:
    """Check file, chain, amounts and budget of a ledger, to the last byte."""
    screen = Screen(as_json)
    found = existing(file).verify()
    screen.result(
        {
            "verified": True,
            "entries": found.entries,
            "charges": found.charges,
            "unreleased": found.unreleased,
            "head": found.head,
            "statement": found.statement,
            "total": _total(found.guarantee),
        }
    )
    screen.say(found.statement)
    screen.say(found.head, "head")


@ledger.command(epilog=EPILOG)
def certificate(
    file: options.KeptLedger,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Keep it as JSON.")
    ] = None,
    sign: Annotated[
        Path | None, typer.Option("--sign", metavar="KEY", help="Sign it (see tacit key).")
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Certify everything that was charged, as one total; check it with tacit verify."""
    screen = Screen(as_json)
    require_writable([output], [file, sign], force=force)
    from tacit.documents.signature import sign as signed
    from tacit.files import write_text
    from tacit.report.ledger_certificate import joint_promise

    issued = existing(file).certificate()
    if sign is not None:
        issued = signed(issued, sign)
    if output is not None:
        write_text(output, issued.to_json() + "\n")
    screen.result(issued.document)
    screen.say(issued.check().statement)
    screen.say(joint_promise(issued))
    if output is not None:
        screen.plain(f"  The certificate is in {output}")


@ledger.command(epilog=EPILOG)
def upgrade(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A ledger of version 0.1.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The file to write.")],
    as_json: options.AsJson = False,
) -> None:
    """Write a ledger of version 0.1 anew, so that it can be charged; the old file stays."""
    screen = Screen(as_json)
    from tacit.ledger.ledger import Ledger

    screen.result(_document(Ledger.upgrade(old, new), None))
    screen.plain(f"The ledger is in {new}. Charge {old} no more, and move it away.")


def _charges_table(charges: tuple[Charge, ...], opened: Ledger) -> Table:
    from tacit.accounting.composition import compose
    from tacit.report.table import Table

    delta, capacity = opened.terms.delta, opened.terms.capacity
    rows = tuple(
        (
            charge.formula or charge.label or "(no label)",
            charge.label if charge.formula else "",
            charge.analyst or "",
            charge.project or "",
            charge.file or "",
            charge.time[:16].replace("T", " "),
            f"{compose(charge.events).epsilon(delta):.3g}",
            f"{float(charge.cost / capacity):.3g}",
            "yes" if charge.release else "no",
        )
        for charge in charges
    )
    headers = ("charge", "label", "analyst", "project", "file", "time (UTC)")
    # A column in which nobody wrote anything only widens the table.
    used = [place for place in range(1, 5) if any(row[place] for row in rows)]
    kept = (0, *used, 5, 6, 7, 8)
    names = (*headers, f"ε at δ = {delta:g}", "of the budget", "released")
    chosen = tuple(tuple(row[place] for place in kept) for row in rows)
    return Table(tuple(names[place] for place in kept), chosen)


def _show_budget(opened: Ledger, status: Status, screen: Screen) -> None:
    screen.say(str(status.budget), "whole")
    if status.budget != opened.terms.budget:
        screen.say(f"{opened.terms.budget}, before it was lowered", "at first")
    screen.say("nothing" if status.spent is None else str(status.spent), "spent")
    screen.say(str(status), "left")
    for name, reason in status.paused.items():
        whose = "all charges" if name is None else f"charges of {name}"
        screen.say(f"{whose}: {reason}", "paused")
    if opened.terms.dataset is not None:
        screen.say(opened.terms.dataset, "dataset")


def _document(opened: Ledger, analyst: str | None) -> dict[str, Any]:
    terms, status = opened.terms, opened.status(analyst=analyst)
    left = status.remaining
    return {
        **{name: terms.document()[name] for name in ("budget", "dataset", "refusals")},
        **rooms(opened),
        "total": _total(status.spent),
        "remaining": None if left is None else {"mu": left.mu, "delta": left.delta},
        "left": None
        if status.left is None
        else {"epsilon": status.left.epsilon, "delta": status.left.delta},
        "more_like_last": status.more_like_last,
        "charges": [
            {
                "sequence": charge.sequence,
                "time": charge.time,
                "share": float(charge.cost / terms.capacity),
                "release": charge.release,
                **charge.document(),
            }
            for charge in opened.charges()
            if analyst is None or charge.analyst == analyst
        ],
    }


def _total(guarantee: Guarantee | None) -> dict[str, Any] | None:
    if guarantee is None:
        return None
    return {
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "mu": guarantee.mu,
        "relation": str(guarantee.relation),
        "unit": guarantee.unit,
    }
