"""`tacit ledger grant`, `lower`, `pause`, `resume`: what a curator decides, each with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli import options
from tacit.cli.options import LedgerFile, flag
from tacit.cli.output import Screen
from tacit.errors import FileError, SettingError

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

Reason = Annotated[str, flag("TEXT", "Why; kept in the ledger for good.")]
Who = Annotated[str | None, flag("NAME", "Of one analyst only. Default: of everybody.")]


@options.grouped
def grant(
    file: LedgerFile,
    *,
    to: Annotated[str | None, flag("NAME", "Who gets it. Default: everybody.")] = None,
    source: Annotated[
        str | None, flag("NAME", "Whose it is. Default: what is common.", "--from")
    ] = None,
    budget: options.BudgetOptions,
    reason: Reason = "",
    as_json: options.AsJson = False,
) -> None:
    """Move a part of the budget to an analyst, or back.

    Without an amount, all that is left of --from is moved.
    """
    amount = budget.budget() if budget.is_given else None
    if amount is None and source is None:
        raise SettingError("how much is granted is missing: add --epsilon, --mu or --rho")
    opened = existing(file)
    opened.grant(to, amount, source=source, reason=reason)
    what = "all that was left" if amount is None else f"{amount}"
    names = [name or "the common budget" for name in (source, to)]
    _tell(opened, f"Moved {what} from {names[0]} to {names[1]}.", as_json)


def lower(
    file: LedgerFile,
    *,
    epsilon: options.Epsilon = None,
    mu: options.Mu = None,
    rho: options.Rho = None,
    reason: Reason,
    as_json: options.AsJson = False,
) -> None:
    """Lower the budget of the dataset; it can never be raised again."""
    opened = existing(file)
    lowered = options.BudgetOptions(epsilon, opened.terms.delta, mu, rho)
    opened.lower(lowered.budget(), reason)
    _tell(opened, f"The budget is now {opened.budget}.", as_json)


def pause(
    file: LedgerFile, *, reason: Reason, analyst: Who = None, as_json: options.AsJson = False
) -> None:
    """Refuse charges from now on, of everybody or of one analyst."""
    opened = existing(file)
    opened.pause(reason, analyst=analyst)
    _tell(opened, f"Charges are paused: {reason}", as_json)


def resume(
    file: LedgerFile, *, reason: Reason, analyst: Who = None, as_json: options.AsJson = False
) -> None:
    """Allow charges again that were paused."""
    opened = existing(file)
    opened.resume(reason, analyst=analyst)
    _tell(opened, f"Charges go on: {reason}", as_json)


def existing(file: Path) -> Ledger:
    """Open a ledger that must be there."""
    from tacit.ledger.ledger import Ledger

    if not file.exists():
        raise FileError(f"{str(file)!r} cannot be read: no such file.")
    return Ledger(file)


def _tell(opened: Ledger, text: str, as_json: bool) -> None:
    screen = Screen(as_json)
    screen.result(sub_budgets(opened))
    screen.say(text)


def sub_budgets(opened: Ledger) -> dict[str, Any]:
    """Return the budget in force, who has how much of it, and what is paused, as plain data."""
    from tacit.ledger.terms import budget_document

    status = opened.status()
    return {
        "budget_in_force": budget_document(status.budget),
        "analysts": {
            name: {"granted": whole, "left": rest} for name, (whole, rest) in status.granted.items()
        },
        "paused": [{"analyst": name, "reason": reason} for name, reason in status.paused.items()],
    }
