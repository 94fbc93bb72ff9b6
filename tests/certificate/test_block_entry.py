"""Entries of medians and deep points: checked again from their numbers, and forgeries refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.certificate.block_entry import read_block_price
from tacit.certificate.certificate import Certificate, entry_of
from tacit.contract.block_query import BlackBox, LeastSquares
from tacit.contract.plan import PublicFact, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.errors import CertificateError
from tacit.estimators.block_model import output_design, with_design
from tacit.privacy.relation import Relation
from tacit.solvers.block_plans import Aggregator, BlockAggregate, plan
from tests.solvers.test_block_plans import facts

REPLACE = Relation.REPLACE_ONE
BOX = BlackBox(b"", (0.0, 0.0), (1.0, 1.0), (0.0, 0.0))


def issued(aggregator: Aggregator) -> Certificate:
    function: Any = LeastSquares(2) if aggregator is Aggregator.DEPTH else BOX
    name = "deep-point" if aggregator is Aggregator.DEPTH else "subsample-and-aggregate"
    made = plan(facts(), BlockAggregate(function, 2, aggregator, (-1.0, -2.0), (1.0, 2.0), name), 50)
    made = made.with_facts(PublicFact("output_bounds", [[-1.0, -2.0], [1.0, 2.0]], "declared"))
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


@pytest.mark.parametrize("size", [1, 3])
def test_another_number_of_medians_than_of_bounds_is_refused(size: int) -> None:
    """Fewer medians cost less: what was released must be what is paid for."""
    document = issued(Aggregator.MEDIAN).document
    price = read_block_price(document["events"][0], QueryKind.BLOCK_MEDIAN, "it")
    document["events"] = [entry_of(Step(QueryKind.BLOCK_MEDIAN, price, 1, Purpose.AGGREGATE, size), REPLACE)]
    with pytest.raises(CertificateError, match="as many medians as output_bounds"):
        Certificate.made(document).rederive()
    document["public"] = [fact for fact in document["public"] if fact["name"] != "output_bounds"]
    with pytest.raises(CertificateError, match="not stated"):
        Certificate.made(document).rederive()


@pytest.mark.parametrize("aggregator", list(Aggregator))
def test_a_solver_that_asks_for_no_blocks_is_refused(aggregator: Aggregator) -> None:
    document = {**issued(aggregator).document, "solver": "gradient"}
    with pytest.raises(CertificateError, match="asks for no block-"):
        Certificate.made(document).rederive()
