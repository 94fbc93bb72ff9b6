"""Scattering of images as a scikit-learn transformer."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from tacit.contract.query import Progress
from tacit.engine.ledger_use import Refusals
from tacit.errors import DataError, FileError
from tacit.features.image_rows import blackened, require_images, scattered
from tacit.features.scattering import COARSE, FINE
from tacit.features.wavelets import centres
from tacit.files import replacing
from tacit.validate import one_of, whole


class ScatteringTransform(TransformerMixin, BaseEstimator):
    """2-D scattering of order 2 with eight angles: fixed features of images, for any estimator.

    S0 = x * φ, S1 = |x * ψ| * φ and S2 = ||x * ψ| * ψ'| * φ with Morlet wavelets ψ and a Gaussian φ, sampled on a grid
    of 2^J pixels that a flip maps onto itself. Colours are rotated to opponent colours first.

    Guarantee:

    - The features of an image are a function of that image alone, to the last bit. Nothing is learned in `fit`, and no
      statistic of other images enters. So the transform is a fixed public map: it costs no budget, and adding or
      removing an image leaves the features of all others as they are.
    - Inside a ledger no image is refused for its content: one that is not in [0, 1] is read as a black one.

    Parameters
    ----------
    scales
        "2" for the grid of 4 pixels, 81 channels a colour; "3" adds 136 channels on a grid of 8 pixels.
    cache
        A folder in which features are kept, or None. They are as private as the images: the files are readable by
        their owner alone.
    threads
        Threads that share the images.
    progress
        Called with (done, total, label).

    Examples
    --------
    >>> import numpy as np
    >>> ScatteringTransform().fit_transform(np.zeros((2, 28, 28))).shape
    (2, 3969)
    """

    learns_nothing: ClassVar[bool] = True
    """So that no fit behind it warns of preprocessing."""

    def __init__(
        self,
        *,
        scales: str = "2",
        cache: str | os.PathLike[str] | None = None,
        threads: int = 2,
        progress: Progress | None = None,
    ) -> None:
        self.scales, self.cache, self.threads, self.progress = scales, cache, threads, progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the images; nothing is learned from them."""
        del y
        self._readable(X)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """There is nothing to fit."""
        return True

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Features (n, channels·positions): colour after colour, channel after channel, each over the grid."""
        images = self._readable(X)
        if self.cache is None:
            return self._scattered(images)
        settings = f"{self.scales} {images.dtype.str} {images.shape}"
        digest = hashlib.sha256(settings.encode())
        digest.update(np.ascontiguousarray(images).data)
        file = Path(self.cache) / f"scattering-{digest.hexdigest()[:32]}.npy"
        if (stored := _stored(file, len(images))) is not None:
            return stored
        found = self._scattered(images)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cache={str(self.cache)!r} is no folder that can be made or used.") from error
        with replacing(file) as draft, draft.open("wb") as stream:
            # Features are as private as the images: nobody else may read them.
            draft.chmod(0o600)
            np.save(stream, found)
        return found

    def _readable(self, X: Any) -> NDArray[np.generic]:
        one_of("scales", self.scales, ("2", "3"))
        whole("threads", self.threads, 1, 256)
        return readable_images(X)

    def _scattered(self, images: NDArray[Any]) -> NDArray[np.float32]:
        colours, pixels, coarse = 3 if images.ndim == 4 else 1, images.shape[1], self.scales == "3"
        sizes = [FINE * len(centres(pixels, 2)) ** 2, COARSE * len(centres(pixels, 3)) ** 2][: 1 + coarse]
        out = np.empty((len(images), colours * sum(sizes)), dtype=np.float32)
        ends = np.cumsum([0, *(colours * size for size in sizes)])

        def write(part: slice, found: tuple[NDArray[np.float32], ...]) -> None:
            for values, first, last in zip(found, ends[:-1], ends[1:], strict=True):
                out[part, first:last] = values.reshape(-1, last - first)

        scattered(images, write, coarse=coarse, threads=self.threads, progress=self.progress)
        return out


def _stored(file: Path, records: int) -> NDArray[np.float32] | None:
    """Features from the cache; None where there are none, or the file is not what was written."""
    try:
        found = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    whole = isinstance(found, np.ndarray) and found.dtype == np.float32 and found.ndim == 2
    return found if whole and len(found) == records else None


def refuses_images() -> bool:
    """Whether images and labels may be refused for their content: not inside a ledger."""
    return Refusals.settle(None).invalid_rows == "error"


def readable_images(X: Any) -> NDArray[np.generic]:
    """Images in [0, 1]: others are refused, or inside a ledger read as black ones."""
    if refuses_images():
        return require_images(X)
    if not isinstance(X, np.ndarray):
        raise DataError("Inside a ledger images must be one numpy array: of a list one image could decide the type.")
    return blackened(X)
