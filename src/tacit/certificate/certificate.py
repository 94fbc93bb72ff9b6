"""The certificate of a fit: its guarantee, and everything needed to derive that again.

It is JSON: infinity is ``"inf"``, and numbers that enter the proof are exact strings. Nothing in it was read from a
record beyond what is listed as public. What it says of a step follows from a few numbers and the relation.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import platform
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import metadata
from typing import Any, ClassVar

from tacit.accounting.composition import Composition, compose, mu_squared_of
from tacit.certificate.arithmetic import REAL, arithmetic_of
from tacit.certificate.batch_entry import read_batch_price, stated_batches
from tacit.certificate.block_entry import read_block_price, stated_block_price
from tacit.certificate.selection_entry import read_selection_price, stated_selection
from tacit.certificate.stated_model import StatedModel
from tacit.certificate.stated_parts import (
    LARGEST_COUNT,
    SEEDED,
    fingerprint_of,
    require_agreement,
    require_count,
    require_released,
    which_records,
)
from tacit.contract.batches import BatchPrice
from tacit.contract.block_price import BlockPrice
from tacit.contract.plan import Plan, Step, premise_of
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.contract.selection_price import SELECTIONS, SelectionPrice
from tacit.contract.sensitivity import (
    BATCHED,
    CHOICES,
    LARGEST_BITS,
    SIZED,
    AnyPrice,
    GammaPrice,
    LaplacePrice,
    MinimumPrice,
    Price,
    PurePrice,
    SoftmaxPrice,
    TwoSignedPrice,
    events_of,
    squared_sensitivity,
)
from tacit.documents.canonical_json import FieldTypes, canonical, fields_of, plain, require, require_fields
from tacit.documents.signature import TOLERANCE, Document, require_total
from tacit.errors import BudgetError, SettingError
from tacit.privacy import event_json as events
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Composed, Event, Repeated
from tacit.privacy.relation import Relation

FORMAT = "tacit-certificate/2"
FIRST = "tacit-certificate/1"  # The format of 0.1.0: `released` is over the terms alone.
INFINITE = "epsilon is infinite"
ROUNDING = 5e-10  # Added to a total that rests on Fourier transforms: another machine may round them otherwise.

_NOTHING = {"epsilon": "inf", "delta": 1.0, "mu": "inf", "mu_squared": "inf"}
_VERSIONED = ("tacit", "python", "numpy", "numba")

MOST_PERTURBED = 8  # Entries of such a kind in one certificate: a fit has one or two, and each is costly to price.
NAMES = {QueryKind.MINIMUM: "perturbed minima"} | dict.fromkeys(BATCHED, "sums over batches")

# In the order in which a person reads them.
_LAYOUT = fields_of(
    "format:str private:bool why_not_private:str|None total:dict relation:str unit:str records:dict budget:dict "
    "solver:str loss:str released:dict public:list events:list versions:dict digest:str signature:dict|None"
)
_RELEASED = fields_of("covers:list sha256:str")
_INNER: Mapping[str, FieldTypes] = {
    "total": fields_of("epsilon:float|str delta:float mu:float|str|None mu_squared:str|None"),
    "records": fields_of("which:str value:int"),
    "budget": dict.fromkeys(("epsilon", "delta", "mu", "rho"), (float, str, type(None))),
    "versions": dict.fromkeys(_VERSIONED, (str,)),
}
_DIGITS = re.compile(r"0|[1-9][0-9]{0,30}", re.ASCII)
_RATIO = re.compile(r"[1-9][0-9]{0,30}(/[1-9][0-9]{0,30})?", re.ASCII)
_PRICE = (fields_of("bound:str squared:str"), fields_of("law:str bits:int variance:str"))
"""Sensitivity and noise of an answer; that of a perturbed minimum adds the fields of `_DRIFT`."""
_DRIFT = (fields_of("ratio:str drift:str"), fields_of("drift_bits:int"))
_GAMMA = fields_of("law:str bits:int scale:str")
"""Noise of Gamma norm, which is proven over the reals."""
_LAPLACE = (fields_of("bound:str squared:str width:str"), _GAMMA)
"""Sensitivity and noise of a sum with discrete Laplace noise."""
_LAPLACE_LAW = "discrete laplace"
_PURE = (fields_of("bound:str ratio:str classes:str"), fields_of("law:str bits:int scale:str cover:str"))
"""Sensitivity and noise of a perturbed minimum with δ = 0."""
_CLASSES = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_FACT = fields_of("name:str value:object source:str")
_ENTRY = fields_of(
    "query:str label:str times:int size:int arithmetic:str event:dict|None sensitivity:dict|None noise:dict|None"
)


class Certificate(Document):
    """What a release guarantees, as plain data with a digest.

    Guarantee: `check` accepts a total only if the events, under the relation stated, add up to it: epsilon and mu are
    never below the derived ones, the exact square of mu is equal to it. `check` accepts an event only if its
    sensitivity follows from the bound and the relation, and if the stated solver, loss, classes, columns, outputs and
    number of records are those that its price is for. Noise from a chosen seed, or none, is ``private: false``, and
    no guarantee is stated. The same release under the same versions has the same digest. The digest covers every part
    of the fit that `covers` names.
    """

    formats: ClassVar[Mapping[str, FieldTypes]] = {FORMAT: _LAYOUT, FIRST: {**_LAYOUT, "released": (str,)}}
    inner: ClassVar[Mapping[str, FieldTypes]] = _INNER
    largest: ClassVar[int] = 2**23
    most_events: ClassVar[int] = 20_000

    def _require(self, document: Mapping[str, Any]) -> None:
        if document["format"] != FIRST:
            require_fields(document["released"], _RELEASED, "released")
            require_released(document["released"])
        for number, fact in enumerate(document["public"], start=1):
            require_fields(fact, _FACT, f"public fact {number}")
        for number, entry in enumerate(document["events"], start=1):
            require_fields(entry, _ENTRY, f"event {number}")
        for kind, name in NAMES.items():
            times = sum(entry["query"] == kind for entry in document["events"])
            require(times <= MOST_PERTURBED, f"there are more than {MOST_PERTURBED} entries of {name}")

    @classmethod
    def issue(
        cls,
        release: Release,
        estimates: Sequence[Sequence[Any]] | None = None,
        *,
        covered: Mapping[str, Any] | None = None,
    ) -> Certificate:
        """State what a release guarantees, for the `covered` parts of a stored fit, by name.

        By default the terms (`estimates`, or the coefficients alone) and the design, a custom map by its declaration.
        The winner of a search is refused: its own events are not all that it cost.
        """
        plan = release.plan
        if plan.whole is not None:
            raise SettingError(
                f"This release is a part of a {plan.whole.name}, whose certificate alone states its price."
            )
        why = INFINITE if not plan.private else SEEDED if release.reproducible else None
        if covered is None:
            rows = release.estimates() if estimates is None else estimates
            names = ("name", "coef", "std_err", "lower", "upper")
            terms = [dict(zip(names, row, strict=True)) for row in rows]
            covered = {"terms": plain(terms), "design": plain(plan.design.to_json())}
        return cls.made(
            {
                "format": FORMAT,
                "private": release.private,
                "why_not_private": why,
                "relation": str(plan.relation),
                "unit": plan.unit,
                "solver": plan.solver.name,
                "loss": plan.loss.name,
                "released": fingerprint_of(covered),
                "public": [
                    {"name": fact.name, "value": plain(fact.value), "source": fact.source} for fact in plan.facts
                ],
                "records": {"which": which_records(plan.relation), "value": int(plan.records)},
                "events": [entry_of(step, plan.relation) for step in plan.steps],
                "total": _total(plan) if release.private else _NOTHING,
                "budget": {name: plain(getattr(plan.budget, name)) for name in _INNER["budget"]},
                "versions": {name: version_of(name) for name in _VERSIONED},
            }
        )

    @property
    def private(self) -> bool:
        """Whether a guarantee is stated at all."""
        return self.parsed["private"] is True

    @property
    def covers(self) -> tuple[str, ...]:
        """The parts of a stored fit that the digest, and so a signature, covers."""
        return ("terms",) if self.parsed["format"] == FIRST else tuple(self.parsed["released"]["covers"])

    def _derive(self, document: Mapping[str, Any]) -> Guarantee:
        relation = Relation.parse(document["relation"])
        require_count(document["records"], relation)
        budget = Budget(**{name: _number(name, value) for name, value in document["budget"].items()})
        stated = StatedModel.of(document)
        found = [
            read_entry(entry, relation, stated, f"event {n}") for n, entry in enumerate(document["events"], start=1)
        ]
        require_agreement(document, (INFINITE,) if budget.is_infinite else (None, SEEDED), _NOTHING)
        if not document["private"]:
            return Guarantee(relation, document["unit"], math.inf, 1.0, None)
        priced = [event for event in found if event is not None]
        require(len(priced) == len(found), "private is true, but an answer without noise is among the events")
        return _compared(document, compose(priced, relation), budget, relation)

    def _found(self, guarantee: Guarantee) -> str:
        nothing = f"No guarantee is stated: {self.parsed['why_not_private']}."
        return f"The events add up to the total: {guarantee}." if self.private else nothing

    def __repr__(self) -> str:
        return f"Certificate(private={self.private}, digest={self.digest!r})"


def entry_of(step: Step, relation: Relation) -> dict[str, Any]:
    """Everything the certificate says of one step, derived from the few facts that fix it."""
    times, price = int(step.times), step.price
    entry: dict[str, Any] = {
        "query": str(step.kind),
        "label": step.label,
        "times": times,
        "size": int(step.size),
        "arithmetic": arithmetic_of(step),
    }
    if price is None:
        return {**entry, "event": None, "sensitivity": None, "noise": None}
    found = events_of(step.kind, price, relation, step.size)
    event = found[0] if len(found) == 1 else Composed(found)
    if isinstance(price, SelectionPrice):
        sensitivity, noise = stated_selection(price, step.kind, relation)
    elif isinstance(price, BlockPrice):
        sensitivity, noise = stated_block_price(price)
    else:
        sensitivity, noise = _numbers_of(price, step, relation)
    return {**entry, "event": events.to_json(Repeated(event, times)), "sensitivity": sensitivity, "noise": noise}


def _numbers_of(price: AnyPrice, step: Step, relation: Relation) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sensitivity and noise of an answer, as the certificate states them."""
    noise: dict[str, Any]
    if isinstance(price, PurePrice):
        noise = {"law": "gamma norm in the objective", "bits": price.bits, "scale": str(2**price.bits)}
        stated = {"bound": str(price.bound), "ratio": str(price.ratio), "classes": str(price.classes)}
        return stated, {**noise, "cover": str(price.cover)}
    # A perturbed minimum's event holds one record's own gradient, and a batch's what a record of the batch changes.
    if isinstance(price, MinimumPrice):
        squared = price.bound**2
    elif isinstance(price, BatchPrice):
        squared = price.batches.squared_factor * price.bound**2
    else:
        squared = squared_sensitivity(step.kind, price.bound, relation, step.size)
    sensitivity = {"bound": str(price.bound), "squared": str(squared)}
    if isinstance(price, BatchPrice):
        sensitivity |= stated_batches(price.batches)
    law = "draw from a posterior" if step.kind is QueryKind.POSTERIOR else "gaussian rounded to integers"
    noise = {"law": law, "bits": price.bits, "variance": str(4**price.bits)}
    if isinstance(price, GammaPrice):
        noise = {"law": "gamma norm rounded to integers", "bits": price.bits, "scale": str(2**price.bits)}
    if isinstance(price, LaplacePrice):
        sensitivity["width"] = str(price.width)
        noise = {"law": _LAPLACE_LAW, "bits": price.bits, "scale": str(2**price.bits)}
    if isinstance(price, MinimumPrice):
        sensitivity |= {"ratio": str(price.ratio), "drift": str(price.drift.bound)}
        noise["drift_bits"] = price.drift.bits
    if isinstance(price, TwoSignedPrice):
        sensitivity["signs"] = "2"
    if isinstance(price, SoftmaxPrice):
        sensitivity["classes"] = str(price.classes)
    return sensitivity, noise


def read_entry(entry: Mapping[str, Any], relation: Relation, stated: StatedModel, place: str) -> Event | None:
    """Return the event of an entry; all it states must follow from the relation, the price and the stated model."""
    require(entry["query"] in list(QueryKind), f"{place}: unknown query; a newer version may have written it")
    require(0 <= entry["times"] < LARGEST_COUNT, f"{place}: times is not a count")
    kind, size = QueryKind(entry["query"]), entry["size"]
    largest = LARGEST_COUNT if kind in SIZED else 2
    require(1 <= size < largest, f"{place}: size is not a number of counts or means")
    price: AnyPrice | None = None
    if entry["event"] is not None:
        read = read_block_price if kind in CHOICES else _read_price
        price = read_selection_price(entry, place) if kind in SELECTIONS else read(entry, kind, place)
    derived = entry_of(Step(kind, price, entry["times"], entry["label"], size), relation)
    premises = f"does not follow from the bound, the noise, the count and the relation {relation}"
    for name, value in derived.items():
        require(canonical({name: entry[name]}) == canonical({name: value}), f"{place}: {name} {premises}")
    if price is None:
        return None
    stated.require_price(kind, price, size, place)
    return events.from_json(entry["event"])


def _read_price(entry: Mapping[str, Any], kind: QueryKind, place: str) -> AnyPrice:
    # A draw from a posterior is priced like Gaussian noise, though its proof is one over the reals.
    perturbed, real = kind is QueryKind.MINIMUM, entry["arithmetic"] == REAL and kind is not QueryKind.POSTERIOR
    proven = not real or kind in {QueryKind.NOISY_MINIMUM, QueryKind.MINIMUM}
    require(proven, f"{place}: no {kind} has the arithmetic {REAL}")
    sensitivity, noise = entry["sensitivity"], entry["noise"]
    laplace = kind is QueryKind.GRADIENT and isinstance(noise, dict) and noise.get("law") == _LAPLACE_LAW
    if kind in BATCHED:
        return read_batch_price(entry, place)
    expected = _LAPLACE if laplace else _PURE if perturbed and real else (_PRICE[0], _GAMMA) if real else _PRICE
    shape = {"signs", "classes"} & set(sensitivity or ()) if perturbed and not real else set()
    for name, own, drift in zip(("sensitivity", "noise"), expected, _DRIFT, strict=True):
        more = {**drift, **(dict.fromkeys(shape, (str,)) if name == "sensitivity" else {})}
        require_fields(entry[name], {**own, **more} if perturbed and not real else own, f"{place}: {name}")

    def price_of(bound: str, bits: str) -> Price:
        require(_DIGITS.fullmatch(sensitivity[bound]), f"{place}: sensitivity.{bound} is not a whole number")
        # An answer that is noise alone has none; the drift of a loss may be 0.
        require(bound == "drift" or sensitivity[bound] != "0", f"{place}: sensitivity.{bound} is 0")
        require(0 <= noise[bits] <= LARGEST_BITS, f"{place}: noise.{bits} is not from 0 to {LARGEST_BITS}")
        return Price(int(sensitivity[bound]), noise[bits])

    def ratio_of(fields: Mapping[str, Any], name: str) -> Fraction:
        require(_RATIO.fullmatch(fields[name]), f"{place}: {name} is not a positive fraction")
        return Fraction(fields[name])

    def classes_of(least: int) -> int:
        counted = _CLASSES.fullmatch(sensitivity["classes"]) and int(sensitivity["classes"]) >= least
        require(counted, f"{place}: sensitivity.classes is not a number of classes")
        return int(sensitivity["classes"])

    price = price_of("bound", "bits")
    if perturbed and real:
        ratio, cover = ratio_of(sensitivity, "ratio"), ratio_of(noise, "cover")
        return PurePrice(price.bound, price.bits, ratio, cover, classes_of(1))
    if laplace:
        require(_CLASSES.fullmatch(sensitivity["width"]), f"{place}: sensitivity.width is not a number of coordinates")
        return LaplacePrice(price.bound, price.bits, int(sensitivity["width"]))
    if not perturbed:
        return GammaPrice(price.bound, price.bits) if real else price
    numbers = price.bound, price.bits, ratio_of(sensitivity, "ratio"), price_of("drift", "drift_bits")
    if shape == {"classes"}:
        return SoftmaxPrice(*numbers, classes_of(2))
    return (TwoSignedPrice if shape else MinimumPrice)(*numbers)


@functools.cache
def version_of(name: str) -> str:
    """Version of Python or of an installed package; looked up once: that takes milliseconds."""
    if name == "python":
        return platform.python_version()
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def first_fingerprint_of(estimates: Sequence[Sequence[Any]]) -> str:
    """Return the fingerprint of 0.1.0: of (name, coef, std_err, lower, upper) of each term."""
    text = json.dumps(plain(estimates), ensure_ascii=True, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _total(plan: Plan) -> dict[str, Any]:
    noised = all(step.price is not None for step in plan.steps)
    require(noised, "the plan claims to be private, but one of its answers has no noise; price every step")
    delta = plan.budget.delta
    if delta is None:
        raise BudgetError("the budget has no delta to report at; call with_delta on it first")
    composition = compose(plan.events(), plan.relation)
    # Without a μ, as where an objective was perturbed, ε rests on Fourier transforms; at δ = 0 it is an exact sum.
    rounding = ROUNDING if composition.square is None and not plan.budget.is_pure else 0.0
    epsilon = plain(composition.epsilon(delta) * (1.0 + rounding))
    return {"epsilon": epsilon, "delta": delta, "mu": plain(composition.mu), "mu_squared": _square(composition)}


def _square(composition: Composition) -> str | None:
    return None if composition.square is None else str(composition.square)


def _compared(document: Mapping[str, Any], composition: Composition, budget: Budget, relation: Relation) -> Guarantee:
    total, square = document["total"], composition.square
    require(total["mu_squared"] == _square(composition), "total.mu_squared is not the sum over the events")
    require(total["delta"] == budget.delta, "total.delta is not the delta of the budget")
    derived = {"epsilon": composition.epsilon(total["delta"])}
    if square is None:
        require(total["mu"] is None, "total.mu is stated, but the events have none")
    else:
        derived["mu"] = composition.mu or 0.0
    stated = {name: _number(f"total.{name}", total[name]) for name in derived}
    require_total(stated, derived)
    # Without a μ only a budget of ε and δ can say so.
    most = -math.inf if budget.epsilon is None else budget.epsilon
    within = stated["epsilon"] <= most * (1.0 + float(TOLERANCE))
    if square is not None and not budget.is_pure:
        within = square <= mu_squared_of(budget) * (1 + TOLERANCE)
    require(within, "the events add up to more than the budget")
    premise = premise_of([fact["name"] for fact in document["public"]])
    return Guarantee(relation, document["unit"], stated["epsilon"], total["delta"], stated.get("mu"), premise)


def _number(place: str, value: Any) -> Any:
    """Return a float, None where there is none; the one string that is a number is "inf"."""
    require(not isinstance(value, str) or value == "inf", f'{place} is not a number; expected one, or "inf"')
    return value if value is None else float(value)
