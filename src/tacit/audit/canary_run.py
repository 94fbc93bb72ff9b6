"""A one-run audit of the stochastic solver: thousands of canaries, each with a gradient of its own direction.

Canary i is the i-th unit vector, in the table by a fair coin and blank else. Its clipped gradient is the clip in
coordinate i and 0 elsewhere, whatever the batch holds besides. The auditor sees every noised answer (white box). The
score of a canary is the log-likelihood ratio of its coordinate over all steps,

    Σ_t log(1 - q + q·exp(μ z_t - μ²/2)),     z_t: the coordinate over the noise, μ: the clip over the noise.

The largest ratios, either way, are guessed, as many as was said before. The table is simulated.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tacit.accounting.composition import Composition, compose
from tacit.audit.attack import DELTA
from tacit.audit.bounds import Floats
from tacit.audit.one_run import one_run_epsilon
from tacit.audit.one_run_curve import one_run_refutes
from tacit.contract.batches import BatchPrice
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, Gate, Progress, Query
from tacit.engine.gate import PlannedGate
from tacit.errors import SettingError
from tacit.estimators.classifiers import LogisticRegression
from tacit.ledger.with_blocks import uncharged
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.event import Gaussian, PoissonSampled, Repeated
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.validate import positive, whole, within

CLIP = 0.25
"""Half of a canary's gradient at 0: it stays clipped as coefficients move."""
STEP_SIZE = 1e-3
"""So short that they hardly move."""
GUESSED = 12
"""One canary in so many is guessed: fewer are surer, more are counted."""
FEWEST = 100
POINTS = 80
"""Pairs (ε, δ) of which a trade-off curve is made."""
SMALLEST_DELTA = 1e-7
MOST_NOISE, HALVINGS = 64.0, 12
"""The noise of a claim that is tried, over that of the plan; and steps of the search for it."""


@dataclass(frozen=True)
class CanaryResult:
    """What one run showed of a claim; each lower bound holds with the stated confidence.

    Attributes
    ----------
    epsilon_claimed, epsilon_lower
        The claimed ε at `delta`, and the largest ε at δ that is refuted among the same mechanism with more noise.
    epsilon_lower_any
        A lower bound that needs no curve: of any mechanism.
    refuted
        Whether the trade-off curve of the plan itself is refuted.
    """

    epsilon_claimed: float
    epsilon_lower: float
    epsilon_lower_any: float
    delta: float
    confidence: float
    canaries: int
    guesses: int
    right: int
    refuted: bool
    scores: Floats = field(repr=False)
    coins: NDArray[np.bool_] = field(repr=False)

    def document(self) -> dict[str, Any]:
        """The result as plain data."""
        names = ("epsilon_claimed", "epsilon_lower", "epsilon_lower_any", "delta", "confidence")
        numbers = ("canaries", "guesses", "right", "refuted")
        return {name: getattr(self, name) for name in (*names, *numbers)}


@dataclass(frozen=True)
class Lines:
    """A trade-off curve as the upper end of lines, two for each pair (ε, δ) that holds."""

    epsilons: Floats
    deltas: Floats

    @classmethod
    def of(cls, claim: Composition) -> Lines:
        """The curve of a composition; never above the exact one."""
        epsilons = np.linspace(0.0, claim.epsilon(SMALLEST_DELTA), POINTS)
        return cls(epsilons, claim.delta_curve(epsilons))

    def misses_at(self, false_alarm: float) -> float:
        """The least rate of misses, rounded down."""
        steep = 1.0 - self.deltas - np.exp(self.epsilons) * false_alarm
        flat = np.exp(-self.epsilons) * (1.0 - self.deltas - false_alarm)
        return max(0.0, float(np.maximum(steep, flat).max()) * (1.0 - 1e-9) - 1e-15)


class WhiteBox:
    """A gate that keeps what it answered."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.answers: list[Answer] = []

    def ask(self, query: Query) -> Answer:
        """Answer, and keep it."""
        self.answers.append(self._gate.ask(query))
        return self.answers[-1]


def run_canaries(
    *,
    epsilon: float = 8.0,
    delta: float = DELTA,
    canaries: int = 5000,
    steps: int = 100,
    sample_rate: float = 0.5,
    confidence: float = 0.95,
    seed: int | None = None,
    progress: Progress | None = None,
) -> CanaryResult:
    """Run the stochastic solver once on a table of canaries, and bound its ε from below.

    `seed` makes coins and noise reproducible; without it they are the operating system's.

    Guarantee: `epsilon_lower_any` exceeds the true ε at δ with probability at most 1 - confidence. So does
    `epsilon_lower` for the mechanism of the plan with any noise.

    Examples
    --------
    >>> found = run_canaries(epsilon=4.0, canaries=200, seed=1)
    >>> found.refuted, found.epsilon_lower <= found.epsilon_claimed
    (False, True)
    """
    canaries, delta = whole("canaries", canaries, FEWEST), within("delta", delta, 1e-12, 0.5)
    epsilon, confidence = positive("epsilon", epsilon), within("confidence", confidence, 0.5, 1 - 1e-12)
    rng = np.random.default_rng(seed)
    coins = rng.random(canaries) < 0.5
    model = LogisticRegression(
        epsilon=epsilon,
        delta=delta,
        bounds=(-1.0, 1.0),
        row_norm=1.0,
        fit_intercept=False,
        classes=(0, 1),
        solver="stochastic",
        relation="zero-out",
        clip=CLIP,
        step_size=STEP_SIZE,
        iterations=whole("steps", steps),
        sample_rate=sample_rate,
    )
    with uncharged("simulated records of an audit"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = model.plan(canaries, canaries)
        answers = _answers(plan, coins, None if seed is None else int(rng.integers(2**62)), progress)
    scores = _scores(plan, answers)
    guesses = canaries // GUESSED
    surest = np.argsort(-np.abs(scores))[:guesses]
    right = int(np.sum((scores[surest] > 0.0) == coins[surest]))

    def refutes(noise: float) -> bool:
        return one_run_refutes(Lines.of(claimed(plan, noise)), canaries, guesses, right, confidence=confidence)

    least = _least_noise(refutes)
    return CanaryResult(
        claimed(plan, 1.0).epsilon(delta),
        0.0 if math.isinf(least) else claimed(plan, least).epsilon(delta),
        one_run_epsilon(canaries, guesses, right, delta=delta, confidence=confidence),
        delta,
        confidence,
        canaries,
        guesses,
        right,
        least <= 1.0,
        scores,
        coins,
    )


def claimed(plan: Plan, noise: float) -> Composition:
    """What the plan would cost with so many times its noise."""
    (step,) = plan.steps
    assert isinstance(step.price, BatchPrice)  # noqa: S101 - for the type checker
    square = Fraction(step.price.bound**2, 4**step.price.bits) / Fraction(noise) ** 2
    sampled = PoissonSampled(Gaussian(square, 1), step.price.batches.rate)
    return compose([Repeated(sampled, step.times)], plan.relation)


def _least_noise(refutes: Callable[[float], bool]) -> float:
    """The least noise at which a claim is refuted, rounded up; infinite where none is."""
    if refutes(1.0):
        return 1.0
    if not refutes(MOST_NOISE):
        return math.inf
    low, high = 0.0, math.log(MOST_NOISE)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _answers(plan: Plan, coins: NDArray[np.bool_], seed: int | None, progress: Progress | None) -> list[Answer]:
    """Run the plan once on the canaries whose coin is 1."""
    if not plan.private:
        raise SettingError("A plan without noise cannot be audited.")
    table = sparse.diags_array(coins.astype(np.float64)).tocsr()
    source = open_source(table, np.ones(len(coins), dtype=np.int64), fewest=0)
    with Responder(admit(source, plan.design, invalid_rows="zero"), private=True, seed=seed) as responder:
        gate = WhiteBox(PlannedGate(plan, responder, progress))
        plan.solver.run(gate, plan)
    return gate.answers


def _scores(plan: Plan, answers: list[Answer]) -> Floats:
    """Log-likelihood ratios of the coordinates; a canary moves its own down, by the clip over the rate."""
    (step,) = plan.steps
    assert isinstance(step.price, BatchPrice)  # noqa: S101 - for the type checker
    rate = float(step.price.batches.rate)
    total = np.zeros(plan.design.width)
    for answer in answers:
        mu = CLIP / rate / answer.noise_scale
        total += np.log1p(rate * np.expm1(mu * (-answer.value / answer.noise_scale) - mu**2 / 2))
    return total
