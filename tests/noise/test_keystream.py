"""The keystream is ChaCha20: known answers, another implementation, and no two keys alike."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.noise.keystream import KEY_WORDS, SIDE_BY_SIDE, WORDS, Keystream

# ChaCha20 with an all-zero key and nonce, blocks 0 and 1 (draft-strombergson-chacha-test-vectors, TC1).
ZERO_BLOCKS = (
    "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669"
    "b2ee6586"
    "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f"
    "4b794d6f"
)


class NoEntropy:
    """Words of zero."""

    secure = False

    def words(self, count: int) -> np.ndarray:
        return np.zeros(count, dtype=np.uint64)


def another(stream: Keystream, first: int, count: int) -> np.ndarray:
    """The same words by another library: a counter of 64 bits, a nonce of zero."""
    block, skipped = divmod(first, WORDS)
    nonce = block.to_bytes(8, "little") + bytes(8)
    cipher = Cipher(algorithms.ChaCha20(stream._key.astype("<u4").tobytes(), nonce), mode=None)
    words = np.frombuffer(cipher.encryptor().update(bytes(4 * (skipped + count))), dtype="<u4")
    return words[skipped:]


def test_the_words_are_those_of_the_published_vectors() -> None:
    words = Keystream(NoEntropy()).words(0, 2 * WORDS)
    assert words.astype("<u4").tobytes().hex() == ZERO_BLOCKS


@pytest.mark.parametrize("first", [0, 1, 15, 16, 17, 1000, 2**32 * WORDS, 2**40 + 5])
@pytest.mark.parametrize("count", [0, 1, 16, WORDS * SIDE_BY_SIDE + 1, 5000])
def test_the_words_are_those_of_another_library_at_any_place(first: int, count: int) -> None:
    stream = Keystream(SeededEntropy(4))
    np.testing.assert_array_equal(stream.words(first, count), another(stream, first, count))


def test_the_counter_goes_on_beyond_32_bits() -> None:
    stream, edge = Keystream(SeededEntropy(5)), 2**32 * WORDS
    across = stream.words(edge - 40, 80)
    np.testing.assert_array_equal(across[:40], another(stream, edge - 40, 40))
    np.testing.assert_array_equal(across[40:], another(stream, edge, 40))


def test_a_place_has_its_word_in_whatever_portions_and_threads() -> None:
    stream = Keystream(SystemEntropy())
    whole = stream.words(0, 10_000)
    with ThreadPoolExecutor(4) as pool:
        parts = [*pool.map(lambda first: stream.words(first, 7), range(0, 10_000 - 7, 7))]
    np.testing.assert_array_equal(np.concatenate(parts), whole[: 7 * len(parts)])


def test_t13_t14_every_stream_has_a_key_of_its_own() -> None:
    """1000 keys of 256 bits: equal ones have a probability below 1e-70."""
    for entropy in (SystemEntropy(), SeededEntropy(1)):
        keys = {Keystream(entropy)._key.tobytes() for _ in range(1000)}
        assert len(keys) == 1000
        assert all(len(key) == 8 * KEY_WORDS for key in keys)


def test_the_key_is_not_shown() -> None:
    stream = Keystream(SystemEntropy())
    assert str(int(stream._key[0])) not in repr(stream)
