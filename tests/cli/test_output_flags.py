"""The command line speaks of flags, not of Python's keywords."""

import inspect

import pytest

from tacit.cli.fit import fit
from tacit.cli.options import grouped
from tacit.cli.output import FLAGS, in_flags


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        ('set invalid_rows="zero" to', "set --invalid-rows zero to"),
        ("Give either radius=… or l2=….", "Give either --radius … or --l2 …."),
        ("inference=False spends all", "--no-inference spends all"),
        # Not a flag of the command, and not a keyword.
        ("declare classes=…", "declare classes=…"),
        ("n·μ/√d is 3, epsilon=1", "n·μ/√d is 3, epsilon=1"),
    ],
)
def test_keywords_become_flags(message: str, spoken: str) -> None:
    assert in_flags(message) == spoken


def test_every_flag_is_one_of_the_command() -> None:
    # `refusals` is one of `tacit ledger create`.
    assert FLAGS - {"refusals"} <= set(inspect.signature(grouped(fit)).parameters)
