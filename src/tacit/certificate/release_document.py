"""A release as plain data, so that a ledger can give the same answer again.

What is kept was released: no record and nothing that was not paid for. The plan is not kept. It is
made again from the same request, and `request_digest` says whether it is the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.constraints.region import Box, L1Ball, Simplex
from tacit.contract.plan import Plan
from tacit.contract.release import Release, Sandwich
from tacit.design.design import Design
from tacit.design.feature_map import Custom
from tacit.documents.signature import digest_of, plain
from tacit.errors import CertificateError, LedgerError

FORMAT = "tacit-release/1"

_ARRAYS = {"curvature", "score", "to_user", "wobble", "privacy"}
_NUMBERS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_LAYOUT = {"format", "theta", "moments", "decrements", "sandwich", "total", "design"}


def request_digest(plan: Plan) -> str:
    """SHA-256 of everything that a plan asks for; nothing of it is read from a record.

    Guarantee
    ---------
    - Plans that differ in model, prices, budget, number of records or public facts differ in it.
    - The records themselves do not enter: a fingerprint of a table would tell something about it.
    - What has no digest is refused: a function, or a region of another kind than Tacit's own, could
      not be told from another one.

    Raises
    ------
    LedgerError
        If the plan holds a function or a foreign region.
    """
    _require_digestible(plan)
    asked = {
        field.name: _plain(getattr(plan, field.name))
        for field in fields(plan)
        if field.name not in {"design", "forecast"}
    }
    asked["solver name"] = plan.solver.name
    return digest_of({"plan": asked, "design": plain(plan.design.to_json())})


def release_to_json(release: Release) -> dict[str, Any]:
    """Return what `release_from_json` needs besides the plan, to the last bit."""
    plan, sandwich = release.plan, release.sandwich
    return {
        "format": FORMAT,
        "theta": plain(release.theta),
        "moments": None if release.moments is None else plain(release.moments),
        "decrements": plain(list(release.decrements)),
        "sandwich": None
        if sandwich is None
        else {field.name: plain(getattr(sandwich, field.name)) for field in fields(sandwich)},
        "total": plan.total,
        # Bounds that were found in the run; other designs are those of the request.
        "design": None if plan.locating is None else plain(plan.design.to_json()),
    }


def release_from_json(plan: Plan, document: Mapping[str, Any]) -> Release:
    """Return the release of a plan that `release_to_json` described.

    Raises
    ------
    CertificateError
        If it is none.
    """
    if document.get("format") != FORMAT or set(document) != _LAYOUT:
        raise CertificateError("the answer that was kept is not a release of this version")
    try:
        if document["design"] is not None:
            found = Design.from_json(document["design"])
            plan = replace(plan, design=replace(found, feature_map=plan.design.feature_map))
        return Release(
            replace(plan, total=document["total"]),
            _array(document["theta"]),
            sandwich=_sandwich(document["sandwich"]),
            moments=None if document["moments"] is None else _array(document["moments"]),
            decrements=tuple(map(_number, document["decrements"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CertificateError("the answer that was kept cannot be read") from error


def _sandwich(document: Mapping[str, Any] | None) -> Sandwich | None:
    if document is None:
        return None
    values: dict[str, Any] = {
        name: _array(value) if name in _ARRAYS and isinstance(value, list) else _number(value)
        for name, value in document.items()
    }
    return Sandwich(**values)


def _array(value: Any) -> NDArray[np.float64]:
    return np.array(_numbers(value), dtype=np.float64)


def _numbers(value: Any) -> Any:
    return [_numbers(item) for item in value] if isinstance(value, list) else _number(value)


def _number(value: Any) -> Any:
    return _NUMBERS[value] if isinstance(value, str) else value


def _require_digestible(plan: Plan) -> None:
    feature_map, region = plan.design.feature_map, plan.penalty.constraint
    held = {
        "a feature map that is a function": isinstance(feature_map, Custom),
        "a constraint of another kind than Box, L1Ball and Simplex": region is not None
        and type(region) not in (Box, L1Ball, Simplex),
    }
    for what in (name for name, found in held.items() if found):
        raise LedgerError(
            f"{what} cannot be told from another one, so that no key can stand for this request. "
            "Nothing was spent. Fit without a key"
        )


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return plain(value)
