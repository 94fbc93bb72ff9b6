"""The rules of subsample and aggregate: how many blocks, and what their results are bounded by."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.solvers.rules import rule


@dataclass(frozen=True)
class Blocks:
    """Subsample and aggregate."""

    study: ClassVar[str] = "docs/aggregate.md, on simulated designs"
    rows_a_number: float = rule(5.0, "expected rows of a block for each number that it returns, at least")
    bias: float = rule(0.6, "bias of a jackknifed block, as a factor of (numbers / rows)², in units of the bounds")
    plain_bias: float = rule(0.3, "bias of a plain block, as a factor of numbers / rows")
    groups: int = rule(4, "of the jackknife: as many more fits a block")
    unnoised: float = rule(1.0, "μ that the number of blocks is chosen for where no noise is added")
    labels: float = rule(6.0, "norm that prepared coefficients of labels are shrunk to")
    numbers: float = rule(2.0, "and of a response within [-1, 1]")
    ridge: float = rule(0.5, "on a block's sum of losses of labels, so that separable blocks have a minimiser")
    flat: float = rule(1e-3, "the same for numbers, where directions without spread alone need it")
    deep: int = rule(1000, "blocks of a deep point at most: enough for its test at any usual budget")
    checks: Fraction = rule(Fraction(3, 10), "share of the confidence of teachers, where it is checked")
    default_share: float = rule(0.5, "of the expected rows: a block with fewer gives the default answer")


BLOCKS = Blocks()
