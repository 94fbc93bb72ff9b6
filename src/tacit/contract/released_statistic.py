"""A statistic of a fit that was paid for, and the names that can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.errors import SettingError

DEVIANCE = "deviance"
STATISTICS = (DEVIANCE,)
"""What `statistics=` takes."""


@dataclass(frozen=True)
class ReleasedStatistic:
    """A mean over valid records, the standard deviation of its noise, and the bound at which a record was clipped."""

    name: str
    value: float
    noise: float
    bound: float

    def __str__(self) -> str:
        noise = "" if self.noise == 0 else f" (standard deviation of its noise {self.noise:.2g})"
        return f"Mean {self.name} of a valid record: {self.value:.4g}{noise}, each clipped at {self.bound:.4g}."


def checked_statistics(asked: object) -> tuple[str, ...]:
    """The statistics by name, each once; unknown names are refused before anything is spent."""
    if asked is None:
        return ()
    known = ", ".join(f'"{name}"' for name in STATISTICS)
    if isinstance(asked, str) or not isinstance(asked, Sequence):
        raise SettingError(f"statistics must be a list of names, for example [{known}]; got {str(asked)[:60]!r}.")
    for name in asked:
        if name not in STATISTICS:
            raise SettingError(f"statistics knows {known}; got {str(name)[:60]!r}.")
    return tuple(dict.fromkeys(asked))
