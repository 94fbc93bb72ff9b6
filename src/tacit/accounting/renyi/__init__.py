"""Rényi curves: upper bounds of divergences at each order, used where nothing tighter exists."""
