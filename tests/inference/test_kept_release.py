"""A stored fit in the place of a release."""

import pandas as pd

import tacit
from tacit.design.response import FAMILIES
from tacit.inference.kept_release import CODES, KeptRelease
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table


def test_it_has_the_facts_of_its_plan() -> None:
    table = pd.DataFrame(clinic_table(3000))
    fit = tacit.glm("readmit ~ age + bmi", table, tacit.Schema.parse(CLINIC_SCHEMA), epsilon=3.0, random_state=1)
    kept = KeptRelease.of(fit.stored)
    assert kept is not None
    assert fit.plan is not None
    assert fit.release is not None
    for name in ("records", "unit", "private", "signal", "intervals_declined"):
        assert getattr(kept.plan, name) == getattr(fit.plan, name)
    assert kept.plan.loss.code is fit.plan.loss.code
    assert kept.reproducible
    assert kept.coefficients().tolist() == fit.release.coefficients().tolist()


def test_every_family_has_a_loss() -> None:
    assert set(CODES) == set(FAMILIES)
