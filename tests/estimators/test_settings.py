"""From settings to a release: defaults, facts and the order of things."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.design.attached_columns import AttachedColumns, Unit
from tacit.design.design import matrix_design
from tacit.design.reading import Reading
from tacit.design.response import Binary
from tacit.errors import BudgetError, SettingError
from tacit.estimators.settings import check_settings, make_budget
from tacit.losses import classification, regression
from tacit.privacy.budget import Budget

DESIGN = matrix_design(["x0"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)


TABLE: Any = SimpleNamespace(names=["a"], column_types={}, reading=Reading())


def request(**settings: Any) -> Any:
    chosen = {"epsilon": 1.0, "delta": None, "budget": None, "relation": "replace-one", **settings}
    return check_settings(**chosen)


def test_a_budget_is_given_once() -> None:
    assert make_budget(1.0, 1e-6, None) == Budget(epsilon=1.0, delta=1e-6)
    assert make_budget(None, None, Budget(mu=1)) == Budget(mu=1)
    for arguments in ((None, None, None), (None, 1e-6, None), (1.0, None, Budget(mu=1))):
        with pytest.raises(BudgetError):
            make_budget(*arguments)


@pytest.mark.parametrize(
    ("settings", "records", "delta"),
    [
        ({}, 1000, 1e-5),
        ({}, 10**6, 10**-6.6),
        ({"relation": "zero-out"}, 10**6, 10**-6.6),
        ({"relation": "add-remove", "n_at_least": 10**5}, 10**6, 1e-6),
        ({"relation": "add-remove", "n_at_least": 10**6}, 10**6, 10**-6.6),
        ({"delta": 1e-9}, 1000, 1e-9),
    ],
)
def test_delta_defaults(settings: dict[str, Any], records: int, delta: float) -> None:
    plan = request(**settings).plan(DESIGN, records)
    assert plan.budget.delta == pytest.approx(delta, rel=1e-12)


def test_a_private_n_never_enters_the_plan() -> None:
    asked = request(relation="add-remove", n_at_least=500)
    assert asked.plan(DESIGN, 501) == asked.plan(DESIGN, 10**6) == asked.plan(DESIGN, None)


@pytest.mark.parametrize("records", [None, 0, 1])
def test_a_public_n_must_be_known(records: int | None) -> None:
    with pytest.raises(SettingError, match="at least 2"):
        request().plan(DESIGN, records)


def test_common_facts_name_n_where_it_is_public() -> None:
    public = request().facts(TABLE, "zero", units=False)
    assert [(fact.name, fact.source) for fact in public] == [("columns", "assumed"), ("number of records", "assumed")]
    asked = request(relation="add-remove", n_at_least=9)
    private = asked.facts(TABLE, "zero", units=False)
    assert (private[1].name, private[1].value, private[1].source) == ("n_at_least", 9, "declared")


def test_numpy_numbers_are_numbers() -> None:
    made = request(random_state=np.int64(3), l2=np.float32(0.5), radius=np.float64(2))
    assert (made.seed, made.penalty.l2, made.penalty.radius) == (3, 0.5, 2.0)


def test_settings_are_refused_only_if_they_are_for_every_number_of_records() -> None:
    """Where n is to be read, a plan for one number is enough."""
    tight = request(max_passes=8, iterations=8, solver="gradient")
    assert tight.first_plan([(DESIGN, classification.LOGISTIC)], None).queries <= 8
    hopeless = request(max_passes=2, iterations=8)
    with pytest.raises(SettingError, match="max_passes"):
        hopeless.first_plan([(DESIGN, classification.LOGISTIC)], None)
    many = [(DESIGN, regression.huber(1.0, relative=True)), (DESIGN, classification.LOGISTIC)]
    perturbed = request(solver="objective-perturbation")
    with pytest.raises(SettingError, match="objective-perturbation"):
        perturbed.first_plan(many[:1], 1000)
    assert perturbed.first_plan(many, 1000).loss == classification.LOGISTIC


def test_t37_that_no_record_was_refused_is_assumed_where_records_are_refused() -> None:
    last = request().facts(TABLE, "error", units=False)[-1]
    assert (last.name, last.value, last.source) == ("every record is valid", True, "assumed")


def test_a_unit_without_a_column_is_a_premise_of_the_plan() -> None:
    plan = request(unit="patient").plan(DESIGN, 1000)
    assert [(fact.name, fact.value, fact.source) for fact in plan.facts] == [
        ("each unit has at most one record", "patient", "assumed")
    ]
    assert str(plan.guarantee()).endswith("per patient (assuming each has at most one record)")
    known = replace(DESIGN, attached=AttachedColumns(unit=Unit("patient", 3, None)))
    for asked, design in ((request(), DESIGN), (request(unit="patient"), known)):
        plan = asked.plan(design, 1000)
        assert plan.facts == ()
        assert "assuming" not in str(plan.guarantee())
