"""Joint confidence regions of coefficients: the values that a joint Wald test does not reject."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.display import Displayed
from tacit.errors import SettingError
from tacit.inference.covariance import Covariance
from tacit.inference.estimates import joint_quantile
from tacit.inference.hypotheses import Combinations, JointLaw, joint_law, joint_statement, require_joint
from tacit.inference.step_covariance import StepCovariance
from tacit.solvers.coordinates import Matrix, Vector
from tacit.validate import between


@dataclass(frozen=True, repr=False)
class ConfidenceRegion(Displayed):
    """The ellipsoid (b - center)' matrix⁻¹ (b - center) ≤ radius².

    Guarantee
    ---------
    - It holds exactly the values that `wald_test` of the same combinations does not reject at
      1 - level, so it covers all of them at once where `statement` is nominal.
    """

    labels: tuple[str, ...]
    center: Vector
    matrix: Matrix
    radius: float
    level: float
    statement: str

    def contains(self, point: Any) -> bool:
        """Whether values of all combinations, in the order of `labels`, lie in the region."""
        try:
            asked = np.asarray(point, dtype=np.float64)
        except (TypeError, ValueError):
            asked = np.empty(0)
        if asked.shape != self.center.shape or not np.isfinite(asked).all():
            raise SettingError(f"Expected {len(self.labels)} numbers: {', '.join(self.labels)}.")
        away = JointLaw(self.matrix, math.inf).distance(self.center - asked)
        return away <= self.radius**2 * (1 + 1e-12)

    @property
    def intervals(self) -> Matrix:
        """The box around the region, columns lower and upper: all hold at once."""
        half = self.radius * np.sqrt(np.diagonal(self.matrix))
        return np.column_stack([self.center - half, self.center + half])

    def boundary(self, points: int = 200) -> Matrix:
        """Points of the ellipse around a region of two combinations, in order: one a row."""
        if len(self.labels) != 2:
            raise SettingError("A boundary is drawn for two combinations.")
        angles = np.linspace(0.0, 2 * math.pi, points)
        values, axes = np.linalg.eigh(self.matrix)
        root = axes * np.sqrt(np.maximum(values, 0.0))
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        return np.asarray(self.center + self.radius * circle @ root.T)

    def __str__(self) -> str:
        """The centre and the box around the region."""
        lines = [f"{self.level:.4g} confidence region, {self.statement}:"]
        for label, middle, (low, high) in zip(self.labels, self.center.tolist(), self.intervals.tolist(), strict=True):
            lines.append(f"  {label}: {middle:.5g}, within [{low:.5g}, {high:.5g}]")
        return "\n".join(lines)


def confidence_region(
    covariance: Covariance | StepCovariance,
    estimates: Vector,
    asked: Combinations,
    statements: Sequence[str],
    why: str,
    level: float,
) -> ConfidenceRegion:
    """Region of combinations, by the law that their Wald test has."""
    between("level", level, 0, 1)
    if asked.values.any():
        raise SettingError('A region has no hypothesis: ask for "x1", not for "x1 = 1".')
    require_joint(asked, tuple(statements), why)
    weights, count = asked.weights, len(asked.weights)
    law = joint_law(covariance, weights)
    square = joint_quantile(level, count, law.degrees)
    if isinstance(covariance, StepCovariance) and count > 1:
        square = covariance.simulated_quantile(weights, level, square)
    return ConfidenceRegion(
        asked.labels,
        weights @ estimates,
        law.covariance,
        math.sqrt(square),
        level,
        joint_statement(covariance, weights, statements),
    )
