"""One exact clipped gradient pass over sparse records, against the same records written out."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from benchmarks.record import Figure, interleaved, write
from tacit.contract.query import GradientSum
from tacit.contract.sensitivity import FINEST_BOUND
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.tiles import to_rows
from tests.rows.memory_stores import memory_store

ROWS, COLUMNS, SHARE = 20_000, 2000, 0.01
PASSES = 20
"""Sparse passes timed at once: a single one is as short as a pause of the scheduler."""


def run() -> None:
    """Measure and record."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((ROWS, COLUMNS), density=SHARE, format="csr", rng=rng)
    y = (rng.random(ROWS) < 0.5).astype(int)
    source = open_source(X, y)
    design = matrix_design(
        source.names, Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True, shifted=False
    )
    sparse = admit(source, design)
    blocks = (sparse.block(index).dense(design.width) for index in range(sparse.block_count))
    dense = memory_store(to_rows(np.concatenate([*blocks]), ROWS))
    query = GradientSum(rng.standard_normal(design.width), clip=1.0)
    sums = [integer_gradient_sum(query, FINEST_BOUND, store) for store in (sparse, dense)]
    seconds = interleaved(
        {
            "sparse": lambda: [integer_gradient_sum(query, FINEST_BOUND, sparse) for _ in range(PASSES)],
            "dense": lambda: integer_gradient_sum(query, FINEST_BOUND, dense),
        }
    )
    seconds["sparse"] /= PASSES
    gain = seconds["dense"] / seconds["sparse"]
    same = bool((sums[0] == sums[1]).all())
    write(
        "sparse",
        [
            Figure("dense pass over sparse pass, 1% non-zeros", gain, "×", "at least 10", gain >= 10),
            Figure("same integers, sparse and dense", float(same), "", "1", same),
        ],
        {"seconds": seconds, "records": ROWS, "columns": COLUMNS, "non-zeros": int(X.nnz)},
    )
