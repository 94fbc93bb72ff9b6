"""The responder of a network's examples: answers gradient sums at a price. Private: everything it holds.

Proof: proofs/mechanisms/network_responder.md.
"""

from __future__ import annotations

from tacit.contract.batches import BatchPrice
from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import Answer, Query
from tacit.contract.sensitivity import AnyPrice
from tacit.errors import SettingError
from tacit.mechanisms.network_gradient import answer_network_gradient
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.rows.storage.example_rows import ExampleRows


class NetworkResponder:
    """Answers over the examples of one training. Noise from a `seed` can be reproduced and protects nobody."""

    def __init__(self, rows: ExampleRows, *, seed: int | None, together: bool = False) -> None:
        self._together = together
        self._rows: ExampleRows | None = rows
        self._entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed)

    def answer(self, query: Query, price: AnyPrice) -> Answer:
        """Answer a query; the plan it belongs to has been reserved before."""
        if type(query) is not NetworkGradient or not isinstance(price, BatchPrice):
            raise SettingError("Examples of a network answer gradient sums over batches alone.")
        if query.channel_map is not None:
            raise SettingError("These examples are inputs already, and no map makes others of them.")
        if self._rows is None:
            raise SettingError("The training is over; open the examples again.")
        return answer_network_gradient(query, price, self._rows, self._entropy, together=self._together)

    def __enter__(self) -> NetworkResponder:
        return self

    def __exit__(self, *error: object) -> None:
        self._rows = None
