"""Confidence intervals from a release's sandwich, sampling and privacy noise together.

With u_j = M⁻¹A_j' for the j-th row A_j of the map to the user's scale,

    V_j = σ²‖u_j‖² + max(u_j'Q u_j, ½ s_Q‖u_j‖²) / (n - d)

and the interval is coef_j ± t √V_j with the degrees of freedom that the noise in Q leaves
(and the noise in M, where it is not small). Assumptions and measured coverage: docs/inference.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.errors import SettingError
from tacit.problem.release import Release, Sandwich

ENOUGH_EVIDENCE = 100.0
"""n·μ/d from which coverage was measured to be nominal."""
SMALL_NOISE, LARGE_NOISE = 0.5, 1.0
"""Relative noise of the curvature: beyond the first it is propagated, beyond the second said."""


@dataclass(frozen=True)
class Intervals:
    """Estimates with their standard errors and interval ends, the intercept first."""

    names: tuple[str, ...]
    coefficients: NDArray[np.float64]
    std_errors: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    privacy_share: NDArray[np.float64]
    statement: str


def intervals(release: Release, level: float = 0.95) -> Intervals:
    """Intervals of all coefficients at a level; free, since everything in them was paid for.

    Guarantee
    ---------
    - Nothing but the release enters: no record, no further charge.
    - They are called nominal only where n·μ ≥ 100 d, the noise of the curvature is small and no
      eigenvalue had to be lifted nor the step cut; otherwise approximate.
    """
    if release.sandwich is None:
        raise SettingError("This fit did not pay for intervals; fit with inference=True.")
    if not 0.0 < level < 1.0:
        raise SettingError(f"level must lie between 0 and 1; got {level!r}.")
    sandwich, plan = release.sandwich, release.plan
    width = plan.design.width
    spare = max(plan.records - width, 1) if plan.private else plan.records
    U = np.asarray(np.linalg.lstsq(sandwich.curvature, sandwich.to_user.T, rcond=1e-13)[0], float)
    lengths = np.einsum("ij,ij->j", U, U)
    sampling = np.einsum("ij,ik,kj->j", U, sandwich.score, U)
    sampling = np.maximum(sampling, sandwich.score_noise * lengths / 2) / spare
    privacy = sandwich.step_noise**2 * lengths + np.square(sandwich.wobble)
    variance = sampling + privacy
    noise = relative_noise(sandwich)
    if plan.private:
        inverse = (sandwich.score_noise * lengths) ** 2 / (2 * (variance * spare) ** 2) + 1 / spare
        if noise > SMALL_NOISE:
            inverse = inverse + _curvature_part(sandwich, U, lengths, spare) / variance**2
        quantile = special.stdtrit(1 / inverse, (1 + level) / 2)
    else:
        quantile = np.full(width, special.ndtri((1 + level) / 2))
    errors = np.sqrt(variance)
    estimates = release.coefficients()
    return Intervals(
        names=plan.design.names,
        coefficients=estimates,
        std_errors=errors,
        lower=estimates - quantile * errors,
        upper=estimates + quantile * errors,
        privacy_share=privacy / variance,
        statement=_statement(release, noise),
    )


def term_rows(release: Release) -> list[list[Any]]:
    """Return name, coefficient, standard error and 95% interval of each term; None if not paid."""
    if release.sandwich is None:
        return release.estimates()
    found = intervals(release)
    columns = (found.coefficients, found.std_errors, found.lower, found.upper)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return [[name, *row] for name, row in zip(found.names, numbers, strict=True)]


def relative_noise(sandwich: Sandwich) -> float:
    """√(2d)·s_M over the smallest eigenvalue of M: how much of the curvature is noise."""
    smallest = float(np.linalg.eigvalsh(sandwich.curvature).min())
    edge = math.sqrt(2 * len(sandwich.curvature)) * sandwich.curvature_noise
    if edge == 0.0:
        return 0.0
    return edge / smallest if smallest > 0 else math.inf


def _curvature_part(
    sandwich: Sandwich, U: NDArray[np.float64], lengths: NDArray[np.float64], spare: int
) -> NDArray[np.float64]:
    middle = sandwich.score / spare + sandwich.step_noise**2 * np.eye(len(U))
    B = np.linalg.lstsq(sandwich.curvature, middle @ U, rcond=1e-13)[0]
    products = np.einsum("ij,ij->j", U, B)
    squares = np.einsum("ij,ij->j", B, B)
    return np.asarray(sandwich.curvature_noise**2 * (lengths * squares + products**2))


def _statement(release: Release, noise: float) -> str:
    plan, sandwich = release.plan, release.sandwich
    mu = plan.guarantee().mu
    if mu is None or sandwich is None:
        return "nominal"
    enough = plan.records * mu >= ENOUGH_EVIDENCE * plan.design.width
    nominal = enough and noise <= LARGE_NOISE and not (sandwich.lifted or sandwich.capped)
    return "nominal" if nominal else "approximate"
