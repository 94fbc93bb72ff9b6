"""Arguments and options of the commands, each spelled once; `grouped` makes the fields of a dataclass flags."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer

from tacit.contract.cluster import Cluster
from tacit.errors import BudgetError, FileError, SettingError
from tacit.privacy.budget import Budget

if TYPE_CHECKING:
    from tacit.design.reading import FileFormat, Reading
    from tacit.schema.schema import Schema


def flag(metavar: str | None, meaning: str, *names: str, default: str | None = None) -> Any:
    """Describe an option, of a value or (None) without; by default named as its parameter."""
    return typer.Option(*names, metavar=metavar, help=meaning, show_default=default or True)


def argument(metavar: str, meaning: str) -> Any:
    """Describe a positional argument."""
    return typer.Argument(metavar=metavar, help=meaning)


DataFile = Annotated[
    Path,
    argument("DATA", "Table: .csv, .tsv, .txt (also .gz) or .parquet; a folder or quoted pattern for several files."),
]
Formula = Annotated[str, argument("FORMULA", 'For example "readmit ~ age + C(ward)".')]
LedgerFile = Annotated[Path, argument("FILE", "A ledger.")]
Epsilon = Annotated[float | None, flag("E", 'Budget: above 0; "inf" for no privacy at all.')]
Delta = Annotated[
    float | None,
    flag("D", "Below 1; 0 for pure ε. Default: min(1e-5, n^-1.1), or, where n is private, min(1e-6, n_at_least^-1.1)."),
]
Mu = Annotated[float | None, flag("M", "Budget as Gaussian DP, in place of --epsilon.")]
Rho = Annotated[float | None, flag("R", "Budget as zero-concentrated DP, likewise.")]
SchemaFile = Annotated[Path, flag("FILE", "Public facts about the table, as TOML.")]
Dataset = Annotated[str | None, flag("NAME", "Public name of the table, as in its ledger.")]
Analyst = Annotated[str | None, flag("NAME", "Who asks; noted with the charge.")]
Sign = Annotated[Path | None, flag("KEY", "Sign the certificate (see tacit key).")]
Force = Annotated[bool, flag(None, "Overwrite files that exist.", "--force")]
Quiet = Annotated[bool, flag(None, "No plan and no progress bar.", "--quiet", "-q")]
AsJson = Annotated[bool, flag(None, "One JSON document on standard output.", "--json")]


@dataclass(frozen=True)
class BudgetOptions:
    """A budget, in whichever currency."""

    epsilon: Epsilon = None
    delta: Delta = None
    mu: Mu = None
    rho: Rho = None

    @property
    def is_given(self) -> bool:
        """Whether there is an amount."""
        return (self.epsilon, self.mu, self.rho) != (None, None, None)

    def budget(self) -> Budget:
        """The budget that was asked for."""
        if not self.is_given:
            raise BudgetError(
                "no budget was given, and there is no default: add --epsilon, for example "
                "--epsilon 1 (or --mu, or --rho)"
            )
        return Budget(epsilon=self.epsilon, delta=self.delta, mu=self.mu, rho=self.rho)


@dataclass(frozen=True)
class ModelOptions:
    """Loss, solver, penalty and inference of a fit."""

    family: Annotated[
        str,
        flag(
            "NAME",
            "binomial, probit, cloglog, gaussian, poisson, negative-binomial, gamma, multinomial, huber or quantile.",
        ),
    ] = "binomial"
    quantile: Annotated[float, flag("Q", "Of --family quantile, between 0 and 1.")] = 0.5
    threshold: Annotated[float, flag("K", "Of --family huber: errors beyond K deviations count less.")] = 1.345
    scale: Annotated[float | None, flag("S", "Of --family huber: deviation of the errors. Default: paid for.")] = None
    smoothing: Annotated[float | None, flag("W", "Of --family quantile: rounds the corner. Default: paid for.")] = None
    alpha: Annotated[float, flag("A", "Dispersion of --family negative-binomial: variance m + A·m².")] = 1.0
    statistics: Annotated[list[str] | None, flag("NAME", "Pay for a statistic of the fit too: deviance.")] = None
    row_norm: Annotated[float | None, flag("B", "Public bound on the norm of a prepared row.")] = None
    solver: Annotated[str, flag("NAME", "auto, or a name of docs/solvers.md.")] = "auto"
    iterations: Annotated[int | None, flag("N", "Steps. Default: planned.")] = None
    step_size: Annotated[float | None, flag("S", "Default: planned.")] = None
    sampling: Annotated[str | None, flag("NAME", "Batches of --solver stochastic: poisson or another.")] = None
    batch_size: Annotated[int | None, flag("N", "Expected size of a batch. Default: planned.")] = None
    max_passes: Annotated[int | None, flag("N", "Cap on passes over the table.")] = None
    l2: Annotated[float | None, flag("L", "Ridge penalty on the slopes.")] = None
    radius: Annotated[float | None, flag("R", "Ball that holds the slopes.")] = None
    inference: Annotated[
        bool | None,
        flag(
            None,
            "Pay for standard errors and intervals out of the budget, or spend it all on the fit.",
            "--inference/--no-inference",
            default="on, unless a penalty or a solver but Newton's is asked for",
        ),
    ] = None


@dataclass(frozen=True)
class FileOptions:
    """How a text file is written; in place of what the schema, or a stored fit, says of it."""

    delimiter: Annotated[str | None, flag("MARK", 'What parts columns: ";", "|", tab.', default="comma")] = None
    decimal: Annotated[str | None, flag("MARK", "Decimal mark: . or ,", default=".")] = None
    encoding: Annotated[str | None, flag("NAME", "For example cp1252.", default="utf-8")] = None
    missing: Annotated[
        list[str] | None, flag("CODE", "Stands for a missing cell in every column, such as -99. Repeatable.")
    ] = None

    def format_of(self, declared: FileFormat) -> FileFormat:
        """The declared format with what is given here in its place."""
        given = {"delimiter": self.delimiter, "decimal": self.decimal, "encoding": self.encoding}
        return replace(declared, **{name: value for name, value in given.items() if value is not None})

    def of(self, path: Path) -> Schema:
        """Read a schema, with what is given here in place of its own."""
        from tacit.schema.schema import Schema

        declared = Schema.read(path)
        codes = self._codes(declared.missing_codes)
        return replace(declared, file=self.format_of(declared.file), missing_codes=codes)

    def reading_of(self, stored: Reading) -> Reading:
        """The reading of a stored fit, with what is given here in its place."""
        return replace(stored, file=self.format_of(stored.file), missing_codes=self._codes(stored.missing_codes))

    def _codes(self, declared: tuple[str, ...]) -> tuple[str, ...]:
        from tacit.design.reading import codes_given

        return declared if self.missing is None else codes_given("--missing", self.missing)


@dataclass(frozen=True)
class ClusterOptions:
    """Where a fit runs: in this process, in several on this machine, or on a Dask cluster."""

    cluster: Annotated[str | None, flag("ADDRESS", "Dask scheduler whose workers read the files; see docs.")] = None
    workers: Annotated[int | None, flag("N", "So many worker processes on this machine.")] = None
    tls_ca_file: Annotated[Path | None, flag("FILE", "Certificate of whoever signed those of the cluster.")] = None
    tls_cert: Annotated[Path | None, flag("FILE", "Certificate of this side.")] = None
    tls_key: Annotated[Path | None, flag("FILE", "Its key.")] = None

    def asked(self) -> Cluster | None:
        """The cluster that was asked for; None for this process."""
        ca, cert, key = (
            None if path is None else str(path) for path in (self.tls_ca_file, self.tls_cert, self.tls_key)
        )
        if self.cluster is None and self.workers is None:
            if ca or cert or key:
                raise SettingError("certificates are for a cluster: add --cluster ADDRESS")
            return None
        if self.cluster is not None and self.workers is not None:
            raise SettingError("give either --cluster or --workers")
        return Cluster(self.cluster, self.workers, ca_file=ca, cert_file=cert, key_file=key)


@dataclass(frozen=True)
class ChargeOptions:
    """The ledger of a fit, and what is noted there: dataset, who, what for, and the key."""

    ledger: Annotated[Path | None, flag("FILE", "Charge this ledger (see tacit ledger create).")] = None
    dataset: Dataset = None
    analyst: Analyst = None
    project: Annotated[str | None, flag("NAME", "For which work, for the ledger.")] = None
    label: Annotated[str | None, flag("TEXT", "What the fit is for, for the ledger.")] = None
    key: Annotated[str | None, flag("NAME", "Store the answer under it: the same request is not charged again.")] = None
    again: Annotated[bool, flag(None, "Pay again for a request that was charged and interrupted.", "--again")] = False

    def charging(self) -> AbstractContextManager[object]:
        """The block of the ledger that the fit is charged to; it must exist."""
        if self.ledger is None:
            for name, given in asdict(self).items():
                if given not in (None, False):
                    raise SettingError(f"--{name} is for a ledger: add --ledger FILE")
            return nullcontext()
        from tacit.ledger.ledger import Ledger

        if not self.ledger.exists():
            raise FileError(
                f"the ledger {str(self.ledger)!r} does not exist; begin it with its budget: "
                f"tacit ledger create {self.ledger} --epsilon 3 --delta 1e-6"
            )
        opened = Ledger(self.ledger, dataset=self.dataset, analyst=self.analyst, project=self.project)
        if self.again and self.key is None:
            raise SettingError("--again pays once more for the request under a key: add --key NAME")
        return opened.request(self.key, label=self.label, again=self.again)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameters of a command that are groups by the flags of the groups."""
    signature = inspect.signature(command, eval_str=True)
    flat: list[inspect.Parameter] = []
    groups: dict[Any, list[str]] = {}
    for parameter in signature.parameters.values():
        group: Any = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            inner = inspect.signature(group, eval_str=True).parameters.values()
            flags = [one for one in inner if get_origin(one.annotation) is Annotated]
            groups[parameter] = [one.name for one in flags]
            flat += [one.replace(kind=parameter.KEYWORD_ONLY) for one in flags]
        else:
            flat.append(parameter)

    @wraps(command)
    def run(**given: Any) -> None:
        for group, names in groups.items():
            given[group.name] = group.annotation(**{name: given.pop(name) for name in names})
        command(**given)

    run.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in flat}
    return run
