"""Whether what a stored fit states of its coefficients follows from what was released.

A ledger notes the digest of coefficients and sandwich. Standard errors, intervals and labels are computed from them, so
they are computed again here and compared. Numbers may differ by the rounding of another machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.certificate.fit_file import Estimates, StoredFit
from tacit.certificate.stored_inference import LARGEST_WIDTH
from tacit.errors import CertificateError
from tacit.inference.interval_results import IntervalResults
from tacit.inference.kept_release import KeptRelease

ROUNDING = 1e-6
"""Part of a number by which machines may differ: the last bits, after two inversions of a matrix."""


def compare_estimates(stored: StoredFit) -> bool:
    """Refuse a fit that states other errors, intervals or labels than follow from its own release.

    Guarantee: what is compared are all numbers and words of the fit that its release does not hold itself. False where
    the file has too many coefficients to keep what they follow from.
    """
    kept = KeptRelease.of(stored)
    if kept is None:
        if not _has_errors(stored.estimates):
            return True
        if len(stored.estimates.terms) > LARGEST_WIDTH:
            return False
        raise CertificateError("the fit states standard errors or intervals, and its release was without any")
    found, said = IntervalResults(kept).estimates(), stored.estimates
    compared = {
        "standard errors or intervals": _same_numbers(_ends(found), _ends(said)),
        "variances": _same_numbers(_variances(found), _variances(said)),
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


def _has_errors(estimates: Estimates) -> bool:
    parts = (estimates.scatter, estimates.covariance, estimates.reliability.terms)
    return any(part is not None for part in parts) or any(
        number is not None for row in _ends(estimates) for number in row
    )


def _ends(estimates: Estimates) -> list[list[float | None]]:
    return [[term.std_err, term.lower, term.upper] for term in estimates.terms]


def _variances(estimates: Estimates) -> list[Sequence[float | None]]:
    scatter = estimates.scatter
    parts = () if scatter is None else (scatter.sampling, scatter.privacy, scatter.degrees)
    return [*parts, *(estimates.covariance or ())]


def _same_numbers(found: Sequence[Sequence[float | None]], said: Sequence[Sequence[float | None]]) -> bool:
    """Whether the same numbers are there, and each is equal but for rounding, which the largest of its row measures."""
    if [[number is None for number in row] for row in found] != [[number is None for number in row] for row in said]:
        return False
    rows = zip(found, said, strict=True)
    numbers = ([np.array([n for n in row if n is not None]) for row in pair] for pair in rows)
    return all(
        np.allclose(one, other, rtol=ROUNDING, atol=ROUNDING * max(np.abs(one[np.isfinite(one)]), default=0.0))
        for one, other in numbers
    )
