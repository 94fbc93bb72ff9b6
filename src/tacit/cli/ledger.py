"""`tacit ledger`: begin a ledger, show its charges, verify every byte of it, upgrade an old one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options
from tacit.cli.exits import EPILOG
from tacit.cli.screen import Screen
from tacit.errors import FileError

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger
    from tacit.privacy.guarantee import Guarantee

LedgerFile = Annotated[Path, typer.Argument(metavar="FILE", help="A ledger.")]

ledger = typer.Typer(
    name="ledger", help="One budget for many fits: create, show, verify, upgrade.", epilog=EPILOG
)


@ledger.command(epilog=EPILOG)
def create(
    file: LedgerFile,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    mu: options.Mu = None,
    rho: options.Rho = None,
    dataset: options.Dataset = None,
    as_json: options.AsJson = False,
) -> None:
    """Begin a ledger with a budget for all fits of a dataset."""
    screen = Screen(as_json)
    budget = options.budget_of(epsilon, delta, mu, rho)
    from tacit.ledger.ledger import Ledger

    if file.exists():
        raise FileError(f"{str(file)!r} exists; a ledger is begun once.")
    begun = Ledger(file, budget=budget, dataset=dataset)
    screen.result(_document(begun))
    screen.plain(f"The ledger is in {file}; charge fits to it with --ledger.")


@ledger.command(epilog=EPILOG)
def show(file: LedgerFile, as_json: options.AsJson = False) -> None:
    """Show the budget, the charges and what is left."""
    screen = Screen(as_json)
    opened = _existing(file)
    from tacit.report.table import Table

    document = _document(opened)
    screen.result(document)
    if document["charges"]:
        screen.heading("Charges")
        rows = tuple(
            (
                charge["label"] or "(no label)",
                charge["time"][:16],
                f"{charge['share']:.3g}",
                "yes" if charge["release"] else "no",
            )
            for charge in document["charges"]
        )
        screen.table(Table(("charge", "time (UTC)", "of the budget", "released"), rows))
    screen.heading("Budget")
    screen.say(str(opened.terms.budget), "whole")
    guarantee = opened.guarantee()
    screen.say("nothing" if guarantee is None else str(guarantee), "spent")
    left = opened.remaining()
    screen.say("nothing" if left is None else f"mu = {left.mu:.4g}", "left")


@ledger.command(epilog=EPILOG)
def verify(file: LedgerFile, as_json: options.AsJson = False) -> None:
    """Check file, chain, amounts and budget of a ledger, to the last byte."""
    screen = Screen(as_json)
    found = _existing(file).verify()
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
def upgrade(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A ledger of version 0.1.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The file to write.")],
    as_json: options.AsJson = False,
) -> None:
    """Write a ledger of version 0.1 anew, so that it can be charged; the old file stays."""
    screen = Screen(as_json)
    from tacit.ledger.ledger import Ledger

    screen.result(_document(Ledger.upgrade(old, new)))
    screen.plain(f"The ledger is in {new}. Charge {old} no more, and move it away.")


def _existing(file: Path) -> Ledger:
    from tacit.ledger.ledger import Ledger

    if not file.exists():
        raise FileError(f"{str(file)!r} cannot be read: no such file.")
    return Ledger(file)


def _document(opened: Ledger) -> dict[str, Any]:
    terms, left = opened.terms, opened.remaining()
    return {
        **{name: terms.document()[name] for name in ("budget", "dataset")},
        "total": _total(opened.guarantee()),
        "remaining": None if left is None else {"mu": left.mu, "delta": left.delta},
        "charges": [
            {
                "sequence": charge.sequence,
                "time": charge.time,
                "label": charge.label,
                "share": float(charge.cost / terms.capacity),
                "release": charge.release,
            }
            for charge in opened.charges()
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
