"""The transformer: shapes, pipelines, no learning, cache, progress, refusals."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from tacit import Budget, Ledger, LogisticRegression, ScatteringTransform
from tacit.errors import DataError, FileError, SettingError

RNG = np.random.default_rng(4)
IMAGES = RNG.integers(0, 256, (30, 12, 12)).astype(np.uint8)


@pytest.mark.parametrize(("scales", "width"), [("2", 81 * 9), ("3", 81 * 9 + 136 * 4)])
def test_shapes_in_grey_and_in_colour(scales: str, width: int) -> None:
    transform = ScatteringTransform(scales=scales)
    assert transform.fit_transform(IMAGES).shape == (30, width)
    assert transform.transform(np.repeat(IMAGES[..., None], 3, axis=-1)).shape == (30, 3 * width)


def test_features_of_an_image_do_not_depend_on_what_was_fitted_or_on_other_images() -> None:
    fitted = ScatteringTransform().fit(IMAGES[:3])
    whole = fitted.transform(IMAGES)
    other = IMAGES.copy()
    other[7] = 0
    changed = ScatteringTransform(threads=1).transform(other)
    assert np.flatnonzero((whole != changed).any(axis=1)).tolist() == [7]


@pytest.mark.parametrize("colour", [False, True])
def test_removing_images_leaves_the_bits_of_all_others(colour: bool) -> None:
    """The fault: products of eight images at once rounded by place and number."""
    images = np.repeat(IMAGES[..., None], 3, axis=-1) if colour else IMAGES
    transform = ScatteringTransform(scales="3")
    whole = transform.transform(images / 255)
    for cut in (1, 2, 5, 29):
        assert np.array_equal(transform.transform(images[cut:] / 255), whole[cut:])


@pytest.mark.parametrize("pixel", [np.nan, np.inf, -1.0, 3e38])
def test_inside_a_ledger_no_image_is_refused(pixel: float) -> None:
    odd = (IMAGES[:4] / 255).astype(np.float32)
    odd[2, 3, 3] = pixel
    with pytest.raises(DataError):
        ScatteringTransform().fit_transform(odd)
    black = odd.copy()
    black[2] = 0
    with Ledger(budget=Budget(epsilon=1.0, delta=1e-5)):
        assert np.array_equal(ScatteringTransform().fit_transform(odd), ScatteringTransform().transform(black))


def test_bytes_and_floats_mean_the_same() -> None:
    np.testing.assert_allclose(
        ScatteringTransform().transform(IMAGES), ScatteringTransform().transform(IMAGES / 255), rtol=1e-4, atol=1e-6
    )


def test_the_cache_keeps_features_by_content(tmp_path: Path) -> None:
    cached = ScatteringTransform(cache=tmp_path / "deep")
    first = cached.transform(IMAGES)
    (file,) = (tmp_path / "deep").iterdir()
    stamp = file.stat().st_mtime_ns
    assert np.array_equal(cached.transform(IMAGES), first)
    assert file.stat().st_mtime_ns == stamp
    cached.transform(IMAGES[:5])
    assert len(list((tmp_path / "deep").iterdir())) == 2


def test_it_is_cloned_and_goes_into_a_pipeline() -> None:
    pipeline = make_pipeline(
        clone(ScatteringTransform(threads=1)), LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=[0, 1])
    )
    labels = RNG.integers(0, 2, 30)
    with pytest.warns(UserWarning, match="small for this table|more coefficients|Only the level"):
        pipeline.fit(IMAGES, labels)
    assert pipeline.predict(IMAGES).shape == (30,)


def test_wrong_images_and_settings_are_refused() -> None:
    with pytest.raises(DataError, match="shape"):
        ScatteringTransform().transform(np.zeros((3, 100)))
    with pytest.raises(SettingError, match="scales"):
        ScatteringTransform(scales="4").fit(IMAGES)
    with pytest.raises(SettingError, match="threads"):
        ScatteringTransform(threads=0).fit(IMAGES)


def test_cached_features_are_for_their_owner_and_a_broken_file_is_written_anew(tmp_path: Path) -> None:
    cached = ScatteringTransform(cache=tmp_path / "deep")
    first = cached.transform(IMAGES)
    (file,) = (tmp_path / "deep").iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    for broken in (b"", b"broken", b"\x93NUMPY" + bytes(20)):
        file.write_bytes(broken)
        assert np.array_equal(cached.transform(IMAGES), first)
    np.save(file, first[:3])
    assert np.array_equal(cached.transform(IMAGES), first)


def test_a_cache_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="is no folder"):
        ScatteringTransform(cache=tmp_path / "file").transform(IMAGES)
