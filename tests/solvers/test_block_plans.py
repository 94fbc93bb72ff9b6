"""Plans of black boxes: prices within the budget, blocks by rule, refusals by public numbers."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.contract.block_price import ChoicePrice, DepthPrice
from tacit.contract.block_query import BLACK_BOX, BlackBox, LeastSquares
from tacit.contract.plan import Penalty
from tacit.contract.query import Answer, Query
from tacit.design.design import matrix_design
from tacit.design.response import Continuous
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.block_plans import Aggregator, BlockAggregate, median_price, plan
from tacit.solvers.solver import PublicFacts

DESIGN = matrix_design(["x"], Continuous.of("y", -1, 1), bounds=(0, 1), row_norm=None, intercept=True)
BOX = BlackBox(b"", (0.0, 0.0), (1.0, 1.0), (0.0, 0.0))


def facts(records: int = 10_000, **budget: Any) -> PublicFacts:
    made = Budget(**(budget or {"epsilon": 1.0, "delta": 1e-6}))
    return PublicFacts(DESIGN, records, Relation.REPLACE_ONE, "row", made, Penalty(), BLACK_BOX)


def solver(aggregator: Aggregator) -> BlockAggregate:
    function: Any = LeastSquares(2) if aggregator is Aggregator.DEPTH else BOX
    return BlockAggregate(function, 2, aggregator, (-1.0, -2.0), (1.0, 2.0))


@pytest.mark.parametrize("aggregator", list(Aggregator))
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
def test_every_aggregator_costs_at_most_the_budget(aggregator: Aggregator, epsilon: float) -> None:
    found = plan(facts(epsilon=epsilon, delta=1e-6), solver(aggregator), None)
    assert 0.9 * epsilon < found.guarantee().epsilon <= epsilon
    assert found.facts[0].name == "blocks"


def test_pure_budgets_are_for_medians() -> None:
    pure = facts(epsilon=1.0, delta=0.0)
    found = plan(pure, solver(Aggregator.MEDIAN), 50)
    assert found.guarantee().delta == 0.0
    assert found.guarantee().epsilon <= 1.0
    for aggregator in (Aggregator.MEAN, Aggregator.DEPTH):
        with pytest.raises(SettingError, match="delta above 0"):
            plan(pure, solver(aggregator), 50)


def test_budgets_without_an_epsilon_are_for_means() -> None:
    assert plan(facts(mu=0.5, delta=1e-6), solver(Aggregator.MEAN), 50).guarantee().mu <= 0.5  # type: ignore[operator]
    with pytest.raises(BudgetError, match="has no μ"):
        plan(facts(mu=0.5, delta=1e-6), solver(Aggregator.MEDIAN), 50)


def test_many_medians_cost_less_than_their_sum() -> None:
    price = median_price(Fraction(1), 1e-6, 40, facts())
    assert price.rate > Fraction(1, 80)


def test_blocks_smaller_than_their_numbers_are_refused() -> None:
    with pytest.raises(SettingError, match="fewer than the 2 numbers"):
        plan(facts(30), solver(Aggregator.MEAN), 16)


def test_the_solver_asks_what_is_planned() -> None:
    asked: list[Query] = []

    class Gate:
        def ask(self, query: Query) -> Answer:
            asked.append(query)
            return Answer(np.full(2, np.nan if len(asked) == 3 else 0.5), 0.0)

    for aggregator in Aggregator:
        found = plan(facts(), solver(aggregator), 50)
        theta = found.solver.run(Gate(), found).theta
        assert theta.tolist() == ([0.0, 0.0] if aggregator is Aggregator.DEPTH else [0.5, 0.5])
        assert isinstance(found.steps[0].price, DepthPrice if aggregator is Aggregator.DEPTH else object)
    assert [type(it).__name__ for it in asked] == ["BlockMean", "BlockMedian", "BlockDepth"]
    assert asked[0].centre.tolist() == [0.0, 0.0]  # type: ignore[union-attr]
    assert isinstance(plan(facts(), solver(Aggregator.MEDIAN), 50).steps[0].price, ChoicePrice)
    assert "BlackBox" not in repr(replace(solver(Aggregator.MEAN), blocks=3))
