"""Six images of a tile at a time, in vector registers: the inner loop of a map of rows, with the bits of a plain loop.

The loop is written as vector operations, because the compiler's own choice takes twice as long. Each product and each
sum is rounded as it stands, without fused operations, and sums run over columns in order: a lane is one record, and has
the bits that a loop over its columns alone would give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

IMAGES = 6
"""Images at a time: with 64 bytes of lanes each they fill twelve of sixteen vector registers."""
RUN = 64
"""Columns before the next six images: 64 columns of a tile stay in the nearest memory."""
VECTOR_BYTES = 64
numba_types: Any = types
unpack: Any = cgutils.unpack_tuple
PAIR = numba_types.UniTuple(types.intp, 2)


def _accumulate(_context: Any, features: Any, matrix: Any, out: Any, k: Any, lane: Any, columns: Any) -> Any:
    """Add matrix[j, k + i]·features[j, lane:…] to out[k + i, lane:…] for six images i, for columns j in order."""
    signature = types.void(features, matrix, out, types.intp, types.intp, PAIR)
    del k, lane, columns
    return signature, _generate


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    arrays = [
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
    ]
    k, lane, columns = arguments[3:]
    first, stop = unpack(builder, columns)
    number, whole = context.get_data_type(signature.args[0].dtype), ir.IntType(64)
    vector = ir.VectorType(number, VECTOR_BYTES * 8 // signature.args[0].dtype.bitwidth)
    strides = [unpack(builder, array.shape)[1] for array in arrays]

    def place(array: int, row: Any, column: Any) -> Any:
        offset = builder.add(builder.mul(row, strides[array]), column)
        return builder.gep(arrays[array].data, [offset])

    def lanes(array: int, row: Any) -> Any:
        return builder.bitcast(place(array, row, lane), vector.as_pointer())

    def load(pointer: Any) -> Any:
        value = builder.load(pointer)
        value.align = signature.args[0].dtype.bitwidth // 8
        return value

    rows = [builder.add(k, ir.Constant(whole, i)) for i in range(IMAGES)]
    places = [lanes(2, row) for row in rows]
    begin = [load(pointer) for pointer in places]
    before = builder.block
    head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    j = builder.phi(whole)
    j.add_incoming(first, before)
    sums = [builder.phi(vector) for _ in rows]
    for total, start in zip(sums, begin, strict=True):
        total.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", j, stop), body, done)
    builder.position_at_end(body)
    values = load(lanes(0, j))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    nothing = ir.Constant(vector, ir.Undefined)
    for row, total in zip(rows, sums, strict=True):
        entry = builder.insert_element(nothing, load(place(1, j, row)), ir.Constant(ir.IntType(32), 0))
        spread = builder.shuffle_vector(entry, nothing, zeros)
        total.add_incoming(builder.fadd(total, builder.fmul(spread, values)), builder.block)
    j.add_incoming(builder.add(j, ir.Constant(whole, 1)), builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    for pointer, total in zip(places, sums, strict=True):
        builder.store(total, pointer).align = signature.args[0].dtype.bitwidth // 8
    return context.get_dummy_value()


accumulate: Callable[..., None] = intrinsic(_accumulate)


@numba.njit(nogil=True, error_model="numpy")
def _add_run(features: NDArray[Any], matrix: NDArray[Any], firsts: NDArray[Any], run: Any, out: NDArray[Any]) -> None:
    """Add what some columns give to all images."""
    start, stop = run
    images, lanes = matrix.shape[1], features.shape[1]
    step = VECTOR_BYTES // features.itemsize
    whole = images - images % IMAGES
    for k in range(0, whole, IMAGES):
        first = firsts[k]
        for i in range(1, IMAGES):
            first = min(first, firsts[k + i])
        if first < stop:
            for lane in range(0, lanes, step):
                accumulate(features, matrix, out, k, lane, (max(start, first), stop))
    for k in range(whole, images):
        for j in range(max(start, firsts[k]), stop):
            entry = matrix[j, k]
            for lane in range(lanes):
                out[k, lane] += entry * features[j, lane]


@numba.njit(nogil=True, error_model="numpy")
def write_images(features: NDArray[Any], matrix: NDArray[Any], firsts: NDArray[Any], out: NDArray[Any]) -> None:
    """Write M'u of every record u of a tile (column, lane) into `out`, each sum column after column.

    Both arrays are contiguous, and `out` has other memory. Columns before `firsts[k]` add nothing to image k.
    """
    width, images = matrix.shape
    for k in range(images):
        for lane in range(features.shape[1]):
            out[k, lane] = 0.0
    for start in range(0, width, RUN):
        _add_run(features, matrix, firsts, (start, min(start + RUN, width)), out)
