"""Fits on a cluster: the same bits, faults, and what a round and a partition cost."""

from benchmarks.cluster.command import run as run
