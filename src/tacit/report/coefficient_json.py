"""A fit's coefficients as plain data, as programs read them; infinity is "inf"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.documents.canonical_json import plain

if TYPE_CHECKING:
    from tacit.estimators.fit import Fit

LEVEL = 0.95
NUMBERS = ("coef", "std_err", "lower", "upper", "statistic", "pvalue", "privacy_share")


def term_documents(fit: Fit) -> list[dict[str, Any]]:
    """Every coefficient with its error, test, 95% intervals and statement; null if not offered.

    `sampling_lower` and `sampling_upper` leave out the noise that was added, and do not cover.
    """
    total, sampling = fit.summary(LEVEL), fit.summary(LEVEL, which="sampling")
    return [
        {
            "name": line.name,
            **{name: plain(getattr(line, name)) for name in NUMBERS},
            "sampling_lower": plain(inner.lower),
            "sampling_upper": plain(inner.upper),
            "statement": line.statement,
        }
        for line, inner in zip(total.lines, sampling.lines, strict=True)
    ]


def interval_document(fit: Fit) -> dict[str, Any] | None:
    """What may be said of the intervals, and why; null where they were not paid for."""
    if fit.release is None or fit.release.sandwich is None:
        return None
    summary = fit.summary(LEVEL)
    return {
        "level": LEVEL,
        "offered": summary.offered,
        "statement": summary.statement,
        "evidence": plain(fit.release.plan.signal),
        "notes": list(summary.notes),
    }
