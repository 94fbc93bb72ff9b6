"""Simulated populations: three families, each clean and misspecified in several ways.

Features are independent with mean 0 and deviation 1. What the model gets wrong is named by the
scenario:

| | logistic | linear | poisson |
|---|---|---|---|
| clean | the model | normal errors | the model |
| spread | latent errors whose scale varies | errors whose scale varies | overdispersed by ½ |
| outliers | 5% of the labels are coins | 5% uniform over the bounds | 5% uniform up to 50 |
| link | complementary log-log | a saturating mean | softplus in place of exp |
| rare | 5% positives | t₃ errors | mean count 0.3 |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Family = Literal["logistic", "linear", "poisson"]
Scenario = Literal["clean", "spread", "outliers", "link", "rare"]
FAMILIES: tuple[Family, ...] = get_args(Family)
SCENARIOS: tuple[Scenario, ...] = get_args(Scenario)

SLOPES = (0.8, -0.6, 0.5, -0.4, 0.3, -0.3, 0.2, -0.2, 0.1)
INTERCEPT = 0.3
COUNT_INTERCEPT, COUNT_PART = 0.7, 0.5
"""Log rates vary half as much as log odds."""
RARE_LOG_ODDS, RARE_LOG_RATE = -3.4, -1.35
SHARE_OF_OUTLIERS = 0.05
RESPONSE_BOUND, LARGEST_COUNT, LARGEST_OUTLIER = 10.0, 100, 50
DISPERSION = 0.5

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """A population; `d` counts the intercept."""

    family: Family
    scenario: Scenario
    d: int

    @property
    def words(self) -> str:
        """Name of the population."""
        return f"{self.family}/{self.scenario}/{self.d}"

    @property
    def is_centred(self) -> bool:
        """Whether the score has mean zero given the features at the true coefficients.

        So it is for the logistic model and for errors with a symmetric law. Counts are centred by
        a dispersion that is estimated, hence not exactly.
        """
        if self.family == "linear":
            return self.scenario in {"clean", "spread", "rare"}
        return self.family == "logistic" and self.scenario in {"clean", "rare"}

    def coefficients(self) -> Matrix:
        """Of the linear predictor, the intercept first."""
        slopes = np.array(SLOPES[: self.d - 1])
        rare = self.scenario == "rare"
        match self.family:
            case "poisson":
                first = RARE_LOG_RATE if rare else COUNT_INTERCEPT
                return np.append(first, slopes * COUNT_PART)
            case "logistic" if rare:
                return np.append(RARE_LOG_ODDS, slopes)
        return np.append(INTERCEPT, slopes)

    def draw(self, count: int, generator: np.random.Generator) -> tuple[Matrix, Matrix]:
        """Features and responses of so many records."""
        X = generator.standard_normal((count, self.d - 1))
        beta = self.coefficients()
        predictor = beta[0] + X @ beta[1:]
        match self.family:
            case "logistic":
                return X, self._labels(X, predictor, generator)
            case "linear":
                return X, self._numbers(X, predictor, generator)
        return X, self._counts(predictor, generator)

    def _labels(self, X: Matrix, predictor: Matrix, generator: np.random.Generator) -> Matrix:
        if self.scenario == "spread":
            predictor = predictor / np.exp(0.3 * X[:, 0])
        if self.scenario == "link":
            chance = -np.expm1(-np.exp(predictor - 0.4))
        else:
            chance = 1 / (1 + np.exp(-predictor))
        labels = (generator.random(len(X)) < chance).astype(np.float64)
        if self.scenario == "outliers":
            coins = (generator.random(len(X)) < 0.5).astype(np.float64)
            labels = _mixed(labels, coins, generator)
        return labels

    def _numbers(self, X: Matrix, predictor: Matrix, generator: np.random.Generator) -> Matrix:
        if self.scenario == "rare":
            errors = generator.standard_t(3, len(X))
        else:
            errors = generator.standard_normal(len(X))
        if self.scenario == "spread":
            errors = errors * np.sqrt(0.5 + 0.5 * X[:, 0] ** 2)
        mean = 2.0 * np.tanh(predictor / 1.5) if self.scenario == "link" else predictor
        numbers = mean + errors
        if self.scenario == "outliers":
            anywhere = generator.uniform(-RESPONSE_BOUND, RESPONSE_BOUND, len(X))
            numbers = _mixed(numbers, anywhere, generator)
        return np.clip(numbers, -RESPONSE_BOUND, RESPONSE_BOUND)

    def _counts(self, predictor: Matrix, generator: np.random.Generator) -> Matrix:
        rates = np.log1p(np.exp(predictor)) if self.scenario == "link" else np.exp(predictor)
        if self.scenario == "spread":
            rates = rates * generator.gamma(1 / DISPERSION, DISPERSION, len(rates))
        counts = generator.poisson(rates).astype(np.float64)
        if self.scenario == "outliers":
            anything = generator.integers(0, LARGEST_OUTLIER + 1, len(rates))
            counts = _mixed(counts, anything.astype(np.float64), generator)
        return np.minimum(counts, LARGEST_COUNT)


def _mixed(usual: Matrix, strange: Matrix, generator: np.random.Generator) -> Matrix:
    return np.where(generator.random(len(usual)) < SHARE_OF_OUTLIERS, strange, usual)
