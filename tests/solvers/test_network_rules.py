"""What a training takes by default follows from public facts."""

from tacit.solvers.network_rules import NETWORKS, constants_for


def test_batches_grow_with_the_records_within_limits() -> None:
    sizes = [constants_for(n, 1.0).batch_size for n in (10, 500, 20_000, 10**7)]
    assert sizes[0] == 10
    assert sizes == sorted(sizes)
    assert sizes[-1] == NETWORKS.largest_batch
