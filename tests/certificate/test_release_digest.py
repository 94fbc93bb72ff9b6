"""A stored fit is found among the charges of a ledger, by the digest of its release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.certificate.release_digest import digest_of_fit, digest_of_release
from tacit.schema.schema import BinaryColumn, NumericColumn, Schema

RNG = np.random.default_rng(3)
TABLE = pd.DataFrame({"x": RNG.uniform(0, 1, 2000), "y": RNG.integers(0, 2, 2000), "v": RNG.uniform(0, 5, 2000)})
SCHEMA = Schema({"x": NumericColumn(0, 1), "y": BinaryColumn(), "v": NumericColumn(0, 5)})


@pytest.mark.parametrize(
    "settings",
    [
        {"inference": False},
        {"inference": True},
        {"family": "gaussian", "formula": "v ~ x"},
        {"statistics": ["deviance"]},
    ],
)
def test_a_fit_has_the_digest_that_its_ledger_noted(settings: dict[str, Any], tmp_path: Any) -> None:
    given = {"formula": "y ~ x", "epsilon": 1.0, **settings}
    formula = given.pop("formula")
    with tacit.Ledger(budget=tacit.Budget(epsilon=4, delta=1e-6)) as ledger:
        fit = tacit.glm(formula, TABLE, SCHEMA, **given)
    (charge,) = ledger.charges()
    assert charge.release == fit.release_digest == digest_of_release(fit.release)  # type: ignore[arg-type]
    fit.save(tmp_path / "fit.json")
    assert tacit.load(tmp_path / "fit.json").release_digest == charge.release


def test_an_estimator_that_was_saved_has_it_too(tmp_path: Any) -> None:
    with tacit.Ledger(budget=tacit.Budget(epsilon=4, delta=1e-6)) as ledger:
        model = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 1), classes=[0, 1]).fit(TABLE[["x"]], TABLE["y"])
    model.save(tmp_path / "fit.json")
    assert tacit.load(tmp_path / "fit.json").release_digest == ledger.charges()[0].release


def test_another_fit_has_another_digest() -> None:
    first, second = (tacit.glm("y ~ x", TABLE, SCHEMA, epsilon=1.0, random_state=seed) for seed in (1, 2))
    assert digest_of_fit(first.stored) != digest_of_fit(second.stored)
