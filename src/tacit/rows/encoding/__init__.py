"""Encoding: cells become numbers, and numbers the columns of a design."""
