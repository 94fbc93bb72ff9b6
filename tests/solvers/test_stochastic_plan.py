"""Plans of steps over batches: within ε and δ, by two accountants; refused where nothing prices them."""

import math
from fractions import Fraction
from typing import Any

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.plan import Penalty, Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.design.design import matrix_design
from tacit.errors import BudgetError, InputError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, PoissonSampled, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.exact import Exact
from tacit.solvers.rules import STOCHASTIC
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.solvers.stochastic import Stochastic
from tests.solvers.batch_facts import BUDGET, RESPONSES, facts


def planned(known: PublicFacts | None = None, **options: Any) -> Plan:
    return make_plan(known or facts(), SolverOptions("stochastic", **options))


@pytest.mark.parametrize("kind", list(RESPONSES))
@pytest.mark.parametrize("relation", list(Relation))
def test_the_budget_is_used_and_not_exceeded(kind: str, relation: Relation) -> None:
    plan = planned(facts(relation=relation, kind=kind))
    assert 0.998 <= plan.guarantee().epsilon <= 1.0
    assert plan.guarantee().mu is None
    solver: Any = plan.solver
    steps = [step for step in plan.steps if step.kind is QueryKind.BATCH_GRADIENT]
    assert {step.price.batches for step in steps if isinstance(step.price, BatchPrice)} == {solver.batches}
    assert plan.passes <= STOCHASTIC.passes + 3 * (kind != "labels")


@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.REPLACE_ONE])
@pytest.mark.parametrize("options", [{}, {"max_passes": 2}, {"clip": 1.0, "batch_size": 100, "iterations": 400}])
def test_t25_epsilon_is_that_of_dp_accounting_within_half_a_per_cent(
    relation: Relation, options: dict[str, Any]
) -> None:
    """Another library's loss distributions, of the events as the plan lists them."""
    step_size = {"step_size": 0.5} if "clip" in options else {}
    plan = planned(facts(relation=relation), **options, **step_size)
    theirs = {
        Relation.ADD_REMOVE: dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
        Relation.REPLACE_ONE: dp_accounting.NeighboringRelation.REPLACE_ONE,
    }[relation]
    accountant = PLDAccountant(theirs, value_discretization_interval=1e-4)
    for event in plan.events():
        assert isinstance(event, Repeated)
        inner = event.event
        if isinstance(inner, PoissonSampled):
            assert isinstance(inner.event, Gaussian)
            one = dp_accounting.PoissonSampledDpEvent(
                float(inner.rate), dp_accounting.GaussianDpEvent(1 / math.sqrt(inner.event.mu_squared))
            )
        else:
            assert isinstance(inner, Gaussian)
            # Their noise is in clips, and a replaced record moves a sum by two of them.
            clips = 2 if relation is Relation.REPLACE_ONE else 1
            one = dp_accounting.GaussianDpEvent(clips / math.sqrt(inner.mu_squared))
        accountant.compose(dp_accounting.SelfComposedDpEvent(one, event.times))
    assert plan.guarantee().epsilon == pytest.approx(accountant.get_epsilon(1e-6), rel=5e-3)


@given(
    n=st.integers(50, 10**7),
    epsilon=st.floats(0.01, 30),
    delta=st.floats(1e-12, 1e-3),
    relation=st.sampled_from(list(Relation)),
    sampling=st.sampled_from(list(Sampling)),
    passes=st.integers(2, 20),
    kind=st.sampled_from(list(RESPONSES)),
)
@settings(max_examples=15, deadline=None)
def test_whatever_is_planned_is_within_budget_and_passes(
    n: int, epsilon: float, delta: float, relation: Relation, sampling: Sampling, passes: int, kind: str
) -> None:
    budget = Budget(epsilon=epsilon, delta=delta)
    try:
        plan = planned(facts(n, 3, budget, relation, kind), sampling=str(sampling), max_passes=passes)
    except (BudgetError, SettingError):
        return
    assert plan.guarantee().epsilon <= epsilon
    # A fixed size is a whole number of records.
    slack = 0 if sampling is Sampling.POISSON else plan.steps[-1].times / n
    assert float(plan.passes) <= passes + slack


def test_rates_are_dyadic_and_readable() -> None:
    for passes in (2, 3, 5, 7, 12, 29):
        solver: Any = planned(max_passes=passes).solver
        batches = solver.batches
        assert batches.sampling is Sampling.POISSON
        assert batches.population & (batches.population - 1) == 0
        assert batches.sample < 2 ** (STOCHASTIC.rate_bits + 1)


@pytest.mark.parametrize("sampling", list(Sampling))
def test_a_batch_size_is_honoured(sampling: Sampling) -> None:
    solver: Any = planned(sampling=str(sampling), batch_size=500).solver
    assert float(solver.batches.rate) * 20_000 == pytest.approx(500, rel=1e-6)
    one: Any = planned(sampling=str(sampling), batch_size=1, clip=1.0, iterations=50).solver
    assert float(one.batches.rate) * 20_000 == pytest.approx(1, rel=1e-4)
    rate: Any = planned(sampling=str(sampling), sample_rate=Fraction(1, 8)).solver
    assert rate.batches.rate == Fraction(1, 8)


def test_n_at_least_stands_for_a_private_n() -> None:
    solver: Any = planned(facts(relation=Relation.ADD_REMOVE), batch_size=500).solver
    assert float(solver.batches.rate) == pytest.approx(500 / 20_000, rel=1e-6)
    assert not planned(facts(relation=Relation.ADD_REMOVE)).counting


def test_single_records_and_an_own_clip_are_the_notes_algorithm() -> None:
    plan = planned(batch_size=1, clip=0.5, iterations=300)
    assert [(step.kind, step.times) for step in plan.steps] == [(QueryKind.BATCH_GRADIENT, 300)]
    assert isinstance(plan.solver, Stochastic)
    assert plan.solver.clip == 0.5
    assert not plan.solver.maps_rows
    assert planned().solver.maps_rows


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], type[InputError], str]] = {
    "a batch beyond n": ({"batch_size": 20_001}, {}, SettingError, "n=20000"),
    "a batch beyond n_at_least": (
        {"batch_size": 20_001},
        {"relation": Relation.ADD_REMOVE},
        SettingError,
        "n_at_least=20000",
    ),
    "no batch": ({"batch_size": 0}, {}, SettingError, "batch_size"),
    "part of a record": ({"batch_size": 1.5}, {}, SettingError, "batch_size"),
    "a rate of zero": ({"sample_rate": 0}, {}, SettingError, "sample_rate"),
    "a rate above one": ({"sample_rate": 1.01}, {}, SettingError, "sample_rate"),
    "a negative rate": ({"sample_rate": -0.1}, {}, SettingError, "sample_rate"),
    "no rate": ({"sample_rate": math.nan}, {}, SettingError, "sample_rate"),
    "both": ({"sample_rate": 0.1, "batch_size": 10}, {}, SettingError, "not both"),
    "shuffled batches": ({"sampling": "shuffle"}, {}, SettingError, "sampling must be one of"),
    "fixed under zero-out": (
        {"sampling": "without-replacement"},
        {"relation": Relation.ZERO_OUT},
        SettingError,
        "no price under zero-out",
    ),
    "fixed under add-remove": (
        {"sampling": "with-replacement", "batch_size": 10},
        {"relation": Relation.ADD_REMOVE},
        SettingError,
        "no price under add-remove",
    ),
    "a clip of zero": ({"clip": 0.0}, {}, SettingError, "clip"),
    "an own clip and a private n": ({"clip": 1.0}, {"relation": Relation.ADD_REMOVE}, SettingError, "step_size"),
    "a budget in mu": ({}, {"budget": Budget(mu=0.3, delta=1e-6)}, BudgetError, "no mu and no rho"),
    "a budget in rho": ({}, {"budget": Budget(rho=0.3, delta=1e-6)}, BudgetError, "no mu and no rho"),
    "a pure budget": ({}, {"budget": Budget(epsilon=1.0, delta=0.0)}, SettingError, "delta=0"),
    "intervals": ({"inference": True}, {}, SettingError, "no intervals"),
    "one pass": ({"max_passes": 1}, {}, SettingError, "at least 2"),
    "too many steps": ({"max_passes": 2, "batch_size": 10_000, "iterations": 9}, {}, SettingError, "fewer iterations"),
    "one step in two stages": ({"iterations": 1}, {"kind": "numbers"}, SettingError, "at least 2"),
    "l2 over a private n": (
        {},
        {"relation": Relation.ADD_REMOVE, "penalty": Penalty(l2=0.1)},
        SettingError,
        "counts the records",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_planned_is_refused_with_a_reason(case: str) -> None:
    options, known, error, said = REFUSED[case]
    with pytest.raises(error, match=said):
        planned(facts(**known), **options)


def test_options_of_batches_are_for_this_solver() -> None:
    for options in ({"batch_size": 10}, {"sample_rate": 0.1}, {"sampling": "poisson"}):
        for solver in ("auto", "gradient", "newton"):
            with pytest.raises(SettingError, match='are for solver="stochastic"'):
                make_plan(facts(), SolverOptions(solver, **options))


def test_batches_are_chosen_only_where_max_passes_excludes_full_steps() -> None:
    assert not make_plan(facts(), SolverOptions()).draws_batches
    assert not make_plan(facts(), SolverOptions(max_passes=10)).draws_batches
    few = make_plan(facts(), SolverOptions(max_passes=5, iterations=50))
    assert few.draws_batches
    assert few.steps[-1].times == 50
    assert few.passes <= 5
    assert make_plan(facts(kind="numbers"), SolverOptions(max_passes=8)).draws_batches
    # In μ there is no price for batches: the full plan is what is missing.
    with pytest.raises(SettingError, match="max_passes must be at least"):
        make_plan(facts(budget=Budget(mu=0.3, delta=1e-6)), SolverOptions(max_passes=5, iterations=50))


def test_a_descent_of_few_steps_left_by_the_cap_gives_way_to_batches() -> None:
    """With 1 or 2 steps over all records the excess loss is 10 to 600 times that of batches; from 5 on it is not."""
    left = {passes: make_plan(facts(), SolverOptions(max_passes=passes)) for passes in (1, 2, 5, 7, 8)}
    assert [plan.draws_batches for plan in left.values()] == [False, True, True, True, False]
    assert left[8].steps[-1].times == 5
    # Where batches have no price, and where few steps are asked for, the descent stays.
    unpriced = make_plan(facts(budget=Budget(mu=0.3, delta=1e-6)), SolverOptions(max_passes=5))
    assert (unpriced.draws_batches, unpriced.steps[-1].times) == (False, 2)
    assert not make_plan(facts(), SolverOptions(max_passes=5, iterations=2)).draws_batches


def test_what_is_set_by_hand_is_not_given_up_for_batches() -> None:
    """The fault: a warm start, and a noise multiplier that disagreed with epsilon, were passed over in silence."""
    for by_hand in ({"start": (0.0,) * 4}, {"noise_multiplier": 30.0}):
        with pytest.raises(SettingError):
            make_plan(facts(), SolverOptions(max_passes=3, iterations=50, **by_hand))
    assert make_plan(facts(), SolverOptions(max_passes=3, iterations=50, clip=0.5)).draws_batches


def test_the_least_cap_is_that_of_batches_where_they_need_fewer_passes() -> None:
    with pytest.raises(SettingError, match="max_passes must be at least 5 for"):
        make_plan(facts(kind="numbers"), SolverOptions(max_passes=3))


def test_without_privacy_the_exact_minimiser_runs() -> None:
    assert isinstance(planned(facts(budget=Budget(epsilon=math.inf))).solver, Exact)
    with pytest.raises(SettingError, match="batch_size"):
        planned(facts(budget=Budget(epsilon=math.inf)), batch_size=20_001)


def test_bounds_that_are_found_first_are_paid_for_too() -> None:
    response, loss = RESPONSES["labels"]
    design = matrix_design(["a", "b"], response, bounds="private", row_norm=None, intercept=True)
    known = PublicFacts(design, 200_000, Relation.REPLACE_ONE, "row", BUDGET, Penalty(), loss)
    plan = make_plan(known, SolverOptions("stochastic"))
    assert plan.locating is not None
    assert 0.99 <= plan.guarantee().epsilon <= 1.0


def test_steps_shorten_with_small_batches() -> None:
    def length(size: int) -> float:
        solver: Any = planned(batch_size=size, iterations=50).solver
        return float(solver.descent.step_size)

    assert length(1) < length(10) < length(1000)


def test_the_price_of_fixed_sizes_is_their_own() -> None:
    """T28: more noise for a subset than for a Poisson batch of the same rate, whose inner sensitivity is half."""
    prices = [
        planned(sampling=str(sampling), sample_rate=Fraction(1, 8)).step(Purpose.DESCENT) for sampling in Sampling
    ]
    noises = [2.0**step.price.bits / step.price.bound for step in prices if isinstance(step.price, BatchPrice)]
    assert noises[0] < noises[1] < noises[2]
    assert Batches(Sampling.POISSON, 1, 8).squared_factor == 1
