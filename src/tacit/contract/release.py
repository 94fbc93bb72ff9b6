"""The release: what left the wall. Everything from here on is post-processing."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap
from tacit.contract.path import Path
from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.released_statistic import ReleasedStatistic
from tacit.contract.sensitivity import event_of
from tacit.display import Displayed
from tacit.documents.dataclass_json import stored_as
from tacit.errors import SettingError


@dataclass(frozen=True)
class Sandwich:
    """What intervals are made of, in working coordinates and on the scale of means.

    `curvature` is M (eigenvalues lifted to twice its noise where `lifted`) and `score` is Q. `capped` says that the
    last step was too long and was cut. `to_user` takes working coefficients to the user's. The three noises are
    standard deviations: on the gradient of the last step, on the diagonals of M and of Q. `level` is the smaller share
    of two classes or the mean count, `dispersion` the α of counts, and `nuisance_error` what its noise does to each
    coefficient. `privacy` is the covariance that the noise of all steps gives the working coefficients; None for one
    step from a pilot, where it is step_noise² M⁻².
    """

    curvature: NDArray[np.float64]
    score: NDArray[np.float64]
    to_user: NDArray[np.float64]
    lifted: bool
    capped: bool
    step_noise: float
    curvature_noise: float
    score_noise: float
    far: bool = False
    """Whether what the last step leaves out may be as large as the standard errors."""
    rare: bool = False
    """Whether a column showed one value but for a few records, which alone tell its slope."""
    level: float = 1.0
    dispersion: float = 0.0
    nuisance_error: NDArray[np.float64] | float = field(default=0.0, metadata=stored_as("wobble"))
    privacy: NDArray[np.float64] | None = None
    step: NDArray[np.float64] | None = None
    """The last step, where directions of M below `visible` are hidden; None for other solvers."""
    visible: float = 0.0
    bias: float = 0.0
    """Bound on what clipping does to the mean gradient in any direction."""
    pilot_error: float = 0.0
    """Squared length of the step that is the pilot's error, not the step's noise."""
    hidden_size: float = 0.0
    """How far the truth may lie from the pilot in a hidden direction."""
    flat: bool = False
    """Whether the response showed hardly any spread."""
    asymmetry: float = 0.0
    """How skewed the score is: 0 for least squares, 1 for counts."""
    level_noise: float = 0.0
    """Standard deviation of the noise of `level`, where it is the share of a label."""
    weight_ratio: float = 1.0
    """Q over M where errors have the model's variance 1: below 1 as weights enter Q squared."""


@dataclass(frozen=True, repr=False)
class Release(Displayed):
    """Prepared coefficients (intercept last) and their plan; `reproducible`: noise of a chosen seed protects nobody."""

    plan: Plan
    theta: NDArray[np.float64]
    reproducible: bool = False
    sandwich: Sandwich | None = None
    moments: NDArray[np.float64] | None = None
    """Mean second moments of prepared rows (intercept last), where a mean was asked for."""
    decrements: tuple[float, ...] = ()
    """√(g'P g) of each round of a preconditioned solver, from released values: how far it had to go; at last noise."""
    iterates: NDArray[np.float64] | None = None
    """Prepared coefficients after each of the plan's last answers, where the solver keeps them."""
    channel_map: ChannelMap | None = None
    """Where rows were mapped by released means and whitenings: that map."""
    statistics: tuple[ReleasedStatistic, ...] = ()
    """Of the finished fit, where they were paid for."""

    def __post_init__(self) -> None:
        """Make the released arrays read-only: the certificate is issued for them later."""
        for array in (self.theta, self.moments, self.iterates):
            if array is not None:
                array.setflags(write=False)

    def __str__(self) -> str:
        """How many numbers were released, by what, and at what price."""
        price = self.plan.guarantee() if self.private else "not private"
        return f"Release of {self.theta.size:,} coefficients by {self.plan.solver.name}: {price}"

    @property
    def private(self) -> bool:
        """Whether the guarantee holds: noise was added, and from the operating system."""
        return self.plan.private and not self.reproducible

    def coefficients(self) -> NDArray[np.float64]:
        """Coefficients on the user's scale, the intercept first; one column a class if several."""
        design = self.plan.design
        if self.channel_map is not None:
            # Of mapped rows, which have no other scale.
            return np.array(self.theta)
        mapped = design.user_coefficients(self.theta)
        mapped = mapped + (design.shift() if mapped.ndim == 1 else 0.0)
        region = self.plan.penalty.constraint
        if region is not None:
            # Rounding on the way back may have left the region by a last bit.
            first = int(design.reports_intercept)
            slopes = mapped[first:]
            held = [region.nearest(column) for column in np.atleast_2d(slopes.T)]
            mapped[first:] = np.asarray(held).T.reshape(slopes.shape)
        return np.asarray(mapped)

    @property
    def path(self) -> Path:
        """The released iterates of a descent, and what was spent up to each of them."""
        if self.iterates is None:
            raise SettingError(f'{self.plan.solver.name} keeps no path; solver="gradient" does, if it is short enough.')
        if self.plan.whole is not None:
            raise SettingError(f"A part of a {self.plan.whole.name} has no price of its own, and so no path of prices.")
        plan, design = self.plan, self.plan.design
        steps = [step for step in plan.steps if step.purpose is not Purpose.DEVIANCE]
        shift = design.shift() if self.iterates.ndim == 2 else 0.0
        mapped = [(np.asarray(design.user_coefficients(theta) + shift)).T.ravel() for theta in self.iterates]
        mu = np.full(len(mapped), math.inf)
        if plan.private:
            costs = [
                event_of(it.kind, it.price, plan.relation, it.size).mu_squared for it in steps if it.price is not None
            ]
            spent = np.cumsum([cost for it, cost in zip(steps, costs, strict=True) for cost in [cost] * it.times])
            mu = np.array([math.sqrt(square) for square in spent[-len(mapped) :]])
        return Path(design.terms, np.array(mapped), mu, plan.budget.delta)

    def estimates(self) -> list[list[Any]]:
        """Name and coefficient of each term, class after class, without intervals."""
        named = zip(self.plan.design.terms, self.coefficients().T.ravel().tolist(), strict=True)
        return [[name, number, None, None, None] for name, number in named]
