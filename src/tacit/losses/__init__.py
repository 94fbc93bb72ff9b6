"""Losses of a margin and a label, and their constants."""
