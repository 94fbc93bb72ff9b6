"""Calibration composed with other releases: all together are within the budget, and use it up."""

from fractions import Fraction
from typing import Any

import pytest

from tacit.accounting.calibration import calibrate
from tacit.accounting.composition import compose
from tacit.accounting.training_run import Run
from tacit.errors import AccountingError, BudgetError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Composed, Gaussian, Laplace, Repeated
from tacit.privacy.relation import Relation

BUDGET = Budget(epsilon=1.0, delta=1e-6)
OTHERS = (Repeated(Gaussian(1, 800), 2),)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("rate", [None, Fraction(1, 16), Fraction(1, 256)])
def test_all_together_use_the_budget_and_no_more(relation: Relation, rate: Fraction | None) -> None:
    run = calibrate(BUDGET, relation=relation, steps=50, sample_rate=rate, composed_with=OTHERS)
    found = compose([run.event], relation).epsilon(1e-6)
    assert 0.998 <= found <= 1.0
    alone = calibrate(BUDGET, relation=relation, steps=50, sample_rate=rate)
    assert run.noise > alone.noise
    assert compose([run.sums, *OTHERS], relation).epsilon(1e-6) == found


@pytest.mark.parametrize("sampling", ["without-replacement", "with-replacement"])
def test_samples_of_fixed_size_too(sampling: str) -> None:
    settings: dict[str, Any] = {"sampling": sampling, "population": 4000, "sample_rate": Fraction(1, 20)}
    run = calibrate(BUDGET, relation="replace-one", steps=20, composed_with=OTHERS, **settings)
    assert 0.998 <= compose([run.event], "replace-one").epsilon(1e-6) <= 1.0


def test_a_run_with_nothing_composed_is_what_it_was() -> None:
    run = Run(noise=2, steps=3, relation=Relation.ADD_REMOVE)
    assert run.event == run.sums == Repeated(Gaussian(1, 4), 3)
    both = Run(noise=2, steps=3, relation=Relation.ADD_REMOVE, composed_with=OTHERS)
    assert both.event == Composed((run.sums, *OTHERS))


def test_what_leaves_nothing_or_has_no_mu_is_refused() -> None:
    with pytest.raises(BudgetError, match="whole budget"):
        calibrate(BUDGET, relation="add-remove", sample_rate=0.1, composed_with=(Gaussian(100, 1),))
    with pytest.raises(AccountingError, match="no mu"):
        calibrate(BUDGET, relation="add-remove", sample_rate=0.1, composed_with=(Laplace(1, 10),))
