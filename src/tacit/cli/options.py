"""Arguments and options that several commands share, each spelled and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.errors import BudgetError

if TYPE_CHECKING:
    from tacit.privacy.budget import Budget

DataFile = Annotated[Path, typer.Argument(metavar="DATA", help="Table: .csv, .csv.gz or .parquet.")]
Formula = Annotated[
    str, typer.Argument(metavar="FORMULA", help='For example "readmit ~ age + C(ward)".')
]
SchemaFile = Annotated[
    Path, typer.Option("--schema", metavar="FILE", help="Public facts about the table, as TOML.")
]
Epsilon = Annotated[
    float | None,
    typer.Option("--epsilon", metavar="E", help='Budget: above 0; "inf" for no privacy at all.'),
]
Delta = Annotated[
    float | None,
    typer.Option(
        "--delta",
        metavar="D",
        help="Between 0 and 1. Default: min(1e-5, n^-1.1), or, where n is private, "
        "min(1e-6, n_at_least^-1.1).",
    ),
]
Mu = Annotated[
    float | None,
    typer.Option("--mu", metavar="M", help="Budget as Gaussian DP, in place of --epsilon."),
]
Rho = Annotated[
    float | None,
    typer.Option("--rho", metavar="R", help="Budget as zero-concentrated DP, likewise."),
]
Family = Annotated[
    str,
    typer.Option(
        "--family",
        metavar="NAME",
        help="binomial, gaussian, poisson, multinomial, huber or quantile.",
    ),
]
Solver = Annotated[
    str,
    typer.Option("--solver", metavar="NAME", help="auto, or a name of docs/solvers.md."),
]
Iterations = Annotated[
    int | None, typer.Option("--iterations", metavar="N", help="Steps. Default: planned.")
]
StepSize = Annotated[
    float | None, typer.Option("--step-size", metavar="S", help="Default: planned.")
]
MaxPasses = Annotated[
    int | None,
    typer.Option("--max-passes", metavar="N", help="Cap on passes over the table."),
]
Ridge = Annotated[float, typer.Option("--l2", metavar="L", help="Ridge penalty on the slopes.")]
Inference = Annotated[
    bool | None,
    typer.Option(
        "--inference/--no-inference",
        help="Pay for standard errors and intervals out of the budget, or spend it all on the fit.",
        show_default="on, unless a penalty or a solver but Newton's is asked for",
    ),
]
Radius = Annotated[
    float | None, typer.Option("--radius", metavar="R", help="Ball that holds the slopes.")
]
RowNorm = Annotated[
    float | None,
    typer.Option("--row-norm", metavar="B", help="Public bound on the norm of a prepared row."),
]
KeptLedger = Annotated[Path, typer.Argument(metavar="FILE", help="A ledger.")]
Analyst = Annotated[
    str | None,
    typer.Option("--analyst", metavar="NAME", help="Who asks; noted with the charge."),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", metavar="FILE", help="Charge this ledger (see tacit ledger create)."),
]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", metavar="NAME", help="Public name of the table, as in its ledger."),
]
InvalidRows = Annotated[
    str | None,
    typer.Option(
        "--invalid-rows",
        metavar="error|zero",
        help="Refuse a table with missing or undeclared entries, or let such rows add nothing.",
        show_default="error; zero with --ledger",
    ),
]
Project = Annotated[
    str | None,
    typer.Option("--project", metavar="NAME", help="For which work, for the ledger."),
]
Label = Annotated[
    str | None,
    typer.Option("--label", metavar="TEXT", help="What the fit is for, for the ledger."),
]
RequestKey = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="NAME",
        help="Keep the answer in the ledger: the same request under it is not charged again.",
    ),
]
Again = Annotated[
    bool,
    typer.Option("--again", help="Pay once more for a request that was charged and interrupted."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No plan and no progress bar.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def budget_of(
    epsilon: float | None, delta: float | None, mu: float | None, rho: float | None
) -> Budget:
    """The budget that was asked for, in whichever currency."""
    from tacit.privacy.budget import Budget

    if epsilon is None and mu is None and rho is None:
        raise BudgetError(
            "no budget was given, and there is no default: add --epsilon, for example --epsilon 1 "
            "(or --mu, or --rho)"
        )
    return Budget(epsilon=epsilon, delta=delta, mu=mu, rho=rho)
