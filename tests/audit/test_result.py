"""The verdict of an audit, its words and its document."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tacit.accounting.composition import Composition, compose
from tacit.audit.attack import Subject
from tacit.audit.bounds import Scores
from tacit.audit.result import AuditResult, equivalent_mu, floored
from tacit.privacy.event import Laplace
from tacit.privacy.relation import Relation

SCORES = Scores(np.zeros(3), np.ones(3))
LAPLACE = compose([Laplace(1, 1)])


def result(**changes: Any) -> AuditResult:
    given: dict[str, Any] = {
        "name": "newton",
        "subject": Subject.SOLVER,
        "claim": Composition(Fraction(9)),
        "relation": Relation.ZERO_OUT,
        "mu_claimed": 3.0,
        "mu_lower": 2.7128,
        "epsilon_claimed": 16.7,
        "epsilon_lower": 3.1,
        "delta": 1e-5,
        "confidence": 0.999,
        "runs": 1000,
        "scores": SCORES,
    }
    return AuditResult(**{**given, **changes})


def test_a_claim_about_mu_is_judged_by_mu() -> None:
    assert not result(epsilon_lower=20.0).refuted
    assert not result(mu_lower=3.0).refuted
    assert result(mu_lower=3.01).refuted


def test_a_claim_without_mu_is_judged_by_epsilon() -> None:
    assert not result(claim=LAPLACE, mu_lower=4.0, epsilon_claimed=1.0, epsilon_lower=1.0).refuted
    assert result(claim=LAPLACE, mu_lower=0.0, epsilon_claimed=1.0, epsilon_lower=1.1).refuted


def test_the_statement_says_what_was_shown() -> None:
    told = "The claim μ = 3 stands: the attack shows μ ≥ 2.712 at confidence 0.999. That it stands is no proof."
    assert result().statement == told
    assert str(result()) == f"newton (solver), 1000 runs per world. {told}"
    assert (
        result(mu_lower=3.5).statement == "The claim μ = 3 is refuted: the attack shows μ ≥ 3.500 at confidence 0.999."
    )
    bare = result(claim=LAPLACE, epsilon_claimed=1.0, epsilon_lower=0.5).statement
    assert bare.startswith("The claim ε = 1 at δ = 1e-05 stands: the attack shows ε ≥ 0.500")


def test_the_document_is_plain() -> None:
    document = result().document()
    assert {"mu_claimed": 3.0, "mu_lower": 2.7128, "epsilon_lower": 3.1}.items() <= document.items()
    assert (document["relation"], document["subject"], document["refuted"]) == ("zero-out", "solver", False)
    assert 13 < document["epsilon_of_mu_lower"] < 16.7
    assert "scores" not in document
    assert "scores" not in repr(result())


def test_an_equivalent_mu_allows_the_same_sum_of_errors() -> None:
    """The Laplace mechanism at ε = 1 has δ(0) = 1 - e^(-1/2)."""
    variation = 1 - np.exp(-0.5)
    mu = equivalent_mu(LAPLACE)
    assert 2 * stats.norm.cdf(mu / 2) - 1 == pytest.approx(variation, rel=1e-3)
    assert 2 * stats.norm.cdf(mu / 2) - 1 >= variation * (1 - 1e-12)
    assert equivalent_mu(Composition(Fraction(4))) == pytest.approx(2.0)


def test_figures_are_rounded_down() -> None:
    assert floored(2.7999) == "2.799"
    assert floored(0.0) == "0.000"
