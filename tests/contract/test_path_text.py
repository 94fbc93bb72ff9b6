"""A path says how long it is, not every number."""

import numpy as np

from tacit.contract.path import Path


def test_a_long_path_has_a_short_text() -> None:
    path = Path(("Intercept", "x"), np.zeros((1000, 2)), np.linspace(0.01, 0.5, 1000), 1e-6)
    assert repr(path).startswith("Path: 1,000 iterates of 2 coefficients, ε from ")
    assert len(repr(path)) < 100
