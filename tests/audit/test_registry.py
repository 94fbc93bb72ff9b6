"""Every estimator, solver and query has an attack, and every attack works at more than one budget."""

import numpy as np
import pytest

import tacit
from tacit.audit.attack import Subject
from tacit.audit.deep_points import DEEP_FIT
from tacit.audit.registry import ATTACKS, ESTIMATORS, REPLAYED, SOLVER_FITS, find
from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import KIND_OF, QueryKind
from tacit.errors import SettingError
from tacit.estimators.base import Model
from tacit.mechanisms.query_responder import MECHANISMS
from tacit.solvers.choice import PURE_SOLVERS, SOLVERS

RARE = 1e-6


def named(subject: Subject) -> set[str]:
    return {name for name, attack in ATTACKS.items() if attack.subject is subject}


def test_every_estimator_has_an_attack() -> None:
    public = {name for name in dir(tacit) if isinstance(it := getattr(tacit, name), type) and issubclass(it, Model)}
    assert len(public) >= 8
    assert public <= named(Subject.ESTIMATOR)


def test_every_solver_that_a_user_can_name_has_an_attack() -> None:
    assert set(SOLVERS) <= named(Subject.SOLVER)
    assert {f"{name}:pure" for name in PURE_SOLVERS} <= named(Subject.SOLVER)


def test_every_query_and_every_kind_has_an_attack() -> None:
    mechanisms = {*MECHANISMS, NetworkGradient}
    assert {query.__name__ for query in mechanisms} <= named(Subject.MECHANISM)
    audited = {KIND_OF[query] for query in mechanisms if query.__name__ in ATTACKS}
    assert audited == set(QueryKind)


def test_no_two_attacks_share_a_name() -> None:
    names = [fit.name for fit in (*ESTIMATORS, *SOLVER_FITS, DEEP_FIT)]
    assert len(set(names)) == len(names)
    assert set(REPLAYED) == set(names) <= set(ATTACKS)


LOSSES = (":hinge", ":softmax", ":linear", ":huber", ":quantile")
"""Perturbed minima of further losses are replayed alone here (`test_transcript_replay.py`): an audit takes long."""


@pytest.mark.parametrize("name", [name for name in ATTACKS if not any(loss in name for loss in LOSSES)])
def test_no_true_guarantee_is_refuted(name: str) -> None:
    """100 runs a world of a fit, 1000 of an answer; with the system's noise the false-alarm rate is 1e-6 each."""
    slow = "Minimum" in name or "Batch" in name
    runs = 1000 if ATTACKS[name].subject is Subject.MECHANISM and not slow else 100
    found = tacit.audit.run(name, mu=2.0, runs=runs, confidence=1 - RARE)
    assert not found.refuted
    assert found.mu_lower <= found.mu_claimed
    assert np.isfinite(found.scores.first).all()


TIGHT = {
    *(
        name
        for name in named(Subject.MECHANISM)
        if not any(
            it in name
            for it in ("PerturbedMinimum", ":pure", "Batch", "Choice", "BlockMedian", "BlockDepth", "ReusableHoldout")
        )
    ),
    *(named(Subject.ESTIMATOR) - {"HypothesisClassifier", "TukeyRegressor"}),
    *("auto", "gradient", "whitened-gradient", "several-classes", "staged-gradient"),
    *("intercept-only", "mean", "whitened-mean", "covariance", "adassp", "statistical-queries", "evaluation"),
}


@pytest.mark.parametrize("name", sorted(TIGHT))
def test_attacks_that_reach_the_sensitivity_show_most_of_mu(name: str) -> None:
    """Seeded, 300 runs a world: 0.6 of μ = 2 at 99.9%."""
    assert tacit.audit.run(name, mu=2.0, runs=300, seed=3).mu_lower > 1.2


@pytest.mark.parametrize(
    "name", ["GradientSum:pure", "NoisyMinimum:pure", "mean:pure", "CandidateChoice", "HypothesisClassifier"]
)
def test_a_pure_claim_is_an_epsilon_at_delta_0(name: str) -> None:
    """Seeded, 1000 runs a world at 99.9%: a third of ε = 2 is shown."""
    found = tacit.audit.run(name, mu=2.0, runs=1000, seed=3)
    assert found.delta == 0.0
    assert found.epsilon_of_mu_lower is None
    assert 0.6 < found.epsilon_lower < found.epsilon_claimed <= 2.0
    assert "ε = 2 at δ = 0 stands" in found.statement


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        SettingError, match=r"'Newton' .*Did you mean 'newton'\?.*LogisticRegression, .*DampedDirection"
    ):
        find("Newton")
    with pytest.raises(SettingError, match=r"nothing called '' can be audited\. There are"):
        find("")
    with pytest.raises(SettingError, match="nothing called 'GradientSum'"):
        find("GradientSum", REPLAYED)
