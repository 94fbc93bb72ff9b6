"""Approximate draws from a Gibbs posterior by unadjusted Langevin steps; no ε is stated for them.

    π(θ) ∝ exp(-Σ loss(z·θ, y) - (λ/2)‖θ‖²),   λ = (Δ·L·R / μ)²
    θ ← θ - h·∇U(θ) + √(2h)·ξ,   h = 1 / (2(nβR² + λ)),   ξ standard normal

An exact draw would be μ-GDP: the negative log density is λ-strongly convex, and one record changes its gradient by at
most Δ·L·R (Gopi, Lee, Liu 2022). After finitely many steps the law of θ is near π only, and by how much depends on the
records, so the guarantee of π is not that of θ. Randomness is of a plain generator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientSum, QueryKind
from tacit.display import Displayed
from tacit.errors import SettingError
from tacit.privacy.relation import Relation
from tacit.solvers.coordinates import gradient_bound
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, priced
from tacit.validate import positive, whole

MOST_STEPS = 100_000


@dataclass(frozen=True)
class Langevin(Displayed):
    """A solver for `epsilon=inf`, given in the place of a solver's name. It protects nobody.

    Parameters
    ----------
    mu
        What an exact draw would guarantee.
    certified
        Must be False: nobody certifies the draw.
    steps
        Langevin steps, each a pass over the records.
    random_state
        Seed of the steps.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> X = np.linspace(-1, 1, 4000).reshape(-1, 1)
    >>> draw = tacit.Langevin(mu=1.0, certified=False, random_state=0)
    >>> model = tacit.LogisticRegression(epsilon=float("inf"), bounds=(-1, 1), solver=draw).fit(X, X[:, 0] > 0)
    >>> model.certificate_.private
    False
    """

    mu: float
    certified: bool = True
    steps: int = 1000
    random_state: int | None = None
    name: ClassVar[str] = "langevin"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.certified is not False:
            raise SettingError(
                "A Langevin draw is near the posterior only, and no ε is proven for it: Langevin(mu=…, "
                'certified=False) says so. solver="exponential" draws exactly, for up to 10 coefficients.'
            )
        positive("mu", self.mu)
        whole("steps", self.steps, 1, MOST_STEPS)

    def plan(self, facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
        """Plan the passes; a finite budget is refused, since nothing could be stated for it."""
        del options
        if not facts.budget.is_infinite:
            raise SettingError(
                "No ε can be stated for a Langevin draw. Give epsilon=inf: the certificate then says that the fit is "
                "not private, and a ledger refuses it."
            )
        if not math.isfinite(facts.loss.smoothness) or facts.design.outputs > 1:
            raise SettingError("A Langevin draw needs a loss of bounded curvature and one linear predictor.")
        return assembled(facts, self, (priced(facts, QueryKind.GRADIENT, allowed, self.steps, Purpose.DESCENT),))

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Walk from zero, and return where the walk ends."""
        generator = np.random.default_rng(self.random_state)
        bound = gradient_bound(plan)
        factor = 2 if plan.relation is Relation.REPLACE_ONE else 1
        ridge = (factor * bound / self.mu) ** 2
        length = 0.5 / (plan.count * plan.loss.smoothness * plan.design.row_norm**2 + ridge)
        theta = np.zeros(plan.design.width)
        for _ in range(self.steps):
            slope = gate.ask(GradientSum(theta, bound, loss=plan.loss)).value + ridge * theta
            theta = theta - length * slope + math.sqrt(2 * length) * generator.standard_normal(len(theta))
        return Solution(theta)
