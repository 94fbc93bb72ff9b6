"""Roads that are no fit of one solver: what they plan and ask is what a user's call plans and asks."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.audit.programs import SCHEMA, LineQueries, audited_loss, class_totals, evaluated_labels
from tacit.audit.registry import REPLAYED
from tacit.contract.query import QueryKind
from tacit.privacy.budget import Budget


def test_the_line_is_priced_as_simple_regression_is() -> None:
    planned = LineQueries(budget=Budget(mu=1.0)).plan(64, 2)
    rng = np.random.default_rng(0)
    data = pa.table({"x0": rng.uniform(-1, 1, 64), "x1": rng.uniform(-1, 1, 64)})
    line = tacit.simple_regression("x1 ~ x0", data, SCHEMA, budget=Budget(mu=1.0), random_state=1)
    assert [step.size for step in planned.steps for _ in range(step.times)] == [2, 2]
    assert line.certificate.check().consistent
    with tacit.statistics(data, SCHEMA, budget=Budget(mu=1.0), queries=[2, 2], random_state=1) as gate:
        assert gate.plan.steps == planned.steps


def test_an_evaluation_is_one_count() -> None:
    (step,) = evaluated_labels(budget=Budget(mu=1.0), bounds=(-1, 1), classes=(0, 1)).plan(64, 2).steps
    assert step.kind is QueryKind.COUNTS


@pytest.mark.filterwarnings("ignore")
def test_totals_of_a_class_are_the_sums_that_were_released() -> None:
    """With hardly any noise: 33 of 64 records, those but one in the middle of every interval."""
    fit = REPLAYED["GaussianNB"]
    pair = fit.pair(fit.relation, fit.outcome, fit.records, 2)
    model = fit.model(1000.0, seed=1).fit(pair.second.X, pair.second.y)
    np.testing.assert_allclose(class_totals(model) * 64, [33, 1, 1, 1, 1], atol=1.6)


def test_the_loss_is_compiled_once() -> None:
    assert audited_loss() is audited_loss()
    assert audited_loss().lipschitz == 1.0
