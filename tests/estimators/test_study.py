"""`tacit.plan`: a formula and a schema in, a study out; no table."""

import pytest

import tacit
from tacit.errors import SettingError
from tacit.planning.demo_table import CLINIC_SCHEMA

SCHEMA = tacit.Schema.parse(CLINIC_SCHEMA)


def test_every_family_is_forecast() -> None:
    for formula, family in (
        ("readmit ~ age + C(ward)", "binomial"),
        ("bmi ~ age", "gaussian"),
        ("bmi ~ age", "huber"),
        ("visits ~ age", "poisson"),
        ("ward ~ age", "multinomial"),
    ):
        study = tacit.plan(formula, SCHEMA, n=20_000, family=family, epsilon=2.0)
        found = tacit.forecast(study.plan, runs=3)
        assert found.excess_loss > 0
        assert len(found.terms) == len(study.plan.design.terms)


def test_a_missing_number_of_records_is_refused() -> None:
    study = tacit.plan("readmit ~ age", SCHEMA, epsilon=1.0)
    assert 'records to be found by required("n"' in str(study)
    with pytest.raises(SettingError, match="n=… was not given"):
        _ = study.forecast
    assert "ε = 1" not in str(tacit.plan("readmit ~ age", SCHEMA, n=1000))
    with pytest.raises(SettingError, match="or both"):
        tacit.plan("readmit ~ age", SCHEMA)
