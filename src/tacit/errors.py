"""The one exception tree.

Everything a person can get wrong derives from `InputError`, hence from `ValueError`.
No message ever contains a value of the table or the number of a row.
"""


class TacitError(Exception):
    """Root of every error raised on purpose."""


class InputError(TacitError, ValueError):
    """Something that was given is wrong; nothing was spent."""


class BudgetError(InputError):
    """A budget that is no budget: epsilon <= 0, delta outside (0, 1), too small to be spent."""


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


class DataError(InputError):
    """What the door found wrong in the rows. For the curator; names no value and no row."""


class FileError(InputError):
    """A file that cannot be read or written, or is not what its name says."""


class CertificateError(InputError):
    """A certificate or a stored fit whose digest, signature or totals do not hold."""


class LedgerError(InputError):
    """A ledger that is damaged, of another dataset, or cannot keep what it is asked to keep.

    Nothing was spent, unless the message says that it may have been.
    """


class PrivacyWarning(UserWarning):
    """A budget that protects little, judged by public facts: delta >= 1/n, or epsilon > 10."""


class PlanViolation(TacitError, RuntimeError):
    """A query that is not in the reserved plan. The gate refuses it before touching a row."""
