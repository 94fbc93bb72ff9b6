"""Dominating pairs of distributions, described by the distribution of their privacy loss."""
