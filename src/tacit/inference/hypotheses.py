"""A test that several combinations of coefficients have given values at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.errors import SettingError
from tacit.inference.covariance import Covariance, Vector
from tacit.inference.estimates import tail_probability
from tacit.inference.linear_combinations import Combinations


@dataclass(frozen=True)
class WaldTest:
    """Wald's statistic, its law and what follows.

    `statistic` is F with (`df_num`, `df_denom`) degrees of freedom, or χ² with `df_num` where
    nothing is private and `df_denom` is infinite. `statement` says what may be said of its level.
    """

    statistic: float
    df_num: int
    df_denom: float
    pvalue: float
    statement: str
    labels: tuple[str, ...]

    @property
    def distribution(self) -> str:
        """Law of the statistic where the hypothesis holds: "F" or "chi2"."""
        return "chi2" if np.isinf(self.df_denom) else "F"

    def __str__(self) -> str:
        """Read the test aloud."""
        law = f"chi2({self.df_num})"
        if self.distribution == "F":
            law = f"F({self.df_num}, {self.df_denom:.1f})"
        hypothesis = ", ".join(self.labels)
        return f"Wald test of {hypothesis}: {law} = {self.statistic:.4g}, p = {self.pvalue:.4g}"


def wald_test(
    covariance: Covariance, estimates: Vector, asked: Combinations, statements: tuple[str, ...]
) -> WaldTest:
    """Test all combinations at once: W = r'V⁻¹r, r the estimates less the values.

    The denominator's degrees of freedom are the fewest among the combinations and the axes of
    their covariance: the noise in the least certain direction decides.
    """
    weights = asked.weights
    if np.linalg.matrix_rank(weights) < len(weights):
        raise SettingError("Some of the combinations follow from the others; leave them out.")
    joint = covariance.joint(weights)
    scale = np.sqrt(np.maximum(np.diagonal(joint), np.finfo(float).tiny))
    values, axes = np.linalg.eigh(joint / np.outer(scale, scale))
    # Of a singular design a direction may have no variance: it counts as one with hardly any.
    values = np.maximum(values, 1e-12)
    distances = axes.T @ ((weights @ estimates - asked.values) / scale)
    statistic = float(np.sum(distances**2 / values))
    directions = np.vstack([weights, (axes / scale[:, None]).T @ weights])
    degrees = float(covariance.scatter(directions).degrees.min())
    count = len(weights)
    return WaldTest(
        statistic=statistic if np.isinf(degrees) else statistic / count,
        df_num=count,
        df_denom=degrees,
        pvalue=tail_probability(statistic, count, degrees),
        statement=_weakest(statements),
        labels=asked.labels,
    )


def _weakest(statements: tuple[str, ...]) -> str:
    for statement in ("approximate", "conservative"):
        if statement in statements:
            return statement
    return "nominal"
