"""Where in scikit-learn a fit happens: inside a search or cross-validation, or behind fitted transformers.

The guarantee of a fit covers neither what a transformer has learnt from the records nor a choice among fits by their
scores. scikit-learn tells an estimator nothing of this, so the frames of the call are looked at. What happened before
the call, or in a loop of one's own, cannot be seen.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from sklearn.utils import get_tags

from tacit.contract.plan import CHOICES, PREPROCESSING, PublicFact
from tacit.errors import PreprocessingWarning, PrivacyWarning
from tacit.ledger.repeated_fits import RefitWarning

SINGLE = ("sklearn.base", "sklearn.pipeline", "sklearn.compose", "sklearn.utils")
"""Parts of scikit-learn that call `fit` once."""
SHAPES_ALONE = frozenset({"PolynomialFeatures", "RBFSampler"})
"""Transformers that learn the number of columns and nothing else."""
INNER = {"_fit_and_score": "cross-validation", "_fit_and_predict": "cross-validation"}
"""What the user called, where a process of its own shows no more than this."""
WAYS = "docs/pipelines.md has ways that are covered"


@dataclass(frozen=True)
class Surroundings:
    """What of scikit-learn stands around a fit: who fits repeatedly, and which transformers were fitted before it."""

    repeats: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()

    def facts(self) -> list[PublicFact]:
        """What a guarantee then takes as public."""
        facts = [(PREPROCESSING, list(self.fitted)), (CHOICES, list(self.repeats))]
        return [PublicFact(name, value, "assumed") for name, value in facts if value]

    def warn(self, *, charged: bool, stacklevel: int) -> None:
        """Warn of both; where a ledger charges every fit, of the scores alone, which it does not know of."""
        if self.fitted:
            warnings.warn(
                f"{_listed(self.fitted)} was fitted to the same records, without privacy. The stated ε does not cover "
                "what it learnt: the certificate lists that as assumed to be public. Declare bounds and levels in its "
                f"place, as tacit.BoundsScaler and tacit.OneHotLevels do; {WAYS}.",
                PreprocessingWarning,
                stacklevel=stacklevel + 1,
            )
        if self.repeats and charged:
            warnings.warn(
                f"{_listed(self.repeats)} of scikit-learn fits the same data several times. The ledger charges them, "
                "and covers neither scores on private records nor a choice by them; no certificate does. Use "
                f"evaluate(…) or tacit.PrivateSearchCV; {WAYS}.",
                PrivacyWarning,
                stacklevel=stacklevel + 1,
            )
        elif self.repeats:
            warnings.warn(
                f"{_listed(self.repeats)} of scikit-learn fits the same data several times. Each fit has its own "
                "guarantee, together they cost more than each states, and scores on private records, or a choice by "
                f"them, are covered by none. Use tacit.PrivateSearchCV, or fit within one ledger; {WAYS}.",
                RefitWarning,
                stacklevel=stacklevel + 1,
            )


def surroundings(model: object) -> Surroundings:
    """What the frames of the call tell of the fit of a model.

    Guarantee: no value of a record is read; of transformers, their classes and parameters.
    """
    repeats: dict[str, None] = {}
    fitted: dict[str, None] = {}
    for frame in _frames():
        module, owner = str(frame.f_globals.get("__name__", "")), frame.f_locals.get("self")
        kinds, called = kinds_of(owner), frame.f_code.co_name
        if "Pipeline" in kinds and called.startswith(("fit", "_fit")):
            fitted |= dict.fromkeys(_learnt(_before(owner, model)))
        elif "TransformedTargetRegressor" in kinds and called == "fit":
            fitted |= dict.fromkeys(_learnt([getattr(owner, "transformer", None)]))
        if module.startswith("sklearn.") and not module.startswith(SINGLE):
            repeats[INNER.get(called, called) if owner is None else type(owner).__name__] = None
    # Functions of cross-validation call each other: the outermost is the one that the user has called.
    return Surroundings(tuple(repeats)[-1:], tuple(fitted))


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - scikit-learn has no hook for this
    while frame is not None:
        yield frame
        frame = frame.f_back


def kinds_of(owner: object) -> set[str]:
    """Names of an object's classes that are scikit-learn's: none of its modules is imported for that."""
    return {each.__name__ for each in type(owner).__mro__ if each.__module__.startswith("sklearn.")}


def _before(pipeline: Any, model: object) -> list[Any]:
    """Steps before the model, or before the last where it is not one itself."""
    steps = [step for _, step in pipeline.steps]
    place = next((place for place, step in enumerate(steps) if step is model), len(steps) - 1)
    return steps[:place]


def _learnt(transformers: list[Any]) -> Iterator[str]:
    """Names of the transformers that learn something from records, those inside others too."""
    for transformer in transformers:
        kinds = kinds_of(transformer)
        if "Pipeline" in kinds:
            yield from _learnt([step for _, step in transformer.steps])
        elif "ColumnTransformer" in kinds:
            yield from _learnt([part for _, part, _ in transformer.transformers])
        elif "FeatureUnion" in kinds:
            yield from _learnt([part for _, part in transformer.transformer_list])
        elif transformer is not None and not isinstance(transformer, str) and not is_public_map(transformer):
            yield type(transformer).__name__


def is_public_map(transformer: Any) -> bool:
    """Whether a transformer learns nothing from records but their shape, or pays for what it learns.

    It is one if it says so: by the attribute `learns_nothing` of Tacit's own, or by scikit-learn's tag requires_fit.
    """
    kinds = kinds_of(transformer)
    if getattr(transformer, "learns_nothing", False) or kinds & SHAPES_ALONE:
        return True
    if kinds & {"OneHotEncoder", "OrdinalEncoder"}:
        declared = not isinstance(transformer.categories, str)
        rare = transformer.min_frequency is None and transformer.max_categories is None
        return declared and rare
    return hasattr(transformer, "__sklearn_tags__") and not get_tags(transformer).requires_fit


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)
