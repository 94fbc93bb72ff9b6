"""Coverage of the intervals of scores: the truth it is measured against, and a few samples."""

import numpy as np
import pytest

from benchmarks.evaluations import cases, covered, truth


@pytest.mark.filterwarnings("ignore")
def test_intervals_of_a_few_samples_hold_the_truth() -> None:
    """20 samples of a level of 95%: fewer than 10 within have a chance below 1e-8."""
    model, draw, scores = cases()["numbers"]
    model.fit(*draw(np.random.default_rng(0), 5000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.evaluations.POPULATION", 100_000)
        found = covered(model, draw, scores, 1000, 2.0, 20)
    assert set(found) == {"mean_squared_error", "r2"}
    assert all(share >= 0.5 and width > 0 for share, width in found.values())


def test_the_truth_of_labels_is_that_of_the_model() -> None:
    model, draw, scores = cases()["labels, half each"]
    model.set_params(epsilon=np.inf).fit(*draw(np.random.default_rng(0), 5000))
    found = truth(model, draw(np.random.default_rng(1), 50_000), scores)
    assert 0.5 < found["auc"] < 1
    # Calibrated: the shares of label 1 grow with the group.
    shares = [value for name, value in found.items() if name.startswith("group")]
    assert shares == sorted(shares)
