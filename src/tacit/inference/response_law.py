"""The law of a new response at a row, by the errors' variance that a release tells.

The score's second moments Q are σ² times the curvature M where errors have one variance (counts:
where their variance is σ² times their mean). Q is shrunk to the multiple of M that is nearest, by
what noise explains, Q̂. With v the combination that is 1 in every row

    σ² = n / (n - d) · v'Q̂v / (v'Mv · r),    r the part of Q that the weights of rows leave,

and without an intercept ⟨Q, M⟩ / (⟨M, M⟩ r). At ε = ∞ this is the mean square of the residuals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from tacit.contract.release import Release, Sandwich
from tacit.design.response import Binary, Continuous, Count
from tacit.errors import SettingError
from tacit.inference.estimates import Estimated
from tacit.inference.kept_release import KeptRelease
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Matrix, Vector
from tacit.solvers.quantiles import Places, bisect_places

ASSUMED = {
    Code.SQUARED: "errors are normal and have one variance",
    Code.POISSON: "the variance of counts is a multiple of their mean, {:.3g} of it",
    Code.LOGISTIC: "the model is right",
}
"""What has to hold for response intervals to cover, beside what the mean's intervals need."""
VARIES = 0.35
"""Distance of Q from the nearest multiple of M, over its size, from which variances differ."""
SURE = 3.0
"""So many times the noise must that distance be."""
NOISIEST = 0.5
"""Relative noise of σ² from which no response interval is given."""
NODES = 21
"""Points of the mean's law that a response's law is averaged over."""
NODE_WEIGHTS = np.full(NODES, 1 / NODES)


@dataclass(frozen=True)
class ResponseLaw:
    """How new responses scatter around their mean.

    `variance` is that of errors (on the scale of the response), or of counts over their mean.
    `withheld` is why no interval is given, None where one is.
    """

    response: Binary | Continuous | Count
    variance: float
    degrees: float
    assumption: str
    withheld: str | None = None

    @classmethod
    def of(cls, release: Release | KeptRelease, sandwich: Sandwich) -> ResponseLaw:
        """The law that a release tells; a refusal where its model has none."""
        plan = release.plan
        response, code = plan.design.response, plan.loss.code
        if code not in ASSUMED or not isinstance(response, Binary | Continuous | Count):
            raise SettingError(
                "This model bounds errors or has no law of responses: there are intervals for its "
                'means, and for a new response of family "gaussian", "poisson" and "binomial" only.'
            )
        if isinstance(response, Binary):
            return cls(response, 1.0, math.inf, ASSUMED[code])
        spread = _variance(sandwich, intercept=plan.design.reports_intercept)
        spare = max(plan.records - plan.design.width, 1)
        variance = spread.value * plan.records / spare
        reason = _contradiction(release, spread)
        degrees = 1 / (spread.relative_noise**2 / 2 + 1 / spare) if plan.private else float(spare)
        if isinstance(response, Continuous):
            variance = max(variance, 0.0) * response.scale**2
            return cls(response, variance, degrees, ASSUMED[code], reason)
        variance = max(variance, 1.0)
        return cls(response, variance, degrees, ASSUMED[code].format(variance), reason)

    def interval(self, linear: Estimated, means: Matrix, level: float) -> Matrix:
        """Ends for new responses: equal tails of their law, averaged over that of their mean.

        `means` are the means at the nodes of the linear predictor's law, one column a node.
        """
        match self.response:
            case Continuous():
                ends = self._normal(linear, level)
                return np.clip(ends, self.response.lower, self.response.upper)
            case Count():
                return self._counts(means, level)
        chance = means @ NODE_WEIGHTS
        tail = (1 - level) / 2
        lower, upper = np.where(1 - chance < tail, 1.0, 0.0), np.where(chance < tail, 0.0, 1.0)
        ends = np.column_stack([lower, upper])
        return np.where(np.isnan(chance[:, None]), np.nan, ends)

    def _normal(self, linear: Estimated, level: float) -> Matrix:
        own = linear.sampling + linear.privacy
        total = own + self.variance
        # Welch and Satterthwaite's degrees of freedom of a sum of two variances.
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = own / total, self.variance / total
            inverse = shares[0] ** 2 / linear.degrees + shares[1] ** 2 / self.degrees
            half = -special.stdtrit(1 / inverse, (1 - level) / 2) * np.sqrt(total)
        return np.column_stack([linear.values - half, linear.values + half])

    def _counts(self, means: Matrix, level: float) -> Matrix:
        assert isinstance(self.response, Count)  # noqa: S101 - for the type checker
        tail, top = (1 - level) / 2, math.ceil(self.response.upper)

        def below(count: Places) -> Vector:
            return np.asarray(self._count_law(count[:, None].astype(np.float64), means) @ NODE_WEIGHTS)

        lower = bisect_places(lambda count: below(count) > tail, top, len(means))
        upper = bisect_places(lambda count: below(count) >= 1 - tail, top, len(means))
        missing = np.any(np.isnan(means), axis=1, keepdims=True)
        return np.where(missing, np.nan, np.column_stack([lower, upper]))

    def _count_law(self, count: Matrix, means: Matrix) -> Matrix:
        """P(Y ≤ count): Poisson, or the negative binomial law with that variance over the mean."""
        if self.variance <= 1.0 + 1e-9:
            return np.asarray(special.pdtr(count, means))
        size = means / (self.variance - 1)
        return np.asarray(special.betainc(size, count + 1, 1 / self.variance))


@dataclass(frozen=True)
class _Variance:
    """σ² in prepared units, its relative noise, and how far Q is from a multiple of M."""

    value: float
    relative_noise: float
    distance: float
    noise_distance: float


def _variance(sandwich: Sandwich, *, intercept: bool) -> _Variance:
    values, vectors = np.linalg.eigh(sandwich.curvature)
    # Of hidden directions Q tells nothing that can be compared.
    seen = values >= sandwich.visible if sandwich.step is not None else values > 0
    values, basis, noise = values[seen], vectors[:, seen], sandwich.score_noise
    # Noise is the same in all working directions; without it all count alike.
    lengths = np.ones_like(values) if noise > 0 else np.sqrt(values)
    model, score = np.diag(values / lengths**2), basis.T @ sandwich.score @ basis
    score = score / np.outer(lengths, lengths)
    size, count = float(np.sum(model * model)), len(values)
    if size == 0.0:
        return _Variance(math.inf, math.inf, 0.0, 0.0)
    found = multiple = float(np.sum(score * model)) / size
    rest = score - multiple * model
    explained = noise**2 * (count * (count + 1) / 2 - 1)
    distance = float(np.sum(rest * rest))
    kept = max(0.0, 1 - explained / distance) if distance > 0 else 0.0
    deviation = noise / math.sqrt(size)
    if intercept:
        first = np.zeros(len(sandwich.to_user))
        first[0] = 1.0
        ones = lengths * (basis.T @ np.linalg.lstsq(sandwich.to_user, first, rcond=None)[0])
        square = float(ones @ model @ ones)
        if square > 0:
            found = multiple + kept * float(ones @ rest @ ones) / square
            deviation = math.hypot(deviation, kept * noise * float(ones @ ones) / square)
    shown = abs(multiple) * math.sqrt(size)
    if found <= 0 or shown == 0.0:
        return _Variance(0.0, math.inf if noise > 0 else 0.0, 0.0, 0.0)
    return _Variance(
        found / sandwich.weight_ratio, deviation / found, math.sqrt(distance) / shown, math.sqrt(explained) / shown
    )


def _contradiction(release: Release | KeptRelease, spread: _Variance) -> str | None:
    """Why the assumption of one variance cannot be made or is contradicted."""
    attached = release.plan.design.attached
    if attached.weighting is not None:
        return "records are weighted, and a new response has no weight"
    if attached.unit is not None and attached.unit.max_rows > 1:
        return "errors of a person's records are known together only"
    if spread.relative_noise > NOISIEST:
        return "the noise hides the variance of the errors"
    if spread.distance > VARIES and spread.distance > SURE * spread.noise_distance:
        return "the variance of the errors visibly differs between rows"
    return None


def nodes(linear: Estimated) -> Matrix:
    """Points of the linear predictors' laws, by t quantiles: one row a predictor."""
    shares = (np.arange(NODES) + 0.5) / NODES
    quantiles = special.stdtrit(linear.degrees[:, None], shares[None, :])
    with np.errstate(invalid="ignore"):
        return np.asarray(linear.values[:, None] + quantiles * linear.std_errors[:, None])
