"""`tacit account`: what a run would cost by every accountant, or the noise that it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli import options
from tacit.cli.options import flag
from tacit.cli.output import Screen, require_writable
from tacit.errors import SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

if TYPE_CHECKING:
    from tacit.accounting.training_run import Run
    from tacit.report.account import Account

# At equal rates ε grows with the number of records and levels off: this is within 0.1% of the end.
_ASSUMED_RECORDS, _FEWEST_DRAWS = 100_000, 1000
_LONGEST_RATE, _LARGEST_EXPONENT = 60, 300


@dataclass(frozen=True)
class RunOptions:
    """A run of noisy sums, as it was asked for."""

    steps: Annotated[int, flag("T", "How many noisy sums.")]
    delta: Annotated[float, flag("D", "From 0 to below 1.")]
    noise: Annotated[float | None, flag("Z", "Noise's standard deviation / clip bound.")] = None
    epsilon: Annotated[float | None, flag("E", "Instead of --noise: find the least noise.")] = None
    sample_rate: Annotated[str | None, flag("q", "0 to 1, such as 0.01 or 256/60000. Default: all.")] = None
    sampling: Annotated[str | None, flag("KIND", "poisson (default), without-replacement or with-replacement.")] = None
    relation: Annotated[
        str | None,
        flag(
            "NAME", "add-remove, zero-out or replace-one.", default="add-remove for Poisson samples, else replace-one"
        ),
    ] = None
    records: Annotated[int | None, flag("N", "Size of the table, for samples of fixed size.")] = None

    def __post_init__(self) -> None:
        both = (
            "--noise and --epsilon were given together; with --noise a run is priced, with --epsilon its noise is found"
        )
        none = "neither --noise nor --epsilon was given; add --noise 1 to price a run or --epsilon 1 to find its noise"
        if (self.noise is None) == (self.epsilon is None):
            raise SettingError(none if self.noise is None else f"{both}: leave one of them out")

    def run(self) -> Run:
        """The run that was asked for, with the least noise that --epsilon allows if it is given."""
        from tacit.accounting.accountants import required_delta
        from tacit.accounting.calibration import calibrate
        from tacit.accounting.training_run import Run

        required_delta(self.delta)
        rate, sampling, records = self.sample_rate, self.sampling, self.records
        if rate is None and sampling is not None:
            raise SettingError(f"--sampling {sampling[:40]} samples at a rate: add --sample-rate")
        fixed = rate is not None and sampling not in (None, "poisson")
        if records is not None and not fixed:
            raise SettingError(
                "--records is for samples of fixed size: add --sampling without-replacement or "
                "with-replacement and --sample-rate, or leave it out"
            )
        exact = None if rate is None else _rate(rate)
        if exact and sampling == "with-replacement" and records is None:
            records = max(_ASSUMED_RECORDS, math.ceil(_FEWEST_DRAWS / exact))
        default = "replace-one" if rate is None or fixed else "add-remove"
        settings: dict[str, Any] = {
            "steps": self.steps,
            "relation": Relation.parse(default if self.relation is None else self.relation),
            "sample_rate": exact,
            "sampling": sampling or "poisson",
            "population": records,
        }
        # What cannot be a run is refused in its own words, before any noise is looked for.
        run = Run(noise=1 if self.noise is None else self.noise, **settings)
        return run if self.epsilon is None else calibrate(Budget(epsilon=self.epsilon, delta=self.delta), **settings)


def account(
    *,
    asked: RunOptions,
    plot: Annotated[Path | None, flag("FILE", "Draw it: .png, .svg or .pdf.")] = None,
    picture: Annotated[str, flag("KIND", "all, curve, tradeoff, steps or loss.")] = "all",
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Price a run of noisy sums by every accountant.

    With --epsilon in place of --noise, find the least noise within the budget. Nothing is read and nothing is spent.
    """
    if plot is not None:
        from tacit.report.account_pictures import account_picture, require_picture

        require_picture(plot, picture)
        require_writable([plot], force=force)
    elif picture != "all":
        raise SettingError("--picture says what is drawn: add --plot FILE")
    from tacit.report.account import account_document, account_of

    found = account_of(asked.run(), asked.delta)
    if plot is not None:
        account_picture(found, plot, picture)
    screen.result({**account_document(found), "target": asked.epsilon, "picture": plot and str(plot)})
    _show(found, screen, asked)
    if plot is not None:
        screen.say(str(plot), "picture")


def _rate(text: str) -> Fraction:
    """A rate as it was written, without the rounding of a float."""
    try:
        if len(text) > _LONGEST_RATE:
            raise InvalidOperation
        parts = [Decimal(part) for part in text.split("/", 1)]
        # Before they become fractions, whose digits would fill the memory.
        if not all(it.is_finite() and abs(it.adjusted()) <= _LARGEST_EXPONENT for it in parts):
            raise InvalidOperation
        whole, *divisor = map(Fraction, parts)
        rate = whole / divisor[0] if divisor else whole
    except (InvalidOperation, ZeroDivisionError):
        rate = Fraction(-1)
    if not 0 <= rate <= 1:
        raise SettingError(f"--sample-rate is {text[:40]!r}; expected a number from 0 to 1, such as 0.01 or 256/60000")
    return rate


def _show(found: Account, screen: Screen, asked: RunOptions) -> None:
    from tacit.report.account import account_table, few_digits, run_line

    run, smallest = found.run, found.smallest
    screen.heading("Run")
    if asked.epsilon is not None:
        screen.say(f"{few_digits(found.noise)}, the least for (ε = {asked.epsilon:g}, δ = {found.delta:g})", "noise")
    screen.say(run_line(run), "release")
    if asked.records is None and run.population is not None:
        screen.say(
            f"{run.population:,} records, for want of --records; a larger table at the same rate costs slightly more",
            "assumed",
        )
    screen.say(str(run.relation), "relation")
    screen.part(f"Price at δ = {found.delta:g}", account_table(found))
    screen.heading("Reading")
    lower = f", and at least {few_digits(smallest.lower, up=False)}" if smallest.lower > 0.0 else ""
    screen.say(f"ε = {few_digits(smallest.epsilon)} ({smallest.accountant}){lower}", "smallest")
    screen.say(str(found.reading), "attacker")
    if found.forecast is not None:
        screen.say("gdp-clt may be below the truth: a forecast, no guarantee", "forecast")
    if found.note:
        screen.say(found.note, "fallback")
