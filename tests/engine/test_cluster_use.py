"""What a cluster does not answer is refused by name; the probe is public and asks for every kind of arithmetic."""

import numpy as np

from tacit.engine.cluster_use import PROBED_COLUMNS, PROBED_RECORDS, public_probe


def test_the_probe_is_the_same_in_every_process() -> None:
    one, two = public_probe(), public_probe()
    assert one.X.tobytes() == two.X.tobytes()
    assert one.X.shape == (PROBED_RECORDS, PROBED_COLUMNS)
    assert set(np.unique(one.y)) == {0, 1}
    # Whole numbers over powers of two: no rounding has a part in it.
    assert (np.rint(one.X * 2.0**40) == one.X * 2.0**40).all()


def test_the_probe_asks_for_slopes_products_and_fine_bounds() -> None:
    names = {function.__name__ for function, _, _ in public_probe().sums}
    assert names == {"gradients", "second_moments"}
    assert max(bound for *_, bound in public_probe().sums) >= 1 << 40
