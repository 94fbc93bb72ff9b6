"""From events to guarantees: the exact Gaussian curve and exact composition."""

from tacit.accounting.composition import Composition, compose, guarantee_of, mu_squared_of

__all__ = ["Composition", "compose", "guarantee_of", "mu_squared_of"]
