"""Rényi curves: upper bounds of divergences at each order, and what they guarantee.

Used where nothing tighter exists (selection, votes, subsampling of arbitrary mechanisms); Gaussian
releases have the exact curve of `tacit.accounting.gaussian`.
"""
