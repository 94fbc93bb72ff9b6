"""`tacit ledger`: begin, show, verify and certify a ledger; grant, lower and pause its budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options
from tacit.cli.options import LedgerFile, argument, flag
from tacit.cli.output import EPILOG, Screen, require_writable
from tacit.documents import signature
from tacit.errors import FileError, SettingError
from tacit.files import write_text
from tacit.privacy.budget import Guarantee
from tacit.text_table import Table

if TYPE_CHECKING:
    from tacit.ledger.entry import Charge
    from tacit.ledger.ledger import Ledger

ledger = typer.Typer(
    name="ledger",
    help="One budget for many fits: create, show, verify, certify, grant, lower, pause, upgrade.",
    epilog=EPILOG,
)
LONGEST_CELL = 40
"""Characters of a formula or a label in a table."""
Reason = Annotated[str, flag("TEXT", "Why; kept in the ledger for good.")]
Who = Annotated[str | None, flag("NAME", "Of one analyst only. Default: of everybody.")]


def create(
    file: LedgerFile,
    *,
    budget: options.BudgetOptions,
    dataset: options.Dataset = None,
    unit: Annotated[str | None, flag("WORD", "Whom the budget protects, as in the schema.")] = None,
    relation: Annotated[str | None, flag("NAME", "replace-one, zero-out or add-remove.")] = None,
    refusals: Annotated[
        str | None, flag("never|curator", "curator: only curators use it, and are told of invalid records.")
    ] = None,
    law: Annotated[
        str | None,
        flag("gdp|zcdp|rdp|pure", "Which costs add up. rdp takes every fit.", default="gdp; pure where delta is 0"),
    ] = None,
    order: Annotated[float | None, flag("A", "Rényi order of rdp, above 1.", default="the best for the budget")] = None,
    screen: Screen,
) -> None:
    """Begin a ledger with a budget for all fits of a dataset."""
    whole = budget.budget()
    from tacit.ledger.ledger import Ledger

    if file.exists():
        raise FileError(f"{str(file)!r} exists; a ledger is begun once.")
    terms = {"dataset": dataset, "unit": unit, "relation": relation, "refusals": refusals, "law": law, "order": order}
    begun = Ledger(file, budget=whole, **terms)  # type: ignore[arg-type]
    screen.result(_document(begun, None))
    screen.plain(f"The ledger is in {file}; charge fits to it with --ledger.")


def show(file: LedgerFile, *, analyst: options.Analyst = None, screen: Screen) -> None:
    """Show the budget, the charges and what is left."""
    opened = existing(file)
    status, terms = opened.status(analyst=analyst), opened.terms
    charges = [one for one in opened.charges() if analyst in (None, one.analyst)]
    screen.result(_document(opened, analyst))
    if charges:
        screen.part("Charges", _charges_table(charges, opened))
    if status.granted:
        screen.heading("Analysts")
        rows = tuple(
            (name, f"{whole:.3g}", f"{left:.3g}", str(opened.status(analyst=name)))
            for name, (whole, left) in status.granted.items()
        )
        screen.table(Table(("analyst", "granted", "left of the budget", "that is"), rows))
    screen.heading("Budget")
    screen.say(str(status.budget), "whole")
    screen.say(f"{terms.law}" if terms.order is None else f"{terms.law} at order {terms.order:g}", "law")
    if status.budget != terms.budget:
        screen.say(f"{terms.budget}, before it was lowered", "at first")
    screen.say("nothing" if status.spent is None else str(status.spent), "spent")
    of_nobody = " of what is granted to nobody" if status.granted and analyst is None else ""
    screen.say(f"{status}{of_nobody}", "left")
    for name, reason in status.paused.items():
        whose = "all charges" if name is None else f"charges of {name}"
        screen.say(f"{whose}: {reason}", "paused")
    if terms.dataset is not None:
        screen.say(terms.dataset, "dataset")


def verify(file: LedgerFile, screen: Screen) -> None:
    """Check file, chain, amounts and budget of a ledger, to the last byte."""
    found = existing(file).verify()
    stated = {name: getattr(found, name) for name in ("entries", "charges", "unreleased", "head", "statement")}
    screen.result({"verified": True, **stated, "total": _total(found.guarantee)})
    screen.say(found.statement)
    screen.say(found.head, "head")


def certificate(
    file: LedgerFile,
    *,
    output: Annotated[Path | None, flag("FILE", "Write it as JSON.", "--output", "-o")] = None,
    sign: options.Sign = None,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Certify everything that was charged, as one total; check it with tacit verify."""
    require_writable([output], [file, sign], force=force)
    from tacit.report.statements import joint_promise

    issued = existing(file).certificate()
    if sign is not None:
        issued = signature.sign(issued, sign)
    if output is not None:
        write_text(output, issued.to_json() + "\n")
    screen.result(issued.document)
    screen.say(issued.check().statement)
    screen.say(joint_promise(issued))
    if output is not None:
        screen.plain(f"  The certificate is in {output}")


def upgrade(
    old: Annotated[Path, argument("OLD", "A ledger of version 0.1.")],
    new: Annotated[Path, argument("NEW", "The file to write.")],
    screen: Screen,
) -> None:
    """Write a ledger of version 0.1 anew, so that it can be charged; the old file stays."""
    from tacit.ledger.ledger import Ledger

    screen.result(_document(Ledger.upgrade(old, new), None))
    screen.plain(f"The ledger is in {new}. Charge {old} no more, and move it away.")


def grant(
    file: LedgerFile,
    *,
    to: Annotated[str | None, flag("NAME", "Who gets it. Default: everybody.")] = None,
    source: Annotated[str | None, flag("NAME", "Whose it is. Default: what is common.", "--from")] = None,
    share: Annotated[float | None, flag("S", "Part of the whole budget, such as 0.5; in place of --epsilon.")] = None,
    budget: options.BudgetOptions,
    reason: Reason = "",
    screen: Screen,
) -> None:
    """Move a part of the budget to an analyst, or back.

    Shares add up to 1; the ε of several grants add up to more than that of
    the whole. Without an amount, all that is left of --from is moved.
    """
    amount = budget.budget() if budget.is_given else None
    if amount is None and share is None and source is None:
        raise SettingError("how much is granted is missing: add --share, --epsilon, --mu or --rho")
    if amount is not None and share is not None:
        raise SettingError("--share is in place of --epsilon, --mu and --rho; give one of them")
    opened = existing(file)
    opened.grant(to, amount, share=share, source=source, reason=reason)
    giver, taker = (name or "the common budget" for name in (source, to))
    part = "all that was left" if amount is None else amount
    _tell(opened, f"Moved {part if share is None else f'{share:g} of the budget'} from {giver} to {taker}.", screen)


def lower(
    file: LedgerFile,
    *,
    epsilon: options.Epsilon = None,
    mu: options.Mu = None,
    rho: options.Rho = None,
    reason: Reason,
    screen: Screen,
) -> None:
    """Lower the budget of the dataset; it can never be raised again."""
    opened = existing(file)
    opened.lower(options.BudgetOptions(epsilon, opened.terms.delta, mu, rho).budget(), reason)
    _tell(opened, f"The budget is now {opened.budget}.", screen)


def pause(file: LedgerFile, *, reason: Reason, analyst: Who = None, screen: Screen) -> None:
    """Refuse charges from now on, of everybody or of one analyst."""
    opened = existing(file)
    opened.pause(reason, analyst=analyst)
    _tell(opened, f"{_whose(analyst)} are paused: {reason}", screen)


def resume(file: LedgerFile, *, reason: Reason, analyst: Who = None, screen: Screen) -> None:
    """Allow charges again that were paused."""
    opened = existing(file)
    opened.resume(reason, analyst=analyst)
    still = [f"{_whose(who)} stay paused: {why}" for who, why in opened.status().paused.items()]
    _tell(opened, "; ".join([f"{_whose(analyst)} are paused no more: {reason}", *still]), screen)


for command in (create, show, verify, certificate, upgrade, grant, lower, pause, resume):
    ledger.command(epilog=EPILOG)(options.grouped(command))


def existing(file: Path) -> Ledger:
    """Open a ledger that exists."""
    from tacit.ledger.ledger import Ledger

    if not file.exists():
        raise FileError(f"{str(file)!r} cannot be read: no such file.")
    return Ledger(file)


def _whose(analyst: str | None) -> str:
    return "All charges" if analyst is None else f"Charges of {analyst}"


def _tell(opened: Ledger, text: str, screen: Screen) -> None:
    screen.result(_sub_budgets(opened))
    screen.say(text)


def _sub_budgets(opened: Ledger) -> dict[str, Any]:
    """Return the budget in force, who has how much of it, and what is paused."""
    from tacit.ledger.entry import budget_document

    status = opened.status()
    return {
        "budget_in_force": budget_document(status.budget),
        "analysts": {name: {"granted": whole, "left": rest} for name, (whole, rest) in status.granted.items()},
        "paused": [{"analyst": name, "reason": reason} for name, reason in status.paused.items()],
    }


def _short(text: str) -> str:
    """A cell that leaves room for the others; --json has all of it."""
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


def _charges_table(charges: list[Charge], opened: Ledger) -> Table:
    from tacit.accounting.composition import compose

    delta, capacity, total = opened.terms.delta, opened.terms.capacity, opened.guarantee()
    relation = None if total is None else total.relation
    columns = {
        "charge": [_short(one.formula or one.label or "(no label)") for one in charges],
        "label": [_short(one.label) if one.formula and one.label else "" for one in charges],
        "analyst": [one.analyst or "" for one in charges],
        "project": [one.project or "" for one in charges],
        "file": [one.file or "" for one in charges],
        "time (UTC)": [one.time[:16].replace("T", " ") for one in charges],
        f"ε at δ = {delta:g}": [f"{compose(one.events, relation).epsilon(delta):.3g}" for one in charges],
        "of the budget": [f"{float(one.cost / capacity):.3g}" for one in charges],
        # The first digits tell releases apart; --json has all, as the certificate and `tacit verify FIT` have.
        "released": [one.release.removeprefix("sha256:")[:8] if one.release else "no" for one in charges],
    }
    # A column in which nobody wrote anything only widens the table.
    used = {name: cells for name, cells in columns.items() if any(cells)}
    return Table(tuple(used), tuple(zip(*used.values(), strict=True)))


def _document(opened: Ledger, analyst: str | None) -> dict[str, Any]:
    from tacit.ledger.entry import budget_document

    terms, status = opened.terms, opened.status(analyst=analyst)
    left, epsilon = status.remaining, status.left
    return {
        **{name: terms.document()[name] for name in ("budget", "law", "dataset", "refusals")},
        "order": terms.order,
        **_sub_budgets(opened),
        "total": _total(status.spent),
        "remaining": left and {name: value for name, value in budget_document(left).items() if value is not None},
        "left": epsilon and {"epsilon": epsilon.epsilon, "delta": epsilon.delta},
        "more_like_last": status.more_like_last,
        "charges": [
            {"sequence": one.sequence, "time": one.time, "share": float(one.cost / terms.capacity)}
            | {"release": one.release, **one.document()}
            for one in opened.charges()
            if analyst in (None, one.analyst)
        ],
    }


def _total(guarantee: Guarantee | None) -> dict[str, Any] | None:
    if guarantee is None:
        return None
    numbers = {name: getattr(guarantee, name) for name in ("epsilon", "delta", "mu")}
    return {**numbers, "relation": str(guarantee.relation), "unit": guarantee.unit}
