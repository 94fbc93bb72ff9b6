"""Sources of randomness: fresh words, nothing kept, nothing shared between processes.

Coincidence: two independent lists of m uniform 64-bit words share a word with probability at most
m² 2^-64, which is below 1e-11 for the lists of 4096 words used here.
"""

import os
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from scipy import stats

from tacit.errors import SettingError
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy

WORDS = 4096
FALSE_ALARM = 1e-6

FORKED = """
import os
from tacit.noise.entropy import SystemEntropy
entropy = SystemEntropy()
before = entropy.words(64)
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.write(writing, entropy.words(64).tobytes())
    os._exit(0)
mine = entropy.words(64).tobytes()
os.waitpid(child, 0)
print(before.tobytes().hex(), mine.hex(), os.read(reading, 512).hex())
"""


def run_fresh_process(script: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    finished = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return finished.stdout


def test_system_entropy_keeps_no_state() -> None:
    entropy = SystemEntropy()
    assert fields(entropy) == ()
    assert not hasattr(entropy, "__dict__")
    assert entropy == SystemEntropy()


@pytest.mark.parametrize("entropy", [SystemEntropy(), SeededEntropy(3)])
def test_t14_words_are_never_repeated(entropy: Entropy) -> None:
    handed_out = np.concatenate([entropy.words(WORDS) for _ in range(4)])
    assert handed_out.dtype == np.uint64
    assert np.unique(handed_out).size == handed_out.size


@pytest.mark.parametrize("entropy", [SystemEntropy(), SeededEntropy(4)])
def test_every_bit_of_a_word_is_fair(entropy: Entropy) -> None:
    """n = 65536 words, 64 bits: two-sided binomial at 1e-6 / 64 each."""
    count = 1 << 16
    words = entropy.words(count)
    for bit in range(64):
        ones = int(np.count_nonzero(words >> np.uint64(bit) & np.uint64(1)))
        assert stats.binomtest(ones, count).pvalue > FALSE_ALARM / 64


@pytest.mark.parametrize("entropy", [SystemEntropy(), SeededEntropy(5)])
def test_zero_words_and_negative_counts(entropy: Entropy) -> None:
    assert entropy.words(0).size == 0
    with pytest.raises(SettingError, match=r"count must be .* at least 0; got -1"):
        entropy.words(-1)


def test_t13_fork_and_fresh_processes_share_no_word() -> None:
    """This process; another before its fork, after it, and its child: all words distinct."""
    lists = [bytes.fromhex(part) for part in run_fresh_process(FORKED).split()]
    lists.append(SystemEntropy().words(64).tobytes())
    words = np.concatenate([np.frombuffer(part, np.uint64) for part in lists])
    assert words.size == 4 * 64
    assert np.unique(words).size == words.size


def test_seeded_entropy_repeats_in_any_portions() -> None:
    whole = SeededEntropy(11).words(100)
    source = SeededEntropy(11)
    portions = np.concatenate([source.words(count) for count in (1, 0, 37, 62)])
    assert np.array_equal(whole, portions)
    assert not np.array_equal(whole, SeededEntropy(12).words(100))


def test_t15_only_the_system_source_is_secure() -> None:
    assert SystemEntropy().secure
    assert not SeededEntropy(0).secure


def test_negative_seed_is_refused() -> None:
    with pytest.raises(SettingError, match=r"seed must be .* at least 0; got -1"):
        SeededEntropy(-1)
