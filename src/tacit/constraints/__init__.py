"""Public constraints and penalties on the coefficients; they see no record."""
