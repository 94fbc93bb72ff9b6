"""The reusable holdout (Thresholdout): means are compared with claims, and released where they differ.

Private: the store. Proof: proofs/mechanisms/reusable_holdout.md. Noise is exact discrete Laplace noise.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import NoReturn

from tacit.contract.holdout_price import HoldoutPrice
from tacit.contract.statistic_query import BoundedSums
from tacit.errors import PlanViolation, SettingError
from tacit.mechanisms.means import integer_sums
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.noise.laplace import discrete_laplace
from tacit.rows.storage.store import Store


class HoldoutComparisons:
    """Compares sums over a store with claimed ones; at most `price.releases` of them are released.

    `threshold` is an integer on the scale of the sums. Without a seed the noise is the operating system's.

    Guarantee
    ---------
    - All answers together cost `price.events`, however many claims are compared and whatever they depend on.
    - There is one count of the releases: it cannot be copied, is refused in a forked process, and answers one claim at
      a time.
    """

    def __init__(self, store: Store, price: HoldoutPrice, threshold: int, seed: int | None) -> None:
        self._store, self._price, self._base = store, price, threshold
        self._entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
        self._released, self._process, self._lock = 0, os.getpid(), Lock()
        self._threshold = self._noised_threshold()

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles, which would have a count of their own."""
        raise PlanViolation("A holdout cannot be copied: a copy would release what is paid for once again.")

    @property
    def remaining(self) -> int:
        """Releases that are left: known to whoever saw the answers."""
        return self._price.releases - self._released

    def compare(self, query: BoundedSums, claimed: int) -> int | None:
        """None where the sum of one statistic is near the claimed integer, up to noise; else the noised sum."""
        if query.size != 1:
            raise SettingError("A holdout compares one statistic at a time.")
        if os.getpid() != self._process:
            raise PlanViolation("A holdout answers in the process that opened it: a fork would be answered for free.")
        if not self._lock.acquire(blocking=False):
            raise PlanViolation("A holdout answers one claim at a time.")
        try:
            return self._compare(query, claimed)
        finally:
            self._lock.release()

    def _compare(self, query: BoundedSums, claimed: int) -> int | None:
        if not self.remaining:
            raise PlanViolation("The holdout is used up: every release that was paid for has been made.")
        total = int(integer_sums(query, self._price.bound, self._store)[0])
        if abs(total - claimed) + self._noise(2) < self._threshold:
            return None
        self._released += 1
        answer = total + self._noise(0)
        self._threshold = self._noised_threshold()
        return answer

    def _noised_threshold(self) -> int:
        return self._base + self._noise(1)

    def _noise(self, more: int) -> int:
        """A draw of scale 2^(bits + more)."""
        return int(discrete_laplace(1, 2 ** (self._price.bits + more), self._entropy)[0])
