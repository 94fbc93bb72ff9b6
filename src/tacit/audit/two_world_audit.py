"""Run an attack many times in each of its two worlds, and bound what it shows."""

from __future__ import annotations

from tacit.accounting.rounding import float_up
from tacit.audit.attack import DELTA, Attack, scores_of
from tacit.audit.bounds import best_cut, epsilon_lower, mu_lower
from tacit.audit.registry import find
from tacit.audit.result import AuditResult, equivalent_mu
from tacit.contract.query import Progress
from tacit.ledger.with_blocks import uncharged
from tacit.validate import between, positive, whole, within

FEWEST_RUNS = 100
"""With fewer, no bound is far from 0."""
PILOT_SHARE = 10
"""There is one pilot run for so many counted ones; pilot runs choose thresholds and are not counted."""
CONFIDENCE = 0.999


def run(
    name: str | Attack,
    *,
    mu: float,
    runs: int = 1000,
    confidence: float = CONFIDENCE,
    delta: float = DELTA,
    seed: int | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """Attack an estimator, a solver or a mechanism, and bound its μ and ε from below.

    Tables are simulated; no record of anybody is read, and no budget is spent.

    Guarantee: `mu_lower` exceeds the true μ with probability at most 1 - confidence, and so does `epsilon_lower` the
    true ε at δ, whatever the mechanism is.

    Parameters
    ----------
    name
        What is audited: a name of `tacit.audit.names()`, or an `Attack` of one's own.
    mu
        The claim. What has no μ is given the ε that μ-GDP has at δ = 1e-5; what is pure, this number as its ε.
    runs
        Counted runs in each of the two worlds, at least 100. A tenth as many pilot runs come first.
    confidence
        Of either bound, at least 0.8.
    delta
        δ at which ε is stated; 0 for a claim that is pure.
    seed
        Makes the noise reproducible. Without it the noise is the operating system's, as in a private fit.
    progress
        Called with (done, total, label).

    Examples
    --------
    >>> found = run("GradientSum", mu=1.0, runs=500, seed=1)
    >>> found.refuted, 0.6 < found.mu_lower < 1.0
    (False, True)
    """
    mu, runs = positive("mu", mu), whole("runs", runs, FEWEST_RUNS)
    confidence, delta = within("confidence", confidence, 0.8, 1 - 1e-12), between("delta", delta, 0.0, 1.0)
    if seed is not None:
        seed = whole("seed", seed, 0)
    pilots = max(runs // PILOT_SHARE, FEWEST_RUNS // 2)
    attack = name if isinstance(name, Attack) else find(name)
    with uncharged("simulated records of an audit"):
        worlds = attack.worlds(mu, seed)
        pilot, scores = scores_of(worlds, attack.name, runs + pilots, progress).split(pilots)
    alpha = 1.0 - confidence
    threshold = best_cut(pilot) if worlds.threshold is None else worlds.threshold
    gaussian, pure = worlds.claim.mu is not None, worlds.claim.pure_epsilon
    delta = 0.0 if pure is not None else delta
    return AuditResult(
        attack.name,
        attack.subject,
        worlds.claim,
        worlds.relation,
        mu if gaussian else equivalent_mu(worlds.claim),
        mu_lower(scores, threshold, alpha),
        worlds.claim.epsilon(delta) if pure is None else float_up(pure),
        epsilon_lower(pilot, scores, delta, alpha),
        delta,
        confidence,
        runs,
        seed,
        scores=scores,
    )
