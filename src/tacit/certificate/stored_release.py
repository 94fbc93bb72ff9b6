"""What was released as plain data, with which a ledger can answer again; the plan is made from the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.constraints.region import Box, L1Ball, Simplex
from tacit.contract.plan import Plan
from tacit.contract.release import Release, Sandwich
from tacit.contract.released_statistic import ReleasedStatistic
from tacit.design.design import Design
from tacit.design.feature_map import Custom
from tacit.documents.canonical_json import digest_of, plain, require
from tacit.documents.dataclass_json import from_plain, to_plain
from tacit.errors import CertificateError, LedgerError
from tacit.losses.loss import Code

FORMAT = "tacit-release/1"
_HELD = ("theta", "moments", "decrements", "sandwich")
_FURTHER = "statistics"
"""Held and asked for where there are some: of others the documents are as they were before there were any."""


@dataclass(frozen=True)
class _Stored:
    """The fields of the document; `design` is None unless its bounds were found in the run."""

    format: str
    theta: NDArray[np.float64]
    moments: NDArray[np.float64] | None
    decrements: tuple[float, ...]
    sandwich: Sandwich | None
    total: float | None
    design: Any


@dataclass(frozen=True)
class _StoredWithStatistics(_Stored):
    """The same with statistics that were paid for."""

    statistics: tuple[ReleasedStatistic, ...]


def request_digest(plan: Plan) -> str:
    """SHA-256 of everything that a plan asks for; nothing of it is read from a record.

    Guarantee: Plans that differ in model, prices, budget, number of records or public facts differ in it. The records
    do not enter: a fingerprint of a table would tell something about it. A function, or a region of another kind than
    Tacit's own, is refused: it could not be told from another one.
    """
    if plan.loss.code is Code.OWN or getattr(plan.solver, "is_own", False):
        what = "an own loss or solver is code, and cannot be told from another one, so that no key can stand for it"
        raise LedgerError(f"{what}. Nothing was spent. Fit without a key")
    custom = isinstance(plan.design.feature_map, Custom)
    if custom or type(plan.penalty.constraint) not in (Box, L1Ball, Simplex, NoneType):
        what = "a constraint of another kind than Box, L1Ball and Simplex"
        raise LedgerError(
            f"{'a feature map that is a function' if custom else what} cannot be told from another one, so that no key "
            "can stand for this request. Nothing was spent. Fit without a key"
        )
    # What a plan was a part of was charged as a whole, and is no request.
    names = {field.name for field in fields(plan)} - {"design", "forecast", "whole"}
    names -= set() if plan.statistics else {_FURTHER}
    asked = {name: plain(to_plain(getattr(plan, name))) for name in names}
    asked["solver name"] = plan.solver.name
    return digest_of({"plan": asked, "design": plain(plan.design.to_json())})


def release_to_json(release: Release) -> dict[str, Any]:
    """Return what `release_from_json` needs besides the plan, to the last bit."""
    plan = release.plan
    design = None if plan.locating is None else plan.design.to_json()
    held = {name: getattr(release, name) for name in _HELD}
    if release.statistics:
        stored = _StoredWithStatistics(FORMAT, **held, total=plan.total, design=design, statistics=release.statistics)
        return dict(plain(to_plain(stored)))
    return dict(plain(to_plain(_Stored(FORMAT, **held, total=plan.total, design=design))))


def release_from_json(plan: Plan, document: Mapping[str, Any]) -> Release:
    """Return the release of a plan that `release_to_json` described, or raise CertificateError."""
    try:
        stored = from_plain(_StoredWithStatistics if _FURTHER in document else _Stored, document, "the stored answer")
        require(stored.format == FORMAT, "the stored answer is not a release of this version")
        if stored.design is not None:
            plan = replace(plan, design=replace(Design.from_json(stored.design), feature_map=plan.design.feature_map))
    except (TypeError, ValueError) as error:
        raise CertificateError(f"the stored answer cannot be read: {error}") from error
    statistics = stored.statistics if isinstance(stored, _StoredWithStatistics) else ()
    held = {name: getattr(stored, name) for name in _HELD}
    return Release(replace(plan, total=stored.total), **held, statistics=statistics)
