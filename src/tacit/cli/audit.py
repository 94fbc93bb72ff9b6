"""`tacit audit`: attacks on estimators, solvers and mechanisms, with simulated tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli import options
from tacit.cli.options import argument, flag
from tacit.cli.output import Screen, require_writable
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.audit.result import AuditResult


def audit(
    name: Annotated[str | None, argument("[NAME]", "What is audited. Without it: the names there are.")] = None,
    *,
    mu: Annotated[float | None, flag("M", "The claim, as Gaussian DP; above 0.")] = None,
    runs: Annotated[int, flag("R", "Runs in each of the two worlds; at least 100.")] = 1000,
    confidence: Annotated[float, flag("C", "Of either lower bound.")] = 0.999,
    delta: Annotated[float, flag("D", "δ at which ε is stated.")] = 1e-5,
    replay: Annotated[int | None, flag("PAIRS", "Also replay transcripts on so many pairs of tables.")] = None,
    seed: Annotated[int | None, flag("S", "Reproducible noise. Default: the system's.")] = None,
    plot: Annotated[Path | None, flag("FILE", "Draw the attack's ROC curve: .png, .svg or .pdf.")] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    screen: Screen,
) -> None:
    """Attack a guarantee, and bound μ and ε from below.

    Two neighbouring tables are simulated that differ as much as two can. An attacker guesses from the noised result
    which of them was used. No record of anybody is read, and no budget is spent.
    """
    screen = replace(screen, quiet=quiet)
    if name is None:
        _show_names(screen)
        return
    if mu is None:
        raise SettingError("--mu has no default: say which claim is audited, for example --mu 1")
    if plot is not None:
        from tacit.report.figure import picture_file

        picture_file(plot)
        require_writable([plot], force=force)
    from tacit import audit as attacks
    from tacit.report.audit_pictures import audit_picture

    with screen.work() as progress:
        # First, since it is quick: what it refuses is refused before the long part.
        compared = None
        if replay is not None:
            compared = attacks.replay(name, mu=mu, pairs=replay, seed=seed or 0, progress=progress).document()
        found = attacks.run(name, mu=mu, runs=runs, confidence=confidence, delta=delta, seed=seed, progress=progress)
    if plot is not None:
        audit_picture(found, plot)
    screen.result({**found.document(), "replay": compared, "picture": plot and str(plot)})
    _show(found, compared, screen)
    if plot is not None:
        screen.say(str(plot), "picture")


def _show(found: AuditResult, compared: dict[str, Any] | None, screen: Screen) -> None:
    from tacit.audit.result import floored

    screen.heading(f"Audit of {found.name} ({found.subject})")
    screen.say(f"{found.runs:,} runs in each of two worlds, {found.relation}", "attack")
    claimed = f"ε = {found.epsilon_claimed:.4g} at δ = {found.delta:g}"
    if found.claim.mu is not None:
        claimed = f"μ = {found.mu_claimed:g}, which is {claimed}"
    screen.say(claimed, "claimed")
    screen.say(
        f"μ ≥ {floored(found.mu_lower)} and ε ≥ {floored(found.epsilon_lower)} at δ = {found.delta:g}, "
        f"each at confidence {found.confidence:.6g}",
        "shown",
    )
    screen.say(found.statement, "verdict")
    if compared is not None:
        share, exceeded = compared["largest_share"], compared["exceeded"]
        outcome = "none cost more than was paid" if not exceeded else f"{exceeded} cost more than was paid"
        screen.say(f"of {compared['pairs']:,} transcripts {outcome}; at most {share:.4f} of it", "replayed")


def _show_names(screen: Screen) -> None:
    from tacit.audit.attack import Subject
    from tacit.audit.registry import ATTACKS

    names = {str(subject): [it.name for it in ATTACKS.values() if it.subject is subject] for subject in Subject}
    screen.result({"names": names})
    for subject, found in names.items():
        screen.heading(f"{subject.capitalize()}s")
        screen.say(", ".join(found))
    screen.plain("\nTry: tacit audit LogisticRegression --mu 3")
