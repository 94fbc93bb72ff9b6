"""`python -m benchmarks attacks`: one-run audits, poison, ideal and real two-world audits, membership in a study."""

from __future__ import annotations

import statistics

import numpy as np

from benchmarks.record import Figure, write
from tacit import audit
from tacit.audit.bounds import Scores, best_cut, mu_lower
from tacit.audit.one_run_curve import one_run_mu

EPSILON, CANARIES, ONE_RUNS = 8.0, 5000, 10
IDEAL, CONFIDENCE, RUNS, MU = 10_000, 0.99, 1000, 3.0
REAL = 20
POISONS = (1, 2, 4)


def ideal_two_worlds(rng: np.random.Generator) -> int:
    """How many of so many audits of a Gaussian pair show more than its μ."""
    above = 0
    for _ in range(IDEAL):
        pilot, counted = (Scores(rng.normal(size=runs), rng.normal(MU, size=runs)) for runs in (RUNS // 10, RUNS))
        above += mu_lower(counted, best_cut(pilot), 1 - CONFIDENCE) > MU
    return above


def ideal_one_runs(rng: np.random.Generator, canaries: int = 1000, guesses: int = 80, mu: float = 1.5) -> int:
    """How many of so many one-run audits of independent Gaussian answers show more than their μ."""
    shown: dict[int, float] = {}
    above = 0
    for _ in range(IDEAL):
        coins = rng.random(canaries) < 0.5
        scores = coins * mu + rng.normal(size=canaries) - mu / 2
        surest = np.argsort(-np.abs(scores))[:guesses]
        right = int(np.sum((scores[surest] > 0) == coins[surest]))
        if right not in shown:
            shown[right] = one_run_mu(canaries, guesses, right, confidence=CONFIDENCE)
        above += shown[right] > mu
    return above


def run() -> None:
    """Attack, and write what was shown."""
    rng = np.random.default_rng(0)
    found = [audit.run_canaries(epsilon=EPSILON, canaries=CANARIES) for _ in range(ONE_RUNS)]
    shares = [it.epsilon_lower / it.epsilon_claimed for it in found]
    stated = IDEAL * (1 - CONFIDENCE)
    two, one = ideal_two_worlds(rng), ideal_one_runs(rng)
    real = [audit.run("LogisticRegression", mu=MU, runs=RUNS).mu_lower / MU for _ in range(REAL)]
    poisoned = {k: audit.run_poisoning(epsilon=EPSILON, poisons=k, runs=RUNS) for k in POISONS}
    exact, private = audit.attack_means(seed=1), audit.attack_means(mu=1.0, seed=1)
    figures = [
        Figure(
            f"least ε of {ONE_RUNS} one-run audits over ε = {EPSILON:g}", min(shares), "", "≥ 0.5", min(shares) >= 0.5
        ),
        Figure(f"largest ε of {ONE_RUNS} one-run audits over ε", max(shares), "", "≤ 1", max(shares) <= 1.0),
        Figure(f"ideal two-world audits above μ, of {IDEAL}", two, "", f"≤ {stated:g}", two <= stated),
        Figure(f"ideal one-run audits above μ, of {IDEAL}", one, "", f"≤ {stated:g}", one <= stated),
        Figure(f"least μ of {REAL} audits over μ = {MU:g}", min(real), "", "≥ 0.8", min(real) >= 0.8),
        Figure(f"largest μ of {REAL} audits over μ = {MU:g}", max(real), "", "≤ 1", max(real) <= 1.0),
        Figure("AUC of membership, exact means", exact.auc, "", "≥ 0.99", exact.auc >= 0.99),
        Figure("AUC of membership, μ = 1", private.auc, "", f"≤ {private.largest_auc:.3f}", private.within_bound),
    ]
    details = {
        "one-run audits": [it.document() for it in found],
        "median share of ε": statistics.median(shares),
        "real audits": real,
        "poisoning": [it.document() for it in poisoned.values()],
        "members": exact.members,
        "sites": exact.sites,
    }
    write("attacks", figures, details)
