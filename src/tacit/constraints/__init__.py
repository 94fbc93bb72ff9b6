"""Public constraints and penalties on the coefficients; they see no record."""

from tacit.constraints.region import Box, L1Ball, Region, Simplex, non_negative

__all__ = ["Box", "L1Ball", "Region", "Simplex", "non_negative"]
