"""What a stored fit keeps for tests and intervals: read back to the last bit, and refused where it is forged."""

import copy
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.certificate.stored_inference import LARGEST_WIDTH, NAME, StoredInference
from tacit.errors import CertificateError


def released(width: int = 2, **settings: Any) -> Any:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (4000, width))
    y = (rng.random(4000) < X[:, 0]).astype(int)
    return tacit.LogisticRegression(epsilon=4.0, bounds=(0, 1), random_state=1, **settings).fit(X, y).release_


def test_the_sandwich_comes_back_to_the_last_bit() -> None:
    release = released(inference=True)
    back = StoredInference.read(StoredInference.further_parts(release), 3)
    assert back is not None
    assert back.signal == release.plan.signal
    for name, part in vars(release.sandwich).items():
        np.testing.assert_array_equal(getattr(back.sandwich, name), part)


def test_without_intervals_nothing_is_kept() -> None:
    assert StoredInference.further_parts(released()) == {}
    assert StoredInference.read({}, 3) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("curvature", [[1.0]]),
        ("score", [[1.0, 0.0], [0.0, 1.0]]),
        ("to_user", [[1.0, 0.0, 0.0]]),
        ("step", [1.0]),
        ("bias", "inf"),
        ("lifted", "yes"),
    ],
)
def test_forged_parts_are_refused(name: str, value: Any) -> None:
    parts = copy.deepcopy(StoredInference.further_parts(released(inference=True)))
    parts[NAME]["sandwich"][name] = value
    with pytest.raises(CertificateError):
        StoredInference.read(parts, 3)


def test_a_wide_fit_keeps_none() -> None:
    parts = StoredInference.further_parts(released(inference=True))
    with pytest.raises(CertificateError, match="another size"):
        StoredInference.read(parts, LARGEST_WIDTH + 1)
