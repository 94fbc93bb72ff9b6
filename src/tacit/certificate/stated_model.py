"""What a certificate states of its model, and prices that do not fit it.

Some prices rest on more than the relation: the signs of a loss's slope, the number of classes, the number of records
that batches are drawn from, the number of coordinates. Each is compared with what the document says of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.contract.batches import BatchPrice, Sampling
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import AnyPrice, LaplacePrice, PerturbedPrice, is_price_of
from tacit.design.feature_map import FeatureMap
from tacit.documents.canonical_json import require
from tacit.documents.dataclass_json import from_plain
from tacit.losses import classification, regression
from tacit.losses.loss import Loss

MINIMA = frozenset({QueryKind.MINIMUM, QueryKind.NOISY_MINIMUM})
_CURVED = frozenset({QueryKind.SANDWICH, QueryKind.DIRECTION, *MINIMA})
"""Answers whose bound rests on that of a curvature."""
_MINIMISED: Mapping[str, Loss] = {
    loss.name: loss
    for loss in (
        classification.LOGISTIC,
        classification.SOFTMAX,
        classification.hinge(),
        regression.huber(1.0),
        regression.pinball(0.5),
    )
}
"""Losses whose minima have a proof; their shapes play no part in a price."""
_DRAWN = frozenset({classification.LOGISTIC.name, regression.SQUARED.name, regression.huber(1.0).name})
"""Losses whose posteriors, or those of their smooth relatives, are drawn from."""
_OF_FAMILY: Mapping[str, frozenset[str]] = {
    "binomial": frozenset({"logistic", "huberised-hinge"}),
    "multinomial": frozenset({"softmax"}),
    "gaussian": frozenset({"huber", "squared"}),
    "huber": frozenset({"huber"}),
    "quantile": frozenset({"pinball"}),
}
"""Which of them a family minimises."""
_ASKED_BY: Mapping[QueryKind, frozenset[str]] = {
    QueryKind.SELECTION: frozenset({"exponential", "hypotheses"}),
    QueryKind.SIGNED_SELECTION: frozenset({"frank-wolfe", "selection"}),
    QueryKind.POSTERIOR: frozenset({"exponential"}),
    QueryKind.BLOCK_MEAN: frozenset({"aggregate", "subsample-and-aggregate"}),
    QueryKind.BLOCK_MEDIAN: frozenset({"subsample-and-aggregate"}),
    QueryKind.BLOCK_DEPTH: frozenset({"deep-point"}),
    QueryKind.VOTE_CHECKS: frozenset({"teachers"}),
    QueryKind.VOTE_COUNTS: frozenset({"teachers"}),
}
"""Which solvers ask for a selection, a draw or an aggregate of blocks: the price of another kind is not theirs."""
_OWN = "own: "
_STATED_ONCE = ("classes", "columns", "feature_map", "output_bounds", "public rows")
"""Facts that prices rest on."""
_PERSONS = frozenset({"max_rows_per_unit", "number of units", "unit"})
"""Facts of tables in which a person has several records."""


@dataclass(frozen=True)
class StatedModel:
    """Solver, loss, number of records and public facts, as a document states them."""

    solver: str | None
    """None where several may have been run, as in a search."""
    loss: str
    records: int
    facts: Mapping[str, Any]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> StatedModel:
        """Read what a document states; a fact that is stated twice could be either."""
        names = [fact["name"] for fact in document["public"]]
        once = all(names.count(name) <= 1 for name in _STATED_ONCE)
        require(once, f"one of {', '.join(_STATED_ONCE)} is stated twice")
        facts = {fact["name"]: fact["value"] for fact in document["public"]}
        return cls(document.get("solver"), document["loss"], document["records"]["value"], facts)

    def require_price(self, kind: QueryKind, price: AnyPrice, size: int, place: str) -> None:
        """Refuse a price that is not one of this model's."""
        asked = self.solver is None or kind not in _ASKED_BY or self.solver in _ASKED_BY[kind]
        require(asked, f"{place}: the solver that is stated asks for no {kind}")
        self._require_size(kind, size, place)
        require(
            not (kind in _CURVED and self.loss.startswith(_OWN)),
            f"{place}: no {kind} is priced for an own loss, whose curvature nothing bounds",
        )
        if kind in {QueryKind.POSTERIOR, QueryKind.SELECTION}:
            plain = not _PERSONS & set(self.facts)
            require(plain, f"{place}: a {kind} is for plain records, and persons with several are stated")
        if kind is QueryKind.POSTERIOR:
            require(self.loss in _DRAWN, f"{place}: there is no proof for a {kind} of the loss that is stated")
        if kind in MINIMA:
            # Output perturbation of least squares minimises Huber's loss, quadratic within the response's bounds.
            squared = kind is QueryKind.NOISY_MINIMUM and self.loss == regression.SQUARED.name
            require(
                squared or self.loss in _MINIMISED,
                f"{place}: there is no proof for a {kind} of the loss that is stated",
            )
            plain = not _PERSONS & set(self.facts)
            require(plain, f"{place}: a {kind} is for plain records, and persons with several are stated")
        if isinstance(price, PerturbedPrice):
            loss = _MINIMISED[self.loss]
            fits = is_price_of(price, loss, self._classes(place) if loss is classification.SOFTMAX else 1)
            require(fits, f"{place}: signs or classes of the price are not those of the {self.loss} loss")
        if isinstance(price, BatchPrice) and price.batches.sampling is not Sampling.POISSON:
            same = price.batches.population == self.records
            require(same, f"{place}: batches are drawn from another number of records than is stated")
        if isinstance(price, LaplacePrice):
            proven = self.loss == regression.DISTANCE.name
            require(proven, f"{place}: Laplace noise is priced for means alone, not for the loss that is stated")
            require(price.width == self._coordinates(place), f"{place}: sensitivity.width is not that of the columns")

    def _require_size(self, kind: QueryKind, size: int, place: str) -> None:
        """Refuse another number of medians than there are bounds, and of votes than there are public rows."""
        if kind is QueryKind.BLOCK_MEDIAN:
            bounds = self.facts.get("output_bounds")
            pair = isinstance(bounds, list) and len(bounds) == 2 and all(isinstance(end, list) for end in bounds)
            require(pair, f"{place}: the output_bounds, on which its price rests, are not stated")
            same = {len(end) for end in bounds} == {size}  # type: ignore[union-attr]
            require(same, f"{place}: there are not as many medians as output_bounds")
        if kind in {QueryKind.VOTE_CHECKS, QueryKind.VOTE_COUNTS}:
            rows = self.facts.get("public rows")
            whole = isinstance(rows, int) and not isinstance(rows, bool)
            require(whole, f"{place}: the number of public rows, on which its price rests, is not stated")
            fits = size == rows if kind is QueryKind.VOTE_CHECKS else size <= rows  # type: ignore[operator]
            require(fits, f"{place}: there are not as many {kind} as public rows")

    def _classes(self, place: str) -> int:
        classes = self.facts.get("classes")
        require(isinstance(classes, list), f"{place}: the classes, on which its price rests, are not stated")
        return len(classes)  # type: ignore[arg-type]

    def _coordinates(self, place: str) -> int:
        """Numbers of a prepared row, its constant included."""
        columns, feature_map = self.facts.get("columns"), self.facts.get("feature_map")
        require(isinstance(columns, list), f"{place}: the columns, on which its price rests, are not stated")
        count = len(columns)  # type: ignore[arg-type]
        if feature_map is not None:
            mapped: FeatureMap = from_plain(FeatureMap, feature_map, f"{place}: the feature map")  # type: ignore[arg-type]
            count = mapped.outputs(count)
        return count + 1


def require_family(document: Mapping[str, Any], family: str, classes: int) -> None:
    """Refuse a certificate whose prices are of another loss, or number of classes, than the fit that it is for."""
    if any(entry["query"] in MINIMA for entry in document["events"]):
        stated = StatedModel.of(document)
        require(stated.loss in _OF_FAMILY.get(family, ()), f"the certificate is of a loss that no {family} fit has")
        many = stated.loss == classification.SOFTMAX.name and len(stated.facts.get("classes", ())) != classes
        require(not many, "the certificate is of another number of classes than the fit")
