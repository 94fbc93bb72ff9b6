"""The exceptions and warnings of Tacit.

Errors in what a user gives derive from `InputError`, and so from `ValueError`. No message contains
a value of the table or a row number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class TacitError(Exception):
    """Base class of all errors of Tacit."""


class InputError(TacitError, ValueError):
    """An input is wrong; nothing was spent."""


class BudgetError(InputError):
    """An invalid budget: epsilon <= 0, delta outside [0, 1), too small for the releases."""


class AccountingError(InputError):
    """An event that an accountant cannot price, or an amplification that does not hold."""


class BoundsError(InputError):
    """Public bounds that are missing, reversed or of the wrong length."""


class SchemaError(InputError):
    """A schema that cannot be read, or that names an unknown column, level or relation."""


class FormulaError(InputError):
    """A formula that cannot be read or that needs something the schema does not declare."""


class SettingError(InputError):
    """A setting outside its range or choices: solver, output, iterations, step size."""


class UnavailableError(SettingError, AttributeError):
    """A result that the fit did not pay for: to whoever looks whether it is there, it is not."""


class PassesError(SettingError):
    """A cap on passes that excludes a plan; a choice between solvers goes by it, and users see a `SettingError`."""


class DataError(InputError):
    """Invalid records or columns of a table. For the curator; names no value and no row."""


class InvalidRecordsError(DataError, TypeError):
    """Records with a needed value that is missing, no number or not declared. The same kind whatever the value is."""


class FileError(InputError):
    """A file that cannot be read or written, or is not what its name says."""


class ClusterError(InputError):
    """A cluster that cannot be reached, is not trusted, or was lost; the message says whether anything was spent."""


class ClusterLost(ClusterError):
    """A cluster that was lost while a fit ran. What was charged stays charged.

    `run_again(cluster)` goes on with the fit on another cluster, or on the same one once it is there again, under the
    same charge: answers that were given before are taken as they are, and only the others are asked for. It returns
    what the fit would have returned. It is None where nothing was charged or asked yet.
    """

    def __init__(self, message: str, run_again: Callable[[Any], Any] | None = None) -> None:
        super().__init__(message)
        self.run_again = run_again

    def returning(self, finish: Callable[[Any], Any]) -> ClusterLost:
        """Return the same error, whose `run_again` makes something more of what it returns."""
        again = self.run_again
        if again is None:
            return self

        def run_again(cluster: Any) -> Any:
            try:
                return finish(again(cluster))
            except ClusterLost as lost:
                raise lost.returning(finish) from None

        return ClusterLost(str(self), run_again)


class CertificateError(InputError):
    """A certificate or a stored fit whose digest, signature or totals do not hold."""


class LedgerError(InputError):
    """A ledger that is damaged, of another dataset, or cannot store; nothing was spent, unless the message says so."""


class PrivacyWarning(UserWarning):
    """A budget with weak protection, judged by public facts: delta >= 1/n, or epsilon > 10."""


class PreprocessingWarning(PrivacyWarning):
    """A transformer was fitted to the same records before the fit: the guarantee does not cover what it learnt."""


class PlanViolation(TacitError, RuntimeError):
    """A query that is not in the reserved plan. The gate refuses it before a row is read."""
