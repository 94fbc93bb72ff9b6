"""Documents that add up, but whose prices are not those of the model that they state, are refused."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.certificate.certificate import Certificate
from tacit.certificate.fit_file import Estimates, StoredFit, Term
from tacit.contract.plan import Penalty, Plan, PublicFact
from tacit.contract.release import Release
from tacit.design.design import matrix_design
from tacit.design.feature_map import Polynomial
from tacit.design.response import Absent, Binary, Classes, Continuous, Response
from tacit.documents.canonical_json import digest_of
from tacit.documents.dataclass_json import to_plain
from tacit.errors import CertificateError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

MODELS: dict[str, tuple[Loss, Response]] = {
    "logistic": (classification.LOGISTIC, Binary("y", (0, 1))),
    "huberised-hinge": (classification.hinge(), Binary("y", (0, 1))),
    "huber": (regression.huber(0.5), Continuous.of("y", -1.0, 1.0)),
    "pinball": (regression.pinball(0.5, 0.1), Continuous.of("y", -1.0, 1.0)),
    "softmax": (classification.SOFTMAX, Classes.of("y", ("a", "b", "c"))),
}
ONE_SIGNED = {"logistic", "huberised-hinge"}


def plan_of(name: str, solver: str, delta: float = 1e-6, **options: Any) -> Plan:
    loss, response = MODELS[name]
    design = matrix_design(["a", "b"], response, bounds=(0, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=1.0, delta=delta)
    facts = PublicFacts(design, 3000, Relation.REPLACE_ONE, "row", budget, Penalty(), loss)
    plan = make_plan(facts, SolverOptions(solver, **options))
    return plan.with_facts(PublicFact("classes", list(response.classes), "declared"))


def document_of(plan: Plan) -> dict[str, Any]:
    theta = np.zeros((plan.design.width, plan.design.outputs)).squeeze()
    return Certificate.issue(Release(plan, theta)).document


def check(document: Mapping[str, Any], **changes: Any) -> None:
    changed = {**document, **changes}
    Certificate.from_json(json.dumps({**changed, "digest": digest_of(changed)})).check()


def with_fact(document: Mapping[str, Any], name: str, *values: Any) -> list[dict[str, Any]]:
    others = [fact for fact in document["public"] if fact["name"] != name]
    return others + [{"name": name, "value": value, "source": "declared"} for value in values]


@pytest.mark.parametrize("solver", ["objective-perturbation", "objective-perturbation-kst"])
@pytest.mark.parametrize("name", [*MODELS])
def test_the_signs_of_a_price_are_those_of_the_loss(name: str, solver: str) -> None:
    """A one-signed loss costs less: its price is refused beside a loss of two signs, and under no other name."""
    if name == "softmax" and solver.endswith("kst"):
        return
    document = document_of(plan_of(name, solver))
    check(document)
    for other in MODELS:
        alike = (name in ONE_SIGNED) == (other in ONE_SIGNED) and "softmax" not in (name, other)
        if alike or other == name:
            check(document, loss=other)
        else:
            with pytest.raises(CertificateError, match=f"event 1: .* not those of the {other} loss"):
                check(document, loss=other)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("solver", ["objective-perturbation", "output-perturbation"])
@pytest.mark.parametrize("name", ["logistic", "huber", "softmax"])
def test_minima_are_of_losses_with_a_proof_and_of_plain_records(name: str, solver: str, delta: float) -> None:
    document = document_of(plan_of(name, solver, delta))
    check(document)
    if solver == "output-perturbation" and name != "softmax":
        check(document, loss="squared")
    for other in ("squared",) * (solver == "objective-perturbation") + ("smooth-huber", "poisson", "logistic ", ""):
        with pytest.raises(CertificateError, match="no proof"):
            check(document, loss=other)
    with pytest.raises(CertificateError, match="own loss, whose curvature nothing bounds"):
        check(document, loss="own: mine")
    for fact in ("max_rows_per_unit", "number of units", "unit"):
        with pytest.raises(CertificateError, match="plain records"):
            check(document, public=with_fact(document, fact, 3))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_classes_of_a_price_are_those_that_are_stated(delta: float) -> None:
    document = document_of(plan_of("softmax", "objective-perturbation", delta))
    facts: Sequence[tuple[tuple[Any, ...], str]] = [
        ((["a", "b"],), "signs or classes"),
        ((["a", "b", "c", "d"],), "signs or classes"),
        ((3,), "are not stated"),
        ((), "are not stated"),
        ((["a", "b", "c"], ["a", "b"]), "stated twice"),
    ]
    for values, match in facts:
        with pytest.raises(CertificateError, match=match):
            check(document, public=with_fact(document, "classes", *values))
    margin = document_of(plan_of("logistic", "objective-perturbation", delta))
    with pytest.raises(CertificateError, match="signs or classes"):
        check(margin, loss="softmax")


@pytest.mark.parametrize("sampling", ["without-replacement", "with-replacement"])
def test_batches_of_fixed_size_are_drawn_from_the_records_that_are_stated(sampling: str) -> None:
    document = document_of(plan_of("logistic", "stochastic", sampling=sampling))
    check(document)
    for value in (100, 3_000_000):
        with pytest.raises(CertificateError, match="another number of records"):
            check(document, records={"which": "n", "value": value})


@pytest.mark.parametrize("mapped", [False, True])
def test_the_width_of_laplace_noise_is_that_of_the_columns(mapped: bool) -> None:
    """Fewer coordinates would cost less."""
    names, feature_map = ["a", "b"], Polynomial(2) if mapped else None
    design = matrix_design(names, Absent(), bounds=(0, 1), row_norm=None, intercept=True, feature_map=feature_map)
    budget = Budget(epsilon=1.0, delta=0)
    facts = PublicFacts(design, 3000, Relation.REPLACE_ONE, "row", budget, Penalty(), regression.DISTANCE)
    plan = make_plan(facts, SolverOptions("auto")).with_facts(PublicFact("columns", names, "assumed"))
    if mapped:
        plan = plan.with_facts(PublicFact("feature_map", to_plain(feature_map), "declared"))
    document = document_of(plan)
    assert document["events"][0]["sensitivity"]["width"] == str(6 if mapped else 3)
    for values, match in (((["a"],), "width"), ((["a", "b", "c"],), "width"), ((), "are not stated")):
        with pytest.raises(CertificateError, match=match):
            check(document, public=with_fact(document, "columns", *values))
    other = {"kind": "random-fourier", "count": 1, "scale": 1.0, "seed": 0}
    with pytest.raises(CertificateError, match="width"):
        check(document, public=with_fact(document, "feature_map", other if mapped else to_plain(Polynomial(3))))
    with pytest.raises(CertificateError, match="feature map"):
        check(document, public=with_fact(document, "feature_map", {"kind": "none"}))


def test_no_answer_that_rests_on_a_curvature_is_certified_for_an_own_loss() -> None:
    document = document_of(plan_of("logistic", "double-noise-newton"))
    check(document)
    with pytest.raises(CertificateError, match="own loss"):
        check(document, loss="own: mine")


FAMILIES = {"logistic": "binomial", "huber": "huber", "pinball": "quantile", "softmax": "multinomial"}


@pytest.mark.parametrize("solver", ["objective-perturbation", "output-perturbation"])
@pytest.mark.parametrize("name", [*FAMILIES])
def test_a_stored_fit_is_of_the_loss_that_its_certificate_is_priced_for(name: str, solver: str) -> None:
    plan = plan_of(name, solver)
    theta = np.zeros((plan.design.width, plan.design.outputs)).squeeze()
    fit = StoredFit.from_release(Release(plan, theta), FAMILIES[name])
    assert StoredFit.from_json(fit.to_json()) == fit
    for family in set(FAMILIES.values()) - {FAMILIES[name]}:
        with pytest.raises(CertificateError, match=r"of a loss that no|of its family's kind"):
            replace(fit, family=family)
    if name == "softmax":
        fewer = replace(plan.design, response=Classes.of("y", ("a", "b", "c", "d")))
        terms = tuple(Term(term, 0.0) for term in fewer.each_term())
        with pytest.raises(CertificateError, match="another number of classes"):
            replace(fit, design=fewer, estimates=Estimates(terms))


@pytest.mark.parametrize("loss", ["softmax", "own: anything", "logistic"])
def test_laplace_noise_is_priced_for_means_alone(loss: str) -> None:
    """The fault: the width of the columns was taken for that of a gradient of ten classes."""
    design = matrix_design(["a", "b"], Absent(), bounds=(0, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=1.0, delta=0)
    facts = PublicFacts(design, 3000, Relation.REPLACE_ONE, "row", budget, Penalty(), regression.DISTANCE)
    plan = make_plan(facts, SolverOptions("auto")).with_facts(PublicFact("columns", ["a", "b"], "assumed"))
    document = Certificate.issue(Release(plan, np.zeros(plan.design.width))).document
    assert document["events"][0]["noise"]["law"] == "discrete laplace"
    check(document)
    with pytest.raises(CertificateError, match="for means alone"):
        check(document, loss=loss, public=with_fact(document, "classes", list(range(10))))
