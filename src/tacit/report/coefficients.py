"""Coefficients beside a truth that only a simulation knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.inference.text_table import Table, columns_of_numbers


def comparison_table(
    terms: Sequence[Mapping[str, Any]],
    truth: Mapping[str, float],
    reference: Mapping[str, float],
) -> Table:
    """Each term's truth, its fit without privacy, and its private fit with its standard error."""
    names = [str(term["name"]) for term in terms]
    columns = {
        "truth": [truth[name] for name in names],
        "not private": [reference[name] for name in names],
        "private": [term["coef"] for term in terms],
    }
    if any(term["std_err"] is not None for term in terms):
        columns["std. error"] = [term["std_err"] for term in terms]
    numbers = columns_of_numbers(*columns.values())
    headers = ("term", *columns)
    return Table(headers, tuple(zip(names, *numbers, strict=True)))
