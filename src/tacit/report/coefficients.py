"""Tables of coefficients: alone, and beside a truth that only a simulation knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.report.table import Table, columns_of_numbers

_INTERVAL = {"std_err": "std. error", "lower": "lower", "upper": "upper"}


def coefficient_table(terms: Sequence[Mapping[str, Any]]) -> Table:
    """Name and coefficient of each term; standard error and interval where they were paid for.

    Examples
    --------
    >>> term = {"name": "age", "coef": 0.5, "std_err": None, "lower": None, "upper": None}
    >>> coefficient_table([term])
    Table(headers=('term', 'coefficient'), rows=(('age', '0.500'),))
    """
    shown = [key for key in _INTERVAL if any(term[key] is not None for term in terms)]
    numbers = columns_of_numbers(*([term[key] for term in terms] for key in ("coef", *shown)))
    names = [str(term["name"]) for term in terms]
    headers = ("term", "coefficient", *(_INTERVAL[key] for key in shown))
    return Table(headers, tuple(zip(names, *numbers, strict=True)))


def comparison_table(
    terms: Sequence[Mapping[str, Any]],
    truth: Mapping[str, float],
    reference: Mapping[str, float],
) -> Table:
    """Each term's truth, its fit without privacy, and its private fit with its standard error."""
    names = [str(term["name"]) for term in terms]
    shown = [key for key in ("std_err",) if any(term[key] is not None for term in terms)]
    numbers = columns_of_numbers(
        [truth[name] for name in names],
        [reference[name] for name in names],
        *([term[key] for term in terms] for key in ("coef", *shown)),
    )
    headers = ("term", "truth", "not private", "private", *(_INTERVAL[key] for key in shown))
    return Table(headers, tuple(zip(names, *numbers, strict=True)))
