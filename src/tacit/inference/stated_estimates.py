"""Whether what a stored fit states of its coefficients follows from what was released.

A ledger notes the digest of coefficients and sandwich. Standard errors, intervals and labels are computed from them, so
they are computed again here and compared. Numbers may differ by the rounding of another machine.
"""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from tacit.certificate.fit_file import Estimates, StoredFit, Term
from tacit.certificate.stored_inference import LARGEST_WIDTH
from tacit.contract.plan import LEVEL_ONLY
from tacit.errors import CertificateError
from tacit.inference.interval_results import IntervalResults
from tacit.inference.kept_release import KeptRelease
from tacit.inference.summary import date_notes

ROUNDING = 1e-6
"""Part of a standard error by which machines may differ: the last bits, after two inversions of a matrix."""
LAST_BITS = 1e-8
"""Part of a coefficient that counts as a standard error: an end beside a tiny one is rounded as the coefficient is."""
Vector = NDArray[np.float64]
LEVEL = "level"
"""The solver that releases a level alone."""
_REASON = re.compile(
    r"Intervals are not offered: n·μ/d is [0-9.e+-]+, and below [0-9.e+-]+ they would mean nothing; use "
    r"a larger epsilon, more records or fewer columns\."
)
"""Why a fit has no intervals; its numbers follow from a plan, which no file holds."""


def compare_estimates(stored: StoredFit) -> bool:
    """Refuse a fit that states other errors, intervals or labels than follow from its own release.

    Guarantee: what is compared are all numbers and words of the fit that its release does not hold itself, but the
    figures in the reason why intervals are not offered. False where the file has too many coefficients to keep what
    they follow from. Whatever the file holds, no other error than `CertificateError` is raised.
    """
    kept = KeptRelease.of(stored)
    if kept is None:
        if not _has_errors(stored.estimates):
            _require_usual_words(stored)
            return True
        if len(stored.estimates.terms) > LARGEST_WIDTH:
            return False
        raise CertificateError("the fit states standard errors or intervals, and its release was without any")
    said = stored.estimates
    try:
        with np.errstate(all="ignore"):
            found = IntervalResults(kept).estimates()
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        # Numbers that no release has.
        raise CertificateError("nothing follows from what the fit holds of its release: its numbers overflow") from None
    compared = {
        "standard errors or intervals": _same_ends(found, said),
        "variances": _same_variances(found, said),
        "labels or notes": found.reliability == said.reliability,
    }
    others = [name for name, same in compared.items() if not same]
    if others:
        version = stored.certificate.parsed["versions"]["tacit"]
        raise CertificateError(
            f"the fit states other {' and other '.join(others)} than follow from its release. It was altered, or the "
            f"version that wrote it, {version}, has other rules than this one"
        )
    return True


def _require_usual_words(stored: StoredFit) -> None:
    """Refuse words of a fit without errors that such a fit does not have."""
    said, solver = stored.estimates.reliability, stored.certificate.parsed["solver"]
    facts = (*date_notes(stored.design), *map(str, stored.statistics.values()))
    notes = said.notes[1:] if solver == LEVEL and said.notes[:1] == (LEVEL_ONLY,) else said.notes
    reason = notes[len(facts) :]
    usual = notes[: len(facts)] == facts and (
        not reason if said.offered else len(reason) == 1 and _REASON.fullmatch(reason[0]) is not None
    )
    if said.statement is not None or not usual:
        raise CertificateError("the fit states other labels or notes than a fit without intervals has. It was altered")


def _has_errors(estimates: Estimates) -> bool:
    parts = (estimates.scatter, estimates.covariance, estimates.reliability.terms)
    return any(part is not None for part in parts) or any(
        number is not None for row in _ends(estimates) for number in row
    )


def _ends(estimates: Estimates) -> list[list[float | None]]:
    return [[term.std_err, term.lower, term.upper] for term in estimates.terms]


def _same_ends(found: Estimates, said: Estimates) -> bool:
    """Whether standard errors and ends are equal but for rounding: an end's is measured by its standard error."""
    pairs = zip(_ends(found), _ends(said), strict=True)
    if any([one is None for one in row] != [one is None for one in other] for row, other in pairs):
        return False
    rows = [(term, other) for term, other in zip(found.terms, said.terms, strict=True) if term.std_err is not None]
    mine, others = (np.array([_ends_of(pair[side]) for pair in rows]).reshape(-1, 3) for side in (0, 1))
    coefficients = np.array([term.coef for term, _ in rows])
    return _near(mine, others, np.abs(mine[:, :1]) + np.abs(coefficients[:, None]) * LAST_BITS)


def _ends_of(term: Term) -> list[float]:
    return [math.nan if number is None else number for number in (term.std_err, term.lower, term.upper)]


def _same_variances(found: Estimates, said: Estimates) -> bool:
    """Whether variances are equal but for rounding: columns of other units have other scales."""
    if (found.scatter is None, found.covariance is None) != (said.scatter is None, said.covariance is None):
        return False
    same = True
    if found.scatter is not None and said.scatter is not None:
        mine, others = (np.array([it.sampling, it.privacy]) for it in (found.scatter, said.scatter))
        degrees = np.array(found.scatter.degrees)
        same = _near(mine, others, np.abs(mine).sum(axis=0)) and _near(degrees, np.array(said.scatter.degrees), degrees)
    if found.covariance is not None and said.covariance is not None:
        errors = np.sqrt([row[-1] for row in found.covariance])
        rows = zip(found.covariance, said.covariance, errors, strict=True)
        same = same and all(
            _near(np.array(row), np.array(other), error * errors[: len(row)]) for row, other, error in rows
        )
    return same


def _near(found: Vector, said: Vector, scale: Vector) -> bool:
    """Whether numbers differ by rounding only, each measured by its own scale. Infinite ones are the same."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(found - said)
        near = np.isfinite(apart) & (apart <= ROUNDING * scale)
    return bool(np.all((found == said) | (np.isnan(found) & np.isnan(said)) | near))
