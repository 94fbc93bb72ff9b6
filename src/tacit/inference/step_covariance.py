"""Variance of linear combinations after one Newton step, in whose curvature directions may hide.

M = V Λ V' is the noised curvature; directions with λ below the visible limit l are hidden, V₋. A
combination a of working coefficients is the combination u = V₊Λ₊⁻¹V₊'a + V₋V₋'a / l of the score.
Q is the score's second moment; s_M, s_Q and σ are the noises of M, Q and the gradient; δ² is the
squared error of the pilot, δ_v how far the truth may lie from it in one of k₋ hidden directions.

    V₀ = max(u'Qu, ½ s_Q‖u‖²) / (n - d) + σ²‖u‖² + ½ s_M²(‖u‖²(δ² + k₋δ_v²) + (u·step)²)
    V  = V₀ + B²‖u‖² + ‖V₋'a‖² δ_v² + what second-order terms may add,   half width t_ν √V

The third term is what the noise of M lets through of the pilot's error, B is the bias bound of the
clip. Each share of V that is not V₀'s decides what may be said of the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan
from tacit.contract.release import Sandwich
from tacit.inference.covariance import Scatter, correlation_axes
from tacit.inference.kept_release import KeptPlan
from tacit.solvers.coordinates import Matrix, Vector
from tacit.solvers.interval_rules import RELIABILITY
from tacit.solvers.public_draws import PublicSequence
from tacit.solvers.spectrum import noise_norm

TINY = float(np.finfo(float).tiny)
LARGEST_STACK = 2**20
"""Entries of the matrices that are drawn at once."""


@dataclass(frozen=True)
class Errors:
    """What may be wrong with intervals, over their standard errors: one number a combination.

    `hidden` is what hidden directions may hold, `bias` what the clip cut off, `curvature` the part
    of the curvature's noise. `faint` says that the curvature along a combination is near its noise while others are far
    above, as for a level without a case. `second_order` and `far`, of the whole fit, say how long the step was.
    """

    hidden: Vector
    bias: Vector
    curvature: Vector
    faint: NDArray[np.bool_]
    second_order: float
    far: float


@dataclass(frozen=True)
class StepCovariance:
    """Variances, errors and joint laws of combinations of the coefficients."""

    sandwich: Sandwich
    plan: Plan | KeptPlan

    @property
    def spare(self) -> float:
        """N - d."""
        return float(max(self.plan.records - self.plan.design.identified, 1))

    @cached_property
    def _spectrum(self) -> tuple[Vector, Matrix, Matrix, Matrix]:
        """Visible eigenvalues, visible and hidden eigenvectors, columns u of all coefficients."""
        values, vectors = np.linalg.eigh(self.sandwich.curvature)
        seen = values >= self.sandwich.visible
        along = vectors.T @ self.sandwich.to_user.T
        divided = along / np.where(seen, values, max(self.sandwich.visible, TINY))[:, None]
        return values[seen], vectors[:, seen], vectors[:, ~seen], vectors @ divided

    @property
    def any_visible(self) -> bool:
        """Whether any direction stands out of the noise."""
        return len(self._spectrum[0]) > 0

    def _parts(self, combinations: Matrix) -> tuple[Matrix, Vector, Vector, Vector, Vector, Vector]:
        """Columns u, their squares, and the variances by source: sampling, noise, M's, hidden."""
        sandwich = self.sandwich
        _, _, hidden, columns = self._spectrum
        U = columns @ combinations.T
        lengths = np.einsum("ij,ij->j", U, U)
        sampling = np.einsum("ij,ik,kj->j", U, sandwich.score, U)
        sampling = np.maximum(sampling, sandwich.score_noise * lengths / 2) / self.spare
        error = sandwich.pilot_error + hidden.shape[1] * sandwich.hidden_size**2
        through = lengths * error + np.square(sandwich.step @ U)  # type: ignore[operator]
        curved = sandwich.curvature_noise**2 / 2 * through
        along = hidden.T @ (sandwich.to_user.T @ combinations.T)
        unseen = np.einsum("ij,ij->j", along, along) * sandwich.hidden_size**2
        return U, lengths, sampling, sandwich.step_noise**2 * lengths, curved, unseen

    @cached_property
    def _far(self) -> tuple[float, float]:
        """Second-order bias over a typical standard error, and how far the pilot was off."""
        sandwich, (values, _, _, _) = self.sandwich, self._spectrum
        if sandwich.asymmetry == 0.0:
            return 0.0, 0.0
        if not len(values):
            return math.inf, math.inf
        everyone = np.eye(sandwich.to_user.shape[0])
        _, lengths, sampling, noise, _, _ = self._parts(everyone)
        typical = np.median((sampling + noise) / np.maximum(lengths, TINY)) * np.mean(1 / values**2)
        bias = sandwich.asymmetry / 2 * sandwich.pilot_error / math.sqrt(max(float(typical), TINY))
        return bias, math.sqrt(sandwich.pilot_error)

    def errors(self, combinations: Matrix) -> Errors:
        """What may be wrong, over standard errors."""
        _, lengths, sampling, noise, curved, unseen = self._parts(combinations)
        own = np.maximum(sampling + noise, TINY)
        bias = self.sandwich.bias * np.sqrt(lengths / (own + curved))
        hidden, noisy = np.sqrt(unseen / (own + curved)), np.sqrt(curved / own)
        return Errors(hidden, bias, noisy, self._faint(combinations), *self._far)

    def _faint(self, combinations: Matrix) -> NDArray[np.bool_]:
        """Whether a curvature that depends on the margin is too small along combinations, (a'u)/(u'u), to be believed.

        Noise alone can lift a curvature of nothing to where it is seen.
        """
        columns, times = self._spectrum[3], RELIABILITY.faint

        def along(some: Matrix) -> Vector:
            U = columns @ some.T
            ways = self.sandwich.to_user.T @ some.T
            return np.asarray(np.sum(ways * U, axis=0) / np.maximum(np.sum(U * U, axis=0), TINY))

        best = along(np.eye(len(self.sandwich.to_user))).max()
        norm = noise_norm(self.sandwich.curvature_noise, len(columns))
        return np.asarray((along(combinations) < min(times * norm, best / times)) & (self.sandwich.asymmetry > 0))

    def scatter(self, combinations: Matrix) -> Scatter:
        """Variances and degrees of freedom of combinations, one a row."""
        _, lengths, sampling, noise, curved, unseen = self._parts(combinations)
        plain, (second, far) = sampling + noise + curved, self._far
        privacy = noise + curved + unseen + self.sandwich.bias**2 * lengths
        if second > RELIABILITY.second_order:
            privacy = privacy + np.square(RELIABILITY.second_part * second) * plain
        if far > RELIABILITY.far:
            privacy = privacy + far**4 * plain
        own = sampling + noise
        many = curved > RELIABILITY.curvature**2 * own
        privacy = privacy + np.where(many, 2 * curved, 0.0)
        variance = np.maximum(sampling + privacy, TINY)
        relative = self.sandwich.score_noise * lengths / (variance * self.spare)
        return Scatter(sampling, privacy, 1 / (np.square(relative) / 2 + 1 / self.spare))

    def covariance(self, *, sampling_only: bool = False) -> Matrix:
        """Covariance of all coefficients; its diagonal holds the variances of `scatter`."""
        everyone = np.eye(self.sandwich.to_user.shape[0])
        found, U = self.scatter(everyone), self._spectrum[3]
        total = U.T @ self.sandwich.score @ U / self.spare
        if not sampling_only:
            total = total + (self._noise() + self.sandwich.bias**2) * (U.T @ U)
        total = (total + total.T) / 2
        np.fill_diagonal(total, found.sampling + (0.0 if sampling_only else found.privacy))
        return np.asarray(total)

    def _noise(self) -> float:
        """What noise adds to the variance of every direction."""
        sandwich, hidden = self.sandwich, self._spectrum[2]
        error = sandwich.pilot_error + hidden.shape[1] * sandwich.hidden_size**2
        return float(sandwich.step_noise**2 + sandwich.curvature_noise**2 / 2 * error)

    def biased(self, combinations: Matrix) -> bool:
        """Whether the clip may bias several at once by more than the noisy B says: least squares of little signal."""
        sandwich = self.sandwich
        clipped = sandwich.bias > 0.0 and sandwich.asymmetry == 0.0
        return len(combinations) > 1 and clipped and self.plan.signal < RELIABILITY.joint_signal

    def _bias(self, combinations: Matrix) -> float:
        """What the clip's bias adds to every direction of combinations, squared.

        The bound B holds for one direction. The whole gradient is biased by √d B at most, and B has noise itself. That
        of least squares is biased in several directions at once where errors are skewed.
        """
        sandwich, count = self.sandwich, len(combinations)
        if sandwich.asymmetry > 0.0 or sandwich.bias == 0.0:
            return sandwich.bias**2 / count
        if not self.biased(combinations):
            return sandwich.bias**2
        bound = max(sandwich.bias, RELIABILITY.joint_bias * sandwich.step_noise)
        return RELIABILITY.joint_part * len(sandwich.curvature) * bound**2 / count

    def joint(self, combinations: Matrix) -> Matrix:
        """Covariance of combinations, with the score's second moments shrunk to the curvature.

        Of one combination it is the variance of its interval, so that test and interval agree.
        """
        if len(combinations) == 1:
            alone = self.scatter(combinations)
            return np.asarray((alone.sampling + alone.privacy)[:, None])
        return self._joint(combinations, self._shrunk(self.sandwich.score), self._bias(combinations))

    def _joint(self, combinations: Matrix, score: Matrix, bias: float) -> Matrix:
        """Covariance of combinations for a score matrix, or for a stack of them."""
        U = self._spectrum[3] @ combinations.T
        total = self._sampled(U, score) + (self._noise() + bias) * (U.T @ U)
        return np.asarray((total + total.swapaxes(-1, -2)) / 2)

    def _sampled(self, U: Matrix, score: Matrix) -> Matrix:
        """Covariance that sampling explains, at least what noise hides."""
        lengths, sampling = U.T @ U, U.T @ score @ U
        least, vectors = np.linalg.eigh(lengths)
        root = np.sqrt(np.maximum(least, TINY))
        inner = (vectors / root).T @ sampling @ (vectors / root)
        values, axes = np.linalg.eigh((inner + inner.swapaxes(-1, -2)) / 2)
        values = np.maximum(values, RELIABILITY.joint_floor * self.sandwich.score_noise)
        back = (vectors * root) @ axes
        return np.asarray((back * values[..., None, :]) @ back.swapaxes(-1, -2) / self.spare)

    def _shrunk(self, score: Matrix) -> Matrix:
        """Pull Q, or each of a stack, to the nearest multiple of the visible M, by what noise explains."""
        values, vectors, _, _ = self._spectrum
        model = (vectors * values) @ vectors.T
        size = float(np.sum(model * model))
        if size == 0.0:
            return score
        near = (np.einsum("...ij,ij->...", score, model) / size)[..., None, None] * model
        rest, width = score - near, score.shape[-1]
        noise = self.sandwich.score_noise**2 * width * (width + 1) / 2
        distance = np.einsum("...ij,...ij->...", rest, rest)
        kept = np.where(distance > noise, 1 - noise / np.maximum(distance, TINY), 0.0)
        return np.asarray(near + kept[..., None, None] * rest)

    def simulated_tail(self, combinations: Matrix, statistic: float, beyond: float = 1.0) -> float:
        """P-value of Wald's statistic: its law under the known noise, by public draws.

        Where no draw is as large it is `beyond`, the tail of an F law, if that is smaller.
        """
        above = int(np.sum(self._drawn_statistics(combinations) >= statistic))
        found = (1 + above) / (RELIABILITY.draws + 1)
        return found if above else min(found, beyond)

    def simulated_quantile(self, combinations: Matrix, level: float, beyond: float) -> float:
        """Largest statistic whose p-value is above 1 - level; `beyond` is the F law's quantile."""
        drawn = np.sort(self._drawn_statistics(combinations))
        # (1 + above) / (draws + 1) > 1 - level where at least so many draws are above.
        above = math.floor((1 - level) * (RELIABILITY.draws + 1) * (1 + 1e-12))
        return float(drawn[-above]) if above else max(float(drawn[-1]), beyond)

    def _drawn_statistics(self, combinations: Matrix) -> Vector:
        """Wald's statistic in draws of the estimates and of the noise of Q."""
        generator = PublicSequence(RELIABILITY.seed)
        score, width = self._shrunk(self.sandwich.score), len(self.sandwich.score)
        bias = self._bias(combinations)
        root = np.linalg.cholesky(_positive(self._joint(combinations, score, bias)))
        distances = generator.standard_normal((RELIABILITY.draws, len(combinations))) @ root.T
        at_once = max(1, LARGEST_STACK // width**2)
        found = []
        for first in range(0, RELIABILITY.draws, at_once):
            away = distances[first : first + at_once]
            noise = generator.standard_normal((len(away), width, width))
            noise = (noise + noise.swapaxes(-1, -2)) / 2 * self.sandwich.score_noise
            drawn = _positive(self._joint(combinations, self._shrunk(score + noise), bias))
            found.append(np.sum(away * np.linalg.solve(drawn, away[..., None])[..., 0], axis=-1))
        return np.concatenate(found)


def _positive(matrix: Matrix) -> Matrix:
    """Raise eigenvalues that rounding or a singular design left at zero, in a matrix or in each of a stack."""
    scale, values, vectors = correlation_axes(matrix)
    axes = vectors * scale[..., :, None]
    return np.asarray((axes * values[..., None, :]) @ axes.swapaxes(-1, -2))
