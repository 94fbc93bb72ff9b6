"""Rows of images: norms, flips, independence of other images, refusals."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.features.image_rows import COLOURS, UNIT, FeatureMap, as_planes, image_rows, require_images

RNG = np.random.default_rng(11)
GREY = RNG.integers(0, 256, (37, 16, 16), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (19, 16, 16, 3), dtype=np.uint8)


@pytest.mark.parametrize("images", [GREY, COLOUR])
@pytest.mark.parametrize("flips", [False, True])
@pytest.mark.parametrize("coarse", [False, True])
def test_rows_have_the_declared_shapes_and_a_norm_just_below_the_unit(
    images: NDArray[np.uint8], flips: bool, coarse: bool
) -> None:
    feature_map = FeatureMap(coarse, flips)
    groups = image_rows(images, feature_map)
    colours = 3 if images.ndim == 4 else 1
    assert tuple(rows.shape[1:] for rows in groups) == feature_map.shapes(16, colours)
    assert [ends[-1] for ends in feature_map.blocks(colours)] == [rows.shape[1] for rows in groups]
    for rows in groups:
        norms = np.sqrt((rows.reshape(len(rows), -1).astype(float) ** 2).sum(axis=1))
        assert norms.max() <= UNIT
        assert norms.min() >= 0.99 * UNIT


@pytest.mark.parametrize("images", [GREY, COLOUR])
def test_a_row_does_not_depend_on_other_images(images: NDArray[np.uint8]) -> None:
    """What stands in the other places, and how many threads there are, changes no bit."""
    feature_map = FeatureMap(coarse=True, flips=True)
    alone = image_rows(images, feature_map, threads=1)
    other = images.copy()
    other[5], other[-1] = 0, 255
    for rows, changed in zip(alone, image_rows(other, feature_map, threads=2), strict=True):
        same = (rows == changed).all(axis=(1, 2))
        assert np.flatnonzero(~same).tolist() == [5, len(images) - 1]


def test_a_flip_of_the_image_leaves_folded_rows_nearly_as_they_are() -> None:
    smooth = np.cumsum(np.cumsum(RNG.normal(size=(3, 28, 28)), axis=1), axis=2)
    smooth = (smooth - smooth.min()) / np.ptp(smooth)
    for flips, largest in ((True, 0.03), (False, np.inf)):
        rows = image_rows(smooth, FeatureMap(flips=flips))[0].reshape(3, -1) / UNIT
        turned = image_rows(smooth[:, :, ::-1].copy(), FeatureMap(flips=flips))[0].reshape(3, -1) / UNIT
        away = np.sqrt(((rows - turned) ** 2).sum(axis=1))
        assert (away < largest).all()
        if not flips:
            assert (away > 0.05).all()


def test_an_image_without_any_light_is_zero_but_no_fault() -> None:
    (rows,) = image_rows(np.zeros((2, 16, 16), dtype=np.uint8), FeatureMap())
    assert not rows.any()


def test_colours_are_a_rotation() -> None:
    np.testing.assert_allclose(COLOURS @ COLOURS.T, np.eye(3), atol=1e-12)
    assert as_planes(COLOUR).shape == (19, 3, 16, 16)
    np.testing.assert_allclose(as_planes(GREY)[0, 0], GREY[0] / 255, rtol=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((4, 16, 15)),
        np.zeros((16, 16)),
        np.zeros((4, 16, 16, 4)),
        np.zeros((4, 8, 8)),
        np.zeros((4, 16, 16), dtype=np.int64),
        np.full((4, 16, 16), 2.0),
        np.full((4, 16, 16), np.nan),
        np.full((4, 16, 16), -0.1),
    ],
)
def test_other_shapes_and_ranges_are_refused(wrong: NDArray[np.generic]) -> None:
    with pytest.raises(DataError, match="must"):
        require_images(wrong)


def test_progress_ends_at_the_number_of_images() -> None:
    seen: list[tuple[int, int]] = []
    image_rows(GREY, FeatureMap(), threads=1, progress=lambda done, total, _: seen.append((done, total)))
    assert seen[-1] == (37, 37)
