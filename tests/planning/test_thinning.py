"""How many tiles a look reads: all of them unless the table is large and n public."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tacit.losses import squared
from tacit.planning.planner import Facts, Wishes, make_plan
from tacit.planning.thinning import (
    LARGEST_EDGE,
    LARGEST_STEP,
    PLACES,
    SPARSEST,
    tiles_apart,
    tiles_apart_in_steps,
)
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.problem.design import matrix_design
from tacit.problem.plan import Penalty
from tacit.problem.record import Unit
from tacit.problem.response import Binary, Continuous


def facts(records: int, width: int, relation: Relation = Relation.REPLACE_ONE) -> Facts:
    design = matrix_design(
        [f"x{j}" for j in range(width - 1)],
        Binary("y", (0, 1)),
        bounds=(-1, 1),
        row_norm=None,
        intercept=True,
    )
    return Facts(design, records, relation, "row", Budget(epsilon=1.0, delta=1e-6), Penalty())


def test_small_tables_are_read_whole() -> None:
    assert tiles_apart(facts(10_000, 20), 0.1, 2.0) == 1


def test_where_n_is_private_all_is_read() -> None:
    large = facts(10**7, 20, Relation.ADD_REMOVE)
    assert tiles_apart(large, 0.1, 2.0) == 1
    plan = make_plan(large, Wishes())
    assert plan.whitening is not None
    assert plan.whitening.every == 1


@pytest.mark.parametrize("records", [10**6, 10**7, 10**9])
@pytest.mark.parametrize("width", [11, 51, 301])
@pytest.mark.parametrize("mu", [0.003, 0.06, 1.0])
def test_the_noise_stays_a_small_share_of_what_is_read(records: int, width: int, mu: float) -> None:
    every = tiles_apart(facts(records, width), mu, 2.0)
    assert 1 <= every <= SPARSEST
    edge = math.sqrt(2 * width) * math.sqrt(2) * 4 * width / mu
    assert every == 1 or edge * every / records <= LARGEST_EDGE
    assert every == 1 or records / every >= 1000 * width


def test_a_large_table_is_read_in_part() -> None:
    plan = make_plan(facts(10**7, 51), Wishes())
    assert plan.whitening is not None
    assert plan.whitening.every > 1


@pytest.mark.parametrize("records", [10**6, 10**8])
@pytest.mark.parametrize("mu", [0.003, 0.06, 1.0])
def test_the_noise_of_a_first_step_stays_small(records: int, mu: float) -> None:
    every = tiles_apart_in_steps(facts(records, 51), mu, 4.0)
    assert 1 <= every <= SPARSEST
    assert every == 1 or 2 * 4.0 * 51 / (mu * records / every) <= LARGEST_STEP


def test_a_first_stage_reads_a_part_and_the_last_reads_all() -> None:
    names = [f"x{j}" for j in range(50)]
    design = matrix_design(
        names, Continuous("y", -1.0, 1.0, 0.0, 1.0), bounds=(-1, 1), row_norm=None, intercept=True
    )
    budget = Budget(epsilon=1.0, delta=1e-6)
    every = []
    for relation in (Relation.REPLACE_ONE, Relation.ADD_REMOVE):
        about = Facts(design, 10**7, relation, "row", budget, Penalty(), loss=squared.LOSS)
        every.append([stage.every for stage in make_plan(about, Wishes()).stages])
    assert every == [[SPARSEST, 1], [1, 1]]


@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize("relation", Relation)
def test_t08_a_plan_that_reads_by_place_says_that_places_are_assumed_fixed(
    relation: Relation, inference: bool
) -> None:
    """A table kept in the order of its own content has no fixed places."""
    for records in (1000, 10**7):
        plan = make_plan(facts(records, 20, relation), Wishes(inference=inference))
        assert plan.whitening is not None
        apart = max(plan.whitening.every, *(stage.every for stage in plan.stages))
        assert (apart > 1) == (records == 10**7 and relation.n_is_public)
        assert plan.facts == ((PLACES,) if apart > 1 else ())


def test_persons_are_read_whole_and_have_no_places() -> None:
    about = facts(10**7, 20)
    beside = replace(about.design.beside, unit=Unit("patient", 3))
    plan = make_plan(replace(about, design=replace(about.design, beside=beside)), Wishes())
    assert plan.facts == ()
