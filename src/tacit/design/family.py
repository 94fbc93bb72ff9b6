"""Families of models: which kind of response each takes, and its link.

The names that `glm` and a stored fit know, in one place.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from tacit.design.response import Binary, Classes, Continuous, Count
from tacit.errors import SettingError

Link = Literal["logit", "identity", "log", "softmax"]


@dataclass(frozen=True)
class Family:
    """A name, the kind of response it models, and how the linear predictor is linked to it."""

    name: str
    response: type[Binary] | type[Classes] | type[Continuous] | type[Count]
    link: Link

    @property
    def takes_offset(self) -> bool:
        """Whether offsets are for it.

        Added to every class alike an offset cancels, and with the identity link it is the same as
        subtracting it from the response.
        """
        return self.link in {"logit", "log"}


FAMILIES = MappingProxyType(
    {
        family.name: family
        for family in (
            Family("binomial", Binary, "logit"),
            Family("gaussian", Continuous, "identity"),
            Family("poisson", Count, "log"),
            Family("multinomial", Classes, "softmax"),
            # Gaussian errors with outliers, and a quantile in place of the mean.
            Family("huber", Continuous, "identity"),
            Family("quantile", Continuous, "identity"),
        )
    }
)


def find_family(name: object) -> Family:
    """The family of that name, or an error that lists them.

    Examples
    --------
    >>> find_family("poisson").link
    'log'
    """
    if isinstance(name, str) and name in FAMILIES:
        return FAMILIES[name]
    close = difflib.get_close_matches(str(name), list(FAMILIES), n=1)
    hint = f' Did you mean "{close[0]}"?' if close else ""
    known = ", ".join(f'"{known}"' for known in FAMILIES)
    raise SettingError(f"family must be one of {known}; got {str(name)[:60]!r}.{hint}")
