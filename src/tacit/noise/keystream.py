"""ChaCha20: a function of a secret key and a position that nobody without the key can tell from random words.

Any part of the stream is computed without the rest, so a batch can be found block by block, in any storage.
Proof: proofs/noise/keystream.md.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.kernel_compilation import compiled
from tacit.noise.entropy import Entropy

KEY_WORDS = 4
"""64-bit words of a key of 256 bits."""
WORDS = 16
"""32-bit words of one block of the cipher."""
SIDE_BY_SIDE = 32
"""Blocks that are computed together, for speed."""
_CONSTANTS = np.frombuffer(b"expand 32-byte k", dtype="<u4").astype(np.uint32)

Words = NDArray[np.uint32]


class Keystream:
    """The words of one fresh secret key. Neither stored, nor copied, nor shown.

    Guarantee: the key is drawn here, for this stream alone, so no two streams share one. The same position has the same
    word, in whatever portions words are asked for; safe to ask from several threads.
    """

    __slots__ = ("_key",)

    def __init__(self, entropy: Entropy) -> None:
        self._key: Words = entropy.words(KEY_WORDS).view(np.uint32).astype(np.uint32)

    def words(self, first: int, count: int) -> Words:
        """Words of positions first, …, first + count - 1: uniform on {0, …, 2^32 - 1}, independent of each other."""
        block, skipped = divmod(first, WORDS)
        blocks = -(-(skipped + count) // WORDS)
        stream = np.empty(max(blocks, 1) * WORDS, dtype=np.uint32)
        write_blocks(self._key, _CONSTANTS, block, stream)
        return stream[skipped : skipped + count]


@numba.njit(nogil=True, error_model="numpy")
def _quarter(state: Words, a: int, b: int, c: int, d: int) -> None:
    """One quarter round on rows a, b, c, d; sums are modulo 2^32."""
    for lane in range(SIDE_BY_SIDE):
        p, q, r, s = state[a, lane], state[b, lane], state[c, lane], state[d, lane]
        p = np.uint32(p + q)
        s = np.uint32(s ^ p)
        s = np.uint32((s << np.uint32(16)) | (s >> np.uint32(16)))
        r = np.uint32(r + s)
        q = np.uint32(q ^ r)
        q = np.uint32((q << np.uint32(12)) | (q >> np.uint32(20)))
        p = np.uint32(p + q)
        s = np.uint32(s ^ p)
        s = np.uint32((s << np.uint32(8)) | (s >> np.uint32(24)))
        r = np.uint32(r + s)
        q = np.uint32(q ^ r)
        q = np.uint32((q << np.uint32(7)) | (q >> np.uint32(25)))
        state[a, lane], state[b, lane], state[c, lane], state[d, lane] = p, q, r, s


@compiled
def write_blocks(key: Words, constants: Words, first: int, stream: Words) -> None:
    """Write the ChaCha20 blocks of counters first, first + 1, … (64 bits, nonce 0) into a stream of whole blocks."""
    start = np.empty((WORDS, SIDE_BY_SIDE), dtype=np.uint32)
    state = np.empty((WORDS, SIDE_BY_SIDE), dtype=np.uint32)
    blocks = stream.shape[0] // WORDS
    for group in range(0, blocks, SIDE_BY_SIDE):
        for lane in range(SIDE_BY_SIDE):
            counter = np.uint64(first) + np.uint64(group + lane)
            for j in range(4):
                start[j, lane] = constants[j]
            for j in range(8):
                start[4 + j, lane] = key[j]
            start[12, lane] = np.uint32(counter & np.uint64(0xFFFFFFFF))
            start[13, lane] = np.uint32(counter >> np.uint64(32))
            start[14, lane] = np.uint32(0)
            start[15, lane] = np.uint32(0)
        state[:] = start
        for _ in range(10):
            for column in range(4):
                _quarter(state, column, 4 + column, 8 + column, 12 + column)
            for column in range(4):
                _quarter(state, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
        for lane in range(min(SIDE_BY_SIDE, blocks - group)):
            for j in range(WORDS):
                stream[(group + lane) * WORDS + j] = np.uint32(state[j, lane] + start[j, lane])
