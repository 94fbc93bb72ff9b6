"""What finding bounds costs: its share of the budget, counted to the last unit."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Penalty, Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.design.design import matrix_design
from tacit.design.response import Continuous, Response
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan, plan_warnings
from tacit.solvers.exact import Exact
from tacit.solvers.locating import exact_locating, locating_share, with_locating
from tacit.solvers.rules import BOUNDS, WARNINGS
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, priced

OPEN, KNOWN = Continuous.opened("y"), Continuous.of("y", 0.0, 1.0)


def facts(
    d: int,
    n: int,
    mu: float,
    relation: Relation = Relation.REPLACE_ONE,
    response: Response = OPEN,
    bounds: object = "private",
) -> PublicFacts:
    design = matrix_design(
        [f"x{j}" for j in range(d)],
        response,
        bounds=bounds,  # type: ignore[arg-type]
        row_norm=None,
        intercept=True,
    )
    return PublicFacts(design, n, relation, "row", Budget(mu=mu).with_delta(1e-6), Penalty())


def located(given: PublicFacts) -> Plan:
    """A plan that spends the rest on one gradient."""
    allowed = mu_squared_of(given.budget)

    def route(rest: Fraction) -> Plan:
        step = priced(given, QueryKind.GRADIENT, rest, 1, Purpose.GRADIENT)
        return assembled(given, Exact(), (step,))

    return with_locating(given, allowed, route)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("d", [1, 5, 50])
def test_t03_every_count_of_every_column_is_in_the_charge(d: int, relation: Relation) -> None:
    """J counts a round have squared sensitivity J·S², under every relation."""
    plan = located(facts(d, 20_000, 1.0, relation))
    assert plan.locating is not None
    assert plan.locating.columns == (*range(d), d + 1)
    first, second, rest = plan.steps
    assert [step.times for step in plan.steps] == [BOUNDS.location_rounds, BOUNDS.scale_rounds, 1]
    expected = []
    for step in (first, second):
        assert step.price is not None
        assert step.size == d + 1
        squared = (d + 1) * step.price.bound**2
        expected.append(Repeated(Gaussian(squared, 4**step.price.bits, "counts"), step.times))
    assert plan.events()[:2] == tuple(expected)
    total = compose(plan.events()).mu_squared
    assert Fraction(999, 1000) < total <= 1
    assert rest.kind is QueryKind.GRADIENT


@given(st.integers(1, 200), st.integers(10, 10**7), st.floats(0.05, 5))
def test_the_share_is_never_exceeded(d: int, n: int, mu: float) -> None:
    share = locating_share(n, d, mu)
    assert 0 < share <= BOUNDS.largest_share
    given = facts(d, n, mu, response=KNOWN)
    plan = with_locating(given, mu_squared_of(given.budget), lambda _: assembled(given, Exact(), ()))
    cost = compose(plan.events()).mu_squared
    assert cost <= Fraction(share) * mu_squared_of(given.budget)
    assert plan.locating is not None
    expected = math.sqrt(2 * BOUNDS.scale_rounds * d / share) / (n * mu)
    assert math.isclose(plan.locating.noise, expected, rel_tol=1e-3)


def test_the_share_is_what_the_counts_need() -> None:
    assert locating_share(10**6, 10, 1.0) < 0.0001
    assert locating_share(5000, 10, 1.0) == BOUNDS.share
    assert BOUNDS.share < locating_share(500, 5, 1.0) < BOUNDS.largest_share
    assert locating_share(100, 5, 1.0) == BOUNDS.largest_share
    shares = [locating_share(n, 10, 1.0) for n in (100, 500, 1000, 10_000, 10**5)]
    assert shares == sorted(shares, reverse=True)


def test_a_plan_warns_where_counts_drown_and_nowhere_else() -> None:
    for n in (500, 1000, 10**5):
        assert plan_warnings(located(facts(4, n, 1.0))) == ()
    drowned = located(facts(19, 400, 1.0))
    assert drowned.locating is not None
    assert drowned.locating.noise > WARNINGS.count_noise
    (text,) = plan_warnings(drowned)
    assert "Declare bounds" in text
    assert plan_warnings(replace(drowned, locating=None)) == ()


def test_declared_bounds_cost_nothing() -> None:
    given = facts(3, 1000, 1.0, response=KNOWN, bounds=(0, 1))
    plan = make_plan(given, SolverOptions("gradient"))
    assert plan.locating is None
    assert len(plan.steps) == 1
    assert exact_locating(given.design) is None


def test_the_response_alone_may_be_open() -> None:
    plan = located(facts(3, 1000, 1.0, bounds=(0, 1)))
    assert plan.locating is not None
    assert plan.locating.columns == (4,)
    assert {step.size for step in plan.steps[:2]} == {1}


def test_without_noise_there_is_no_price() -> None:
    given = facts(3, 1000, 1.0)
    locating = exact_locating(given.design)
    assert locating is not None
    assert locating.noise == 0.0
