"""Randomness: where the bits come from (`entropy`) and exact noise made of them (`gaussian`)."""
