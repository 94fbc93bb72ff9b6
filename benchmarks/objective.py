"""Coverage and width of intervals by a perturbed objective, on simulated public tables.

    python -m benchmarks.objective N D MU SAMPLES [BOUND [SEED]]

d coefficients with the intercept, standard normal features within ±BOUND, δ = 1e-6 and the ε of a
Gaussian release at μ. Widths are in units of the non-private sandwich interval on the same sample.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numpy.typing import NDArray

from tacit import LogisticRegression
from tacit.accounting import gaussian

DELTA = 1e-6


def covered(ends: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which intervals hold the truth."""
    return np.asarray((ends[:, 0] <= truth) & (truth <= ends[:, 1]))


def study(n: int, d: int, mu: float, samples: int, bound: float = 10.0, seed: int = 0) -> str:
    """Coverage by coefficient, the non-private one, and the median ratio of widths, in a line."""
    rng = np.random.default_rng(seed)
    truth = np.append(-0.3, np.linspace(1.0, -1.0, d - 1))
    epsilon = gaussian.epsilon(mu, DELTA)
    hits, plain_hits, ratios = [], [], []
    for _ in range(samples):
        X = rng.normal(size=(n, d - 1))
        y = (rng.random(n) < 1 / (1 + np.exp(-truth[0] - X @ truth[1:]))).astype(int)
        found = []
        for spent, solver in ((epsilon, "objective-perturbation"), (np.inf, "auto")):
            model = LogisticRegression(
                epsilon=spent, delta=DELTA, bounds=(-bound, bound), solver=solver, inference=True, classes=[0, 1]
            )
            found.append(np.asarray(model.fit(X, y).conf_int()))
        private, plain = found
        hits.append(covered(private, truth))
        plain_hits.append(covered(plain, truth))
        ratios.append((private[:, 1] - private[:, 0]) / (plain[:, 1] - plain[:, 0]))
    each = " ".join(f"{share:.3f}" for share in np.mean(hits, axis=0))
    return (
        f"n={n} d={d} mu={mu:g} bound={bound:g}: pooled {np.mean(hits):.3f} ({each}), "
        f"non-private {np.mean(plain_hits):.3f}, width {np.median(ratios):.3f}"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    n, d, mu, samples, *rest = sys.argv[1:]
    bound = float(rest[0]) if rest else 10.0
    seed = int(rest[1]) if len(rest) > 1 else 0
    print(study(int(n), int(d), float(mu), int(samples), bound, seed))
