"""Randomness: where the bits come from (`entropy`) and noise made of them.

Exact: `gaussian`, `laplace`, `selection`. In floats: `gamma_direction`.
"""
