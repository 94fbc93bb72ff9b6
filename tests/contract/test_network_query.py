"""The query of a network refuses clips and shapes that its proof is not about."""

from typing import Any

import numpy as np
import pytest

from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.network_query import BLOCK, Network, NetworkGradient
from tacit.contract.query import KIND_OF, QueryKind
from tacit.contract.sensitivity import events_of
from tacit.errors import SettingError
from tacit.privacy.event import Gaussian, PoissonSampled
from tacit.privacy.relation import Relation

NETWORK = Network(None, None, "none")
PRICE = BatchPrice(100, 3, Batches(Sampling.POISSON, 1, 4))


@pytest.mark.parametrize(
    "changes",
    [
        {"clip": 1e-7},
        {"clip": 1e7},
        {"clip": float("nan")},
        {"slots": 3 * BLOCK},
        {"chunk": BLOCK + 1, "slots": 2 * BLOCK + 2},
        {"theta": np.array([np.inf])},
        {"slots": 0},
    ],
)
def test_what_has_no_proof_is_refused(changes: dict[str, Any]) -> None:
    settings: dict[str, Any] = {
        "theta": np.zeros(1),
        "clip": 1.0,
        "network": NETWORK,
        "slots": 4 * BLOCK,
        "chunk": 2 * BLOCK,
    }
    NetworkGradient(**settings)
    with pytest.raises(SettingError):
        NetworkGradient(**settings | changes)


def test_the_event_is_a_sampled_gaussian_for_blanked_records_alone() -> None:
    kind = KIND_OF[NetworkGradient]
    assert kind is QueryKind.NETWORK_GRADIENT
    (event,) = events_of(kind, PRICE, Relation.ZERO_OUT)
    assert event == PoissonSampled(Gaussian(100**2, 4**3, "network-gradient"), PRICE.batches.rate)
    for relation in (Relation.REPLACE_ONE, Relation.ADD_REMOVE):
        with pytest.raises(SettingError, match="zero-out"):
            events_of(kind, PRICE, relation)


def test_batches_of_fixed_size_have_no_price() -> None:
    fixed = BatchPrice(100, 3, Batches(Sampling.WITHOUT_REPLACEMENT, 1, 4))
    with pytest.raises(SettingError):
        events_of(QueryKind.NETWORK_GRADIENT, fixed, Relation.ZERO_OUT)
