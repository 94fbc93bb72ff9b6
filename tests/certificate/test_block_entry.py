"""Entries of medians and deep points: checked again from their numbers, and forgeries refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.certificate.certificate import Certificate
from tacit.contract.block_query import BlackBox, LeastSquares
from tacit.contract.release import Release
from tacit.errors import CertificateError
from tacit.estimators.block_model import output_design, with_design
from tacit.solvers.block_plans import Aggregator, BlockAggregate, plan
from tests.solvers.test_block_plans import facts

BOX = BlackBox(b"", (0.0, 0.0), (1.0, 1.0), (0.0, 0.0))


def issued(aggregator: Aggregator) -> Certificate:
    function: Any = LeastSquares(2) if aggregator is Aggregator.DEPTH else BOX
    made = plan(facts(), BlockAggregate(function, 2, aggregator, (-1.0, -2.0), (1.0, 2.0)), 50)
    design = output_design(["a", "b"], [-1.0, -2.0], [1.0, 2.0])
    return Certificate.issue(Release(with_design(made, design), np.zeros(2)))


@pytest.mark.parametrize("aggregator", list(Aggregator))
def test_what_is_issued_is_consistent(aggregator: Aggregator) -> None:
    found = issued(aggregator)
    assert found.check().consistent
    arithmetic = "real-number proof" if aggregator is Aggregator.DEPTH else "exact"
    assert found.document["events"][0]["arithmetic"] == arithmetic


def halve(entry: dict[str, Any], name: str) -> None:
    above, below = entry["noise"][name].split("/")
    entry["noise"][name] = f"{above}/{2 * int(below)}"


@pytest.mark.parametrize(
    ("aggregator", "forge"),
    [
        (Aggregator.MEDIAN, lambda entry: halve(entry, "rate")),
        (Aggregator.DEPTH, lambda entry: halve(entry, "test")),
        (Aggregator.DEPTH, lambda entry: entry["noise"].update(shell="7")),
        (Aggregator.MEDIAN, lambda entry: entry["noise"].update(rate="-1")),
        (Aggregator.MEDIAN, lambda entry: entry["sensitivity"].update(score="2")),
        (Aggregator.MEDIAN, lambda entry: entry.update(arithmetic="real-number proof")),
        (Aggregator.MEDIAN, lambda entry: entry["noise"].pop("rate")),
    ],
)
def test_forged_numbers_are_refused(aggregator: Aggregator, forge: Callable[[dict[str, Any]], Any]) -> None:
    document = issued(aggregator).document
    forge(document["events"][0])
    with pytest.raises(CertificateError):
        Certificate.made(document).rederive()
