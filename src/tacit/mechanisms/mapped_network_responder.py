"""The responder of a network on mapped rows: sums and moments of grouped rows, then gradients of a network.

Private: everything it holds. Proof: proofs/mechanisms/mapped_network_responder.md.
"""

from __future__ import annotations

import numpy as np

from tacit.contract.batches import BatchPrice
from tacit.contract.channel_map import ChannelMap
from tacit.contract.grouped_query import ChannelMoments, GroupSum
from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import Answer, Query
from tacit.contract.sensitivity import AnyPrice, Price
from tacit.errors import SettingError
from tacit.mechanisms.channel_moments import answer_channel_moments, answer_group_sum
from tacit.mechanisms.network_gradient import answer_network_gradient
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.rows.storage.example_rows import ExampleRows
from tacit.rows.storage.grouped_rows import ROW_NORM, GroupedRows, map_rows


class MappedNetworkResponder:
    """Answers over grouped rows. The first gradient settles the map: rows are mapped once, and their groups dropped.

    Noise from a `seed` can be reproduced and protects nobody.
    """

    def __init__(self, rows: GroupedRows, *, seed: int | None) -> None:
        self._rows: GroupedRows | None = rows
        self._examples: ExampleRows | None = None
        self._map: ChannelMap | None = None
        self._entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed)

    def answer(self, query: Query, price: AnyPrice) -> Answer:
        """Answer a query; the plan it belongs to has been reserved before."""
        if type(query) is NetworkGradient and isinstance(price, BatchPrice):
            return answer_network_gradient(query, price, self._mapped(query.channel_map), self._entropy)
        if type(query) not in (GroupSum, ChannelMoments) or not isinstance(price, Price):
            raise SettingError("Grouped rows answer sums, channel moments and gradients of networks here.")
        if self._rows is None:
            raise SettingError("The rows were mapped before, and their groups are not kept.")
        if isinstance(query, GroupSum):
            return answer_group_sum(query, price, self._rows, self._entropy)
        assert isinstance(query, ChannelMoments)  # noqa: S101 - for the type checker
        return answer_channel_moments(query, price, self._rows, self._entropy)

    def _mapped(self, channel_map: ChannelMap | None) -> ExampleRows:
        """Inputs of the network: mapped rows of norm at most 1, as floats that hold them exactly."""
        if channel_map is None:
            raise SettingError("A network on grouped rows needs the map that makes its inputs.")
        if self._examples is None and self._rows is not None:
            inputs = map_rows(self._rows.groups, channel_map)
            # A power of two: no bit is lost.
            inputs /= ROW_NORM
            labels = self._rows.labels.astype(np.int64)
            self._examples = ExampleRows.admit(inputs, labels, np.ones(len(labels), dtype=np.bool_))
            self._map, self._rows = channel_map, None
        if channel_map is not self._map or self._examples is None:
            raise SettingError("The map of the rows was settled before and cannot change.")
        return self._examples

    def __enter__(self) -> MappedNetworkResponder:
        return self

    def __exit__(self, *error: object) -> None:
        if self._examples is not None:
            self._examples.inputs.fill(0.0)
        self._rows = self._examples = self._map = None
