"""Which functions of a factor or a spline a term needs: all of them, or all but the first.

The levels of a factor, the intervals of a cut and the functions of a spline are alike here: they
sum to 1, so with all of them a term also spans what it spans without that atom. Coded as in R,
patsy and formulaic, no column is a sum of others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from tacit.formula.atom import Atom, Key

Term = tuple[Atom, ...]
# Which partitions of a term are coded, each with all its functions (True) or all but the first.
Coding = dict[Key, bool]


def codings(terms: Iterable[Term], *, intercept: bool) -> Iterator[tuple[Term, list[Coding]]]:
    """For each term, the fewest codings of its partitions that add what no earlier term spans.

    A partition with all its functions spans two subspaces, the constant and the contrasts, so a
    term spans one subspace for each subset of its partitions (times its numbers).
    """
    spanned: set[tuple[frozenset[Key], frozenset[Key]]] = set()
    if intercept:
        spanned.add((frozenset(), frozenset()))
    for term in terms:
        numbers = frozenset(atom.factors for atom in term if not atom.partition)
        partitions = [atom.factors for atom in term if atom.partition]
        needed: list[Coding] = []
        for size in range(len(partitions) + 1):
            for subset in itertools.combinations(partitions, size):
                if (numbers, frozenset(subset)) not in spanned:
                    spanned.add((numbers, frozenset(subset)))
                    needed = _merged(needed, dict.fromkeys(subset, False))
        yield term, needed


def _merged(codings: Sequence[Coding], new: Coding) -> list[Coding]:
    """Add a coding; contrasts times something, plus that something, is all levels times it."""
    for index, old in enumerate(codings):
        extra = new.keys() - old.keys()
        if len(extra) == 1 and len(new) == len(old) + 1:
            (key,) = extra
            if not new[key] and all(new[other] == old[other] for other in old):
                return _merged([*codings[:index], *codings[index + 1 :]], {**new, key: True})
    return [*codings, new]
