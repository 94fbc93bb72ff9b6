"""Images in files: every kind reads the same, and broken files are refused."""

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tacit.cli.image_files import IDX_NAMES, LabelledImages, read_images
from tacit.errors import DataError, FileError

RNG = np.random.default_rng(9)


def some(*shape: int) -> LabelledImages:
    def images(count: int) -> NDArray[np.uint8]:
        return RNG.integers(0, 256, (count, *shape)).astype(np.uint8)

    return LabelledImages(images(10), np.arange(10, dtype=np.uint8), images(4), np.arange(4, dtype=np.uint8))


def idx(array: NDArray[np.uint8]) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def same(found: LabelledImages, wanted: LabelledImages) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


def test_npz(tmp_path: Path) -> None:
    wanted = some(28, 28)
    np.savez(tmp_path / "a.npz", **wanted._asdict())
    assert same(read_images(tmp_path / "a.npz"), wanted)


@pytest.mark.parametrize("packed", [False, True])
def test_idx(tmp_path: Path, packed: bool) -> None:
    wanted = some(28, 28)
    for name, array in zip(IDX_NAMES, wanted, strict=True):
        file = tmp_path / f"{name}-idx{array.ndim}-ubyte{'.gz' if packed else ''}"
        file.write_bytes(gzip.compress(idx(array)) if packed else idx(array))
    assert same(read_images(tmp_path), wanted)


def test_pictures_of_the_package(tmp_path: Path) -> None:
    wanted = some(32, 32, 3)
    for number in range(1, 6):
        part = wanted.x_train[2 * number - 2 : 2 * number]
        Image.fromarray(part.reshape(2, -1, 3)).save(tmp_path / f"data_batch_{number}.png")
    Image.fromarray(wanted.x_test.reshape(4, -1, 3)).save(tmp_path / "test_batch.png")
    for name, labels in (("train_lables.json", wanted.y_train), ("test_lables.json", wanted.y_test)):
        (tmp_path / name).write_text(json.dumps(labels.tolist()), encoding="utf-8")
    assert same(read_images(tmp_path), wanted)


def test_what_is_missing_or_broken_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        read_images(tmp_path / "none.png")
    with pytest.raises(FileError, match="train-images"):
        read_images(tmp_path)
    (tmp_path / "a.csv").write_text("1,2\n", encoding="utf-8")
    with pytest.raises(FileError, match="no known kind"):
        read_images(tmp_path / "a.csv")
    (tmp_path / "a.npz").write_bytes(b"nothing")
    with pytest.raises(FileError, match="could not be read"):
        read_images(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x_train=np.zeros(3))
    with pytest.raises(DataError, match="y_train"):
        read_images(tmp_path / "b.npz")
    pickled: Any = dict.fromkeys(LabelledImages._fields, np.array([{}], dtype=object))
    np.savez(tmp_path / "c.npz", **pickled)
    with pytest.raises(FileError, match="could not be read"):
        read_images(tmp_path / "c.npz")
    for name, array in zip(IDX_NAMES, some(28, 28), strict=True):
        (tmp_path / f"{name}-idx{array.ndim}-ubyte").write_bytes(idx(array)[:-1])
    with pytest.raises(DataError, match="length"):
        read_images(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"\x00\x00\x0d\x03" + bytes(12))
    with pytest.raises(DataError, match="no idx file"):
        read_images(tmp_path)
