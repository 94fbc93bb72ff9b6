"""A small table with a curved border between two classes."""

import numpy as np


def table(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, (np.abs(X[:, 0]) > 0.5).astype(int)
