"""A reusable holdout as a user has it: claims of expressions, one charge, a certificate, and no overfitting."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.errors import BudgetError, FormulaError, PlanViolation, SettingError
from tacit.schema.columns import NumericColumn
from tacit.schema.schema import Schema

N, D = 4000, 20
NAMES = [f"x{j}" for j in range(D)]
SCHEMA = Schema({name: NumericColumn(-1.0, 1.0) for name in (*NAMES, "y")})


def table(seed: int) -> pa.Table:
    values = np.random.default_rng(seed).choice([-1.0, 1.0], (N, D + 1))
    return pa.table(dict(zip((*NAMES, "y"), values.T, strict=True)))


HOLDOUT = table(0)


def opened(**settings: Any) -> tacit.ReusableHoldout:
    return tacit.ReusableHoldout(HOLDOUT, SCHEMA, **{"epsilon": 2.0, "delta": 1e-6, "releases": 3, **settings})


def test_claims_are_confirmed_or_corrected() -> None:
    """Noise beyond the threshold of a true claim, and beyond 0.1 of an answer, has a chance below 1e-6."""
    with opened() as holdout:
        assert 0 < holdout.threshold < 0.2
        truth = float(np.mean(HOLDOUT["x0"].to_numpy() * HOLDOUT["y"].to_numpy()))
        found = [holdout.check("x0 * y", truth) for _ in range(5)]
        assert all(it.confirmed and it.value == truth and it.noise_scale == 0.0 for it in found)
        wrong = holdout.check("x0 * y", 0.9)
        assert not wrong.confirmed
        assert wrong.value == pytest.approx(truth, abs=0.1)
        assert 0 < wrong.noise_scale < 0.01
        assert holdout.remaining == 2
    stated = holdout.certificate
    assert stated.check().consistent
    assert stated.parsed["total"]["epsilon"] <= 2.0
    assert stated.private


def test_releases_are_used_up() -> None:
    with opened(releases=1, random_state=0) as holdout:
        assert not holdout.check("y", 1.0).confirmed
        with pytest.raises(PlanViolation, match="used up"):
            holdout.check("y", 0.0)
    assert not holdout.certificate.private


def test_a_ledger_is_charged_once() -> None:
    with tacit.Ledger(budget=tacit.Budget(epsilon=4, delta=1e-6), law="rdp") as ledger:
        with opened() as holdout:
            for _ in range(3):
                holdout.check("x1 > 0", 0.5)
        assert len(ledger.charges()) == 1


@pytest.mark.usefixtures("nothing_spent")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": None}, "no default"),
        ({"releases": 0}, "releases"),
        ({"threshold": 2.0}, "threshold"),
        ({"epsilon": math.inf}, "finite epsilon"),
        ({"columns": []}, "at least one"),
    ],
)
def test_settings_are_refused_before_a_record_is_read(settings: dict[str, Any], words: str) -> None:
    with pytest.raises((SettingError, BudgetError), match=words):
        tacit.ReusableHoldout("nowhere.csv", SCHEMA, **{"epsilon": 1.0, **settings})
    private_n = Schema(SCHEMA.columns, relation=tacit.Relation.ADD_REMOVE, n_at_least=100)
    with pytest.raises(SettingError, match="public number"):
        tacit.ReusableHoldout("nowhere.csv", private_n, epsilon=1.0)


def test_claims_that_cannot_be_are_refused_and_cost_nothing() -> None:
    with opened(threshold=0.1) as holdout:
        for expression, claimed in (("x0", 1.5), ("x0", math.nan)):
            with pytest.raises(SettingError, match="claimed"):
                holdout.check(expression, claimed)
        with pytest.raises(FormulaError):
            holdout.check("log(x0)", 0.0)
        with pytest.raises(SettingError, match="after the block"):
            _ = holdout.certificate
        assert (holdout.remaining, holdout.threshold) == (3, 0.1)
    with pytest.raises(PlanViolation, match="inside the block"):
        holdout.check("x0", 0.0)
    with pytest.raises(SettingError, match="opened before"), holdout:
        pass


def test_naive_reuse_overfits_and_the_holdout_does_not() -> None:
    """Labels are coins. Signs of 200 means on the holdout look better than chance there, by eight errors or so."""
    rng = np.random.default_rng(3)
    n, d = 400, 200
    names = [f"x{j}" for j in range(d)]
    schema = Schema({name: NumericColumn(-1.0, 1.0) for name in (*names, "y")})
    train, holdout = (rng.choice([-1.0, 1.0], (n, d + 1)) for _ in range(2))
    private = pa.table(dict(zip((*names, "y"), holdout.T, strict=True)))
    claims = train[:, :d].T @ train[:, d] / n
    with tacit.ReusableHoldout(private, schema, epsilon=20.0, delta=1e-6, releases=d) as checked:
        answers = np.array([checked.check(f"x{j} * y", claim).value for j, claim in enumerate(claims)])
    naive = holdout[:, :d].T @ holdout[:, d] / n

    def gain(signs: np.ndarray) -> float:
        return float(np.mean(np.sign(holdout[:, :d] @ signs) == holdout[:, d])) - 0.5

    assert gain(np.sign(naive)) > 4 * 0.5 / math.sqrt(n)
    assert gain(np.sign(answers)) < 3.5 * 0.5 / math.sqrt(n)
