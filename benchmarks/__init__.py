"""Benchmarks: each file measures one claim, in ratios within one run."""
