"""One suite for all accountants: every kind of event, every composition law."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

from tacit.accounting import gaussian
from tacit.accounting.accountants import ACCOUNTANTS, AccountantPrice, price, required_delta
from tacit.accounting.classical import optimal_epsilon
from tacit.errors import AccountingError, BudgetError, InputError
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    NegativeBinomial,
    ObjectivePerturbation,
    PoissonSampled,
    Pure,
    RandomStopping,
    Repeated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    SoftmaxPerturbation,
    Votes,
)

DELTA = 1e-5
TENTH = Fraction(1, 10)
# Each kind as a function of a number near 1, so that copies can be told apart.
KINDS: dict[str, Callable[[Fraction], Event]] = {
    "gaussian": lambda x: Gaussian(x, 9),
    "votes": lambda x: Votes(100 * x),
    "laplace": lambda x: Laplace(x, 4),
    "pure": lambda x: Pure(x / 4),
    "approximate": lambda x: Approximate(x / 4, Fraction(1, 10**8)),
    "bounded-range": lambda x: BoundedRange(x / 2),
    "discrete-gaussian": lambda x: DiscreteGaussian(1, 25 * x),
    "objective": lambda x: ObjectivePerturbation(x, 100, Fraction(1, 50), 1),
    "softmax": lambda x: SoftmaxPerturbation(x, 100, Fraction(1, 50), 3),
    "poisson": lambda x: PoissonSampled(Gaussian(x, 2), TENTH),
    "poisson-laplace": lambda x: PoissonSampled(Laplace(x, 1), TENTH),
    "without": lambda x: SampledWithoutReplacement(Gaussian(x, 2), 1, 10),
    "selection": lambda x: RandomStopping(Pure(x / 20), NegativeBinomial(1, TENTH)),
}
# The loss distribution of these covers a family of mechanisms, which no single one attains k times.
FAMILIES = ("bounded-range", "objective", "softmax", "without", "selection")


def priced(name: str, events: list[Event], delta: float = DELTA) -> AccountantPrice | None:
    try:
        return price(name, events, delta=delta, relation="replace-one")
    except AccountingError:
        return None


@pytest.mark.parametrize("accountant", list(ACCOUNTANTS))
@pytest.mark.parametrize("kind", list(KINDS))
def test_t21_k_fold_equals_a_list_of_k(kind: str, accountant: str) -> None:
    make = KINDS[kind]
    # Copies that differ by 1e-13 are not merged by the count_events, so each is counted by itself.
    apart: list[Event] = [make(1 + Fraction(number, 10**13)) for number in range(3)]
    together = priced(accountant, [Repeated(make(Fraction(1)), 3)])
    assert together == priced(accountant, [make(Fraction(1))] * 3)
    listed = priced(accountant, apart)
    if together is None:
        assert listed is None
        return
    assert listed is not None
    if accountant in ("pld", "optimal"):
        assert listed.lower <= together.epsilon * (1 + 1e-9)
        assert together.lower <= listed.epsilon * (1 + 1e-9)
    else:
        assert listed.epsilon == pytest.approx(together.epsilon, rel=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in FAMILIES])
def test_t22_no_accountant_is_below_the_certified_lower_bound(kind: str) -> None:
    events: list[Event] = [Repeated(KINDS[kind](Fraction(1)), 8)]
    tight, once = priced("pld", events), priced("pld", [KINDS[kind](Fraction(1))])
    assert tight is not None
    assert once is not None
    assert tight.epsilon > 1.2 * once.epsilon
    assert tight.lower <= tight.epsilon <= tight.lower * 1.001 + 1e-6
    for name in ACCOUNTANTS:
        other = priced(name, events)
        assert other is None or other.epsilon >= tight.lower * (1 - 1e-9)


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("times", [1, 8])
def test_there_is_no_lower_bound_that_no_release_attains(kind: str, times: int) -> None:
    found = priced("pld", [Repeated(KINDS[kind](Fraction(1)), times)])
    assert found is not None
    if kind == "without":
        # Attained where all other records are alike: as for a Poisson sample, add-remove.
        same = Repeated(PoissonSampled(Gaussian(1, 2), TENTH), times)
        known = price("pld", [same], delta=DELTA, relation="add-remove")
        assert known.lower * (1 - 1e-9) <= found.lower <= known.epsilon < found.epsilon * (1 + 1e-9)
    else:
        assert found.lower == 0.0


def test_gdp_is_exact_and_refuses_everything_else_by_name() -> None:
    found = price("gdp", [Repeated(Gaussian(1, 100), 25), Votes(200, 25)], delta=DELTA)
    assert found.epsilon == gaussian.epsilon(math.sqrt(0.5), DELTA)
    with pytest.raises(AccountingError, match=r"gdp cannot price Laplace; these could: basic"):
        price("gdp", [Gaussian(1, 1), Laplace(1, 1)], delta=DELTA)


def test_an_event_that_only_some_can_price_names_them() -> None:
    several = DiscreteGaussian(1, 100, coordinates=2)
    with pytest.raises(AccountingError, match=r"basic, advanced, optimal, zcdp, tcdp, rdp$"):
        price("pld", [several], delta=DELTA, relation="replace-one")
    drawn = SampledWithReplacement(DiscreteGaussian(1, 4), 2, 10)
    with pytest.raises(AccountingError, match=r"SampledWithReplacement\(DiscreteGaussian\).*no acc"):
        price("rdp", [drawn], delta=DELTA, relation="replace-one")


def test_t33_advanced_composition_against_a_table() -> None:
    # k epsilon tanh(epsilon/2) + epsilon sqrt(2 k log(1/delta')), at 40 digits.
    for epsilon, times, slack in ((TENTH, 100, 1e-6), (Fraction(1, 100), 1000, 1e-5), (Fraction(1, 2), 400, 1e-9)):
        with mpmath.workdps(40):
            e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
            exact = times * e * mpmath.tanh(e / 2)
            exact += e * mpmath.sqrt(2 * times * mpmath.log(1 / mpmath.mpf(slack)))
        found = price("advanced", [Repeated(Pure(epsilon), times)], delta=slack).epsilon
        assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -12)


def test_no_theorem_promises_more_than_the_optimal_one() -> None:
    for epsilon, times, delta in itertools.product([0.01, 0.1, 1.0], [5, 200], [1e-8, 1e-4]):
        events: list[Event] = [Repeated(Pure(epsilon), times)]
        best = price("optimal", events, delta=delta).epsilon
        assert best <= price("advanced", events, delta=delta).epsilon * (1 + 1e-9)
        assert best <= price("basic", events, delta=delta).epsilon


def test_laws_agree_with_the_theorems_on_plain_numbers() -> None:
    events: list[Event] = [Repeated(Pure(TENTH), 50)]
    exact = price("basic", events, delta=0.0).epsilon
    assert exact >= 5
    assert exact == pytest.approx(5.0, rel=1e-12)
    assert price("optimal", events, delta=DELTA).epsilon == optimal_epsilon(0.1, 0.0, 50, DELTA)
    mixed: list[Event] = [Repeated(Pure(TENTH), 50), Pure(Fraction(1, 11))]
    found = price("optimal", mixed, delta=DELTA)
    assert optimal_epsilon(0.1, 0.0, 50, DELTA) < found.epsilon
    assert found.epsilon < optimal_epsilon(0.1, 0.0, 51, DELTA) * 1.001


@pytest.mark.parametrize(("noise", "zcdp", "exact"), [(Fraction(100, 9), 1.235, 1.132), (1, 4.728, 4.377)])
def test_the_published_table_of_conversions(noise: Fraction | int, zcdp: float, exact: float) -> None:
    events: list[Event] = [Gaussian(1, noise)]
    assert price("zcdp", events, delta=1e-5).epsilon == pytest.approx(zcdp, abs=6e-4)
    assert price("rdp", events, delta=1e-5).epsilon == pytest.approx(zcdp, abs=6e-4)
    assert price("tcdp", events, delta=1e-5).epsilon == pytest.approx(zcdp, abs=6e-4)
    assert price("gdp", events, delta=1e-5).epsilon == pytest.approx(exact, abs=6e-4)
    assert price("pld", events, delta=1e-5).epsilon == pytest.approx(exact, abs=6e-4)


@pytest.mark.parametrize("accountant", list(ACCOUNTANTS))
def test_nothing_released_costs_nothing(accountant: str) -> None:
    assert price(accountant, [], delta=DELTA).epsilon == 0.0
    assert price(accountant, [Composed(()), Gaussian(0, 1)], delta=0.0).epsilon == 0.0


@pytest.mark.parametrize("accountant", ["basic", "advanced", "optimal", "pld"])
def test_without_delta_only_pure_releases_are_promised_anything(accountant: str) -> None:
    assert price(accountant, [Pure(1), Laplace(1, 2)], delta=0.0).epsilon == 1.5
    assert math.isinf(price(accountant, [Gaussian(1, 1)], delta=0.0).epsilon)
    leaks: list[Event] = [Approximate(1, TENTH)]
    assert math.isinf(price(accountant, leaks, delta=0.01).epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2.0, math.nan, math.inf])
def test_bad_deltas_are_refused(delta: float) -> None:
    with pytest.raises(BudgetError, match="delta"):
        required_delta(delta)
    with pytest.raises(InputError):
        price("rdp", [Gaussian(1, 1)], delta=delta)


def test_unknown_accountants_are_refused_with_the_known_ones() -> None:
    with pytest.raises(AccountingError, match="basic, advanced"):
        price("moments", [Gaussian(1, 1)], delta=DELTA)


def test_t27_a_price_is_read_without_changing_anything() -> None:
    events: list[Event] = [Repeated(PoissonSampled(Gaussian(1, 2), TENTH), 7)]
    first = price("rdp", events, delta=DELTA, relation="add-remove")
    assert first == price("rdp", events, delta=DELTA, relation="add-remove")


def test_more_of_anything_never_costs_less() -> None:
    for name in ("basic", "zcdp", "rdp", "pld"):
        found = [price(name, [Repeated(Laplace(1, 10), times)], delta=DELTA).epsilon for times in (1, 2, 5, 20, 100)]
        assert found == sorted(found)
