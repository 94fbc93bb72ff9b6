"""Attacks on one private answer of grouped integer rows: two records that move its sum by its sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tacit.accounting.composition import compose, mu_squared_of
from tacit.audit.answer_laws import NoiseLaw
from tacit.audit.attack import Worlds
from tacit.audit.bounds import Floats
from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.contract.grouped_query import ChannelMoments, GroupedQuery, GroupSum, MappedGradient
from tacit.contract.query import KIND_OF
from tacit.contract.sensitivity import events_of, price_for
from tacit.mechanisms.grouped_responder import GroupedResponder
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.rows.storage.grouped_rows import UNIT, GroupedRows

CHANNELS = 2
Image = tuple[int, int, int]
"""Two channels of one position, as whole numbers, and a label."""
OTHERS: tuple[Image, ...] = ((0, 0, 0), (0, 0, 1))


@dataclass(frozen=True)
class OneGroupedQuery:
    """A query, and two records that move its answer the most."""

    query: GroupedQuery
    first: Image
    second: Image

    def worlds(self, relation: Relation, mu: float, seed: int | None) -> Worlds:
        """The two tables: a record and the other, or one record more."""
        replaced = relation is Relation.REPLACE_ONE
        tables = ((self.second, *OTHERS) if replaced else OTHERS, (self.first, *OTHERS))
        kind = KIND_OF[type(self.query)]
        price = price_for(kind, mu_squared_of(Budget(mu=mu)), relation, records=len(tables[1]), width=CHANNELS)
        responders = [
            GroupedResponder(_rows(table), private=True, seed=None if seed is None else 2 * seed + k)
            for k, table in enumerate(tables)
        ]
        exact = [GroupedResponder(_rows(table), private=False, seed=None) for table in tables]
        first, second = (each.answer(self.query, price).value for each in exact)
        law = NoiseLaw(kind, price, first, second)

        def draw(world: int, runs: int) -> Floats:
            return np.array([law.log_ratio(responders[world].answer(self.query, price)) for _ in range(runs)])

        return Worlds(compose(events_of(kind, price, relation), relation), relation, draw, 0.0)


def _rows(table: tuple[Image, ...]) -> GroupedRows:
    """The records in one group."""
    found = np.array(table, dtype=np.int16)
    return GroupedRows.admit((np.ascontiguousarray(found[:, :CHANNELS, None]),), found[:, CHANNELS], 2)


_CENTRE = np.zeros((CHANNELS, 1))
_MAP = ChannelMap((GroupMap(_CENTRE, np.eye(CHANNELS)),), constant=1e-3)
_START = np.zeros((_MAP.width, 2))
# At theta = 0 both classes have the probability 1/2, so labels turn a gradient round.
GROUPED_QUERIES: Mapping[type, OneGroupedQuery] = {
    GroupSum: OneGroupedQuery(GroupSum(0), (UNIT, 0, 0), (-UNIT, 0, 0)),
    ChannelMoments: OneGroupedQuery(ChannelMoments(0, _CENTRE, (0, CHANNELS), 0.5), (UNIT, 0, 0), (0, UNIT, 0)),
    MappedGradient: OneGroupedQuery(MappedGradient(_START, 0.5, _MAP), (UNIT, 0, 0), (UNIT, 0, 1)),
}
"""By type of query: the one that is attacked, and the records that move it the most."""
