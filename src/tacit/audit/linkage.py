"""Linkage: names put back into an "anonymised" table, on a simulated town (as Sweeney did with a governor's record).

A hospital publishes its records without names, with date of birth, sex and postcode. A public register has the same
three and the names. Whoever is the only one in the register with these three is named, and the diagnosis with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from tacit.errors import SettingError
from tacit.validate import whole

POSTCODES = 40
OLDEST, YOUNGEST = date(1935, 1, 1), date(2005, 12, 31)
DIAGNOSES = ("influenza", "diabetes", "asthma", "depression", "HIV", "fracture", "hypertension", "none")


@dataclass(frozen=True)
class Person:
    """Somebody of the town: a name, what a register knows, and what a hospital knows besides."""

    name: str
    born: date
    sex: str
    postcode: str
    diagnosis: str

    def seen(self, columns: Sequence[str]) -> tuple[str, ...]:
        """What the named columns of a table say of this person."""
        missing = [name for name in columns if name not in COLUMNS]
        if missing:
            raise SettingError(f"there is no column {missing[0]!r}; expected some of {', '.join(COLUMNS)}")
        return tuple(COLUMNS[name](self) for name in columns)


COLUMNS: Mapping[str, Callable[[Person], str]] = {
    "sex": lambda person: person.sex,
    "postcode": lambda person: person.postcode,
    "year of birth": lambda person: str(person.born.year),
    "date of birth": lambda person: person.born.isoformat(),
}
"""What a register and a published table have in common."""


@dataclass(frozen=True)
class LinkageResult:
    """How many published records were given a name, and how many of these names were right."""

    published: int
    named: int
    right: int

    @property
    def share(self) -> float:
        """Share of the published records that were given their right name."""
        return self.right / self.published


def simulated_town(people: int = 20_000, seed: int = 0) -> tuple[Person, ...]:
    """People of a town whose postcodes are of different sizes."""
    people, rng = whole("people", people), np.random.default_rng(seed)
    days = rng.integers((YOUNGEST - OLDEST).days, size=people)
    sizes = rng.dirichlet(np.full(POSTCODES, 3.0))
    codes = rng.choice(POSTCODES, size=people, p=sizes)
    sexes, ills = rng.integers(2, size=people), rng.integers(len(DIAGNOSES), size=people)
    return tuple(
        Person(f"person {k}", OLDEST + timedelta(int(days[k])), "fm"[sexes[k]], f"{codes[k]:05d}", DIAGNOSES[ills[k]])
        for k in range(people)
    )


def link(register: Sequence[Person], patients: Sequence[Person], columns: Sequence[str]) -> LinkageResult:
    """Name every published record whose columns only one person of the register has."""
    known = [(person.seen(columns), person.name) for person in register]
    counts, names = Counter(seen for seen, _ in known), dict(known)
    published = [(person.seen(columns), person.name) for person in patients]
    linked = [(names[seen], own) for seen, own in published if counts[seen] == 1]
    return LinkageResult(len(patients), len(linked), sum(name == own for name, own in linked))
