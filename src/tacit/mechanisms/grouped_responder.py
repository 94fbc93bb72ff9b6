"""The responder of grouped integer rows: answers their queries at a price. Private: everything it holds.

Proof: proofs/mechanisms/grouped_responder.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tacit.contract import grouped_query
from tacit.contract.query import Answer, Query
from tacit.contract.sensitivity import AnyPrice, Price
from tacit.errors import SettingError
from tacit.mechanisms.channel_moments import answer_channel_moments, answer_group_sum
from tacit.mechanisms.softmax_products import answer_mapped_gradient
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.rows.storage.grouped_rows import GroupedRows, MappedRows, mapped

GROUPED_MECHANISMS: Mapping[type, Callable[..., Answer]] = {
    grouped_query.GroupSum: answer_group_sum,
    grouped_query.ChannelMoments: answer_channel_moments,
    grouped_query.MappedGradient: answer_mapped_gradient,
}
"""Which mechanism answers which query of grouped rows; each has a page in proofs/mechanisms."""


class GroupedResponder:
    """Answers over grouped rows. The first gradient settles the map: the rows are mapped once, and the others dropped.

    Without `private` no noise is added. Noise from a `seed` can be reproduced and protects nobody.
    """

    def __init__(self, rows: GroupedRows, *, private: bool, seed: int | None) -> None:
        self._rows: GroupedRows | None = rows
        self._mapped: MappedRows | None = None
        self._map: object = None
        self._entropy: Entropy | None = None
        if private:
            self._entropy = SystemEntropy() if seed is None else SeededEntropy(seed)

    def answer(self, query: Query, price: AnyPrice) -> Answer:
        """Answer a query; the plan it belongs to has been reserved before."""
        if type(query) not in GROUPED_MECHANISMS or not isinstance(price, Price):
            raise SettingError("Grouped rows answer sums, channel moments and mapped gradients alone.")
        rows: GroupedRows | MappedRows | None = self._rows
        if isinstance(query, grouped_query.MappedGradient):
            rows = self._mapped_rows(query)
        if rows is None:
            raise SettingError("The rows were mapped before, and their groups are not kept.")
        return GROUPED_MECHANISMS[type(query)](query, price, rows, self._entropy)

    def _mapped_rows(self, query: grouped_query.MappedGradient) -> MappedRows | None:
        if self._mapped is None and self._rows is not None:
            self._mapped, self._map, self._rows = mapped(self._rows, query.channel_map), query.channel_map, None
        if query.channel_map is not self._map:
            raise SettingError("The map of the rows was settled before and cannot change.")
        return self._mapped

    def __enter__(self) -> GroupedResponder:
        return self

    def __exit__(self, *error: object) -> None:
        if self._mapped is not None:
            self._mapped.rows.fill(0.0)
        self._rows = self._mapped = None
