import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.accounting.composition import mu_squared_of
from tacit.certificate.certificate import Certificate
from tacit.certificate.fit_file import FORMAT, StoredFit, Term, read_certificate
from tacit.certificate.stated_parts import fingerprint_of
from tacit.contract.plan import Penalty, Plan, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.contract.sensitivity import price_for
from tacit.design.design import Column, Design, matrix_design
from tacit.design.factor import Indicator, Numeric
from tacit.design.response import Binary
from tacit.documents.canonical_json import canonical, digest_of
from tacit.documents.signature import new_key, sign
from tacit.errors import CertificateError, FileError, SettingError
from tacit.files import write_text
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.gradient import Gradient
from tacit.solvers.noisy_steps import Descent

BINARY = Binary("y", (np.str_("no"), np.str_("yes")))
BOUNDED = matrix_design(["a", "b"], BINARY, bounds=([0, -5], [1, 9]), row_norm=None, intercept=True)
UNBOUNDED = matrix_design(["a", "b"], BINARY, bounds=None, row_norm=3.0, intercept=False)
FACTORS = Design(
    (Column("age:ward[b]", (Numeric("age"), Indicator("ward", "b")), 0, 110, 0, 110),),
    BINARY,
    1,
    levels={"ward": ("a", "b"), "sex": ("f", "m")},
)


def make_release(design: Design = BOUNDED, epsilon: float = 1.0) -> Release:
    budget = Budget(epsilon=epsilon, delta=1e-6)
    relation = Relation.ADD_REMOVE
    share = mu_squared_of(budget) / 5
    price = price_for(QueryKind.GRADIENT, share, relation, records=100, width=design.width)
    plan = Plan(
        solver=Gradient(Descent(20, 1.0, 0.0, None, "average")),
        loss=classification.LOGISTIC,
        design=design,
        records=100,
        relation=relation,
        unit="row",
        budget=budget,
        steps=(Step(QueryKind.GRADIENT, price, 5, Purpose.DESCENT),),
        penalty=Penalty(),
        forecast=None,
    )
    return Release(plan, np.linspace(-1.0, 2.0, design.width) / 3)


RELEASE = make_release()
FIT = StoredFit.from_release(RELEASE)


def forged(document: dict[str, Any]) -> str:
    """What a forger writes who recomputes every digest, as he can where nothing is signed."""
    certificate = {**document["certificate"]}
    if certificate:
        parts = set(document) - {"format", "certificate", "digest"}
        certificate["released"] = fingerprint_of({name: document[name] for name in parts})
        certificate["digest"] = digest_of(certificate)
    document = {**document, "certificate": certificate}
    return canonical({**document, "digest": digest_of(document)})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def with_place(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(document))
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


@pytest.mark.parametrize("design", [BOUNDED, UNBOUNDED, FACTORS], ids=["box", "norm", "factors"])
def test_a_round_trip_keeps_every_bit(design: Design, tmp_path: Path) -> None:
    release = make_release(design)
    fit = StoredFit.from_release(release)
    fit.write(tmp_path / "fit.json")
    again = StoredFit.read(tmp_path / "fit.json")
    assert again == fit
    assert again.design == design
    assert again.coefficients.tobytes() == release.coefficients().tobytes()
    assert again.certificate == fit.certificate
    assert again.not_covered == ()
    assert again.design.names == tuple(term["name"] for term in again.terms)
    # A reader of JSON that knows no infinity can read it.
    text = (tmp_path / "fit.json").read_text(encoding="utf-8")
    json.loads(text, parse_constant=pytest.fail)


def test_infinite_bounds_are_words() -> None:
    column = StoredFit.from_release(make_release(UNBOUNDED)).document["design"]["columns"][0]
    assert (column["lower"], column["upper"]) == ("-inf", "inf")


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (0, 1), (0.0, 1.5), (False, True), ("1", 1), ("-inf", "inf"), ("ä", "\n")]
)
def test_labels_keep_their_type(labels: tuple[Any, Any]) -> None:
    wrapped = tuple(np.array([label])[0] for label in labels)
    for first, second in (labels, wrapped):
        design = matrix_design(["a"], Binary("y", (first, second)), bounds=(0, 1), row_norm=None, intercept=True)
        fit = StoredFit.from_release(make_release(design))
        found = StoredFit.from_json(fit.to_json()).design.response.classes
        assert found == labels
        assert [type(label) for label in found] == [type(label) for label in labels]


@pytest.mark.parametrize("labels", [(0, math.inf), (math.nan, 1), (1, 1.0), (b"a", b"b"), (None, 1), ((1, 2), 3)])
def test_labels_that_json_cannot_hold_are_refused(labels: tuple[Any, Any]) -> None:
    design = matrix_design(["a"], Binary("y", labels), bounds=(0, 1), row_norm=None, intercept=True)
    with pytest.raises(CertificateError, match="label"):
        StoredFit.from_release(make_release(design))


def test_standard_errors_and_intervals_are_kept_where_there_are_any() -> None:
    coefficients = RELEASE.coefficients()
    estimates = [
        Term("Intercept", coefficients[0], 0.1, -math.inf, math.inf),
        Term("a", coefficients[1], math.inf, None, 1),
        Term("b", coefficients[2]),
    ]
    fit = StoredFit.from_release(RELEASE, estimates=estimates)
    again = StoredFit.from_json(fit.to_json())
    assert again == fit
    assert again.terms[0]["lower"] == -math.inf
    assert again.terms[1] == {"name": "a", "coef": coefficients[1], "std_err": math.inf, "lower": None, "upper": 1.0}
    assert fit.document["terms"][0]["lower"] == "-inf"


def test_a_certificate_signed_meanwhile_is_kept(tmp_path: Path) -> None:
    public = new_key(tmp_path / "key.pem")
    signed = sign(FIT.certificate, tmp_path / "key.pem")
    fit = StoredFit.from_release(RELEASE, certificate=signed)
    fit.write(tmp_path / "fit.json")
    assert StoredFit.read(tmp_path / "fit.json").certificate.check(public).signed
    other = Certificate.issue(make_release(epsilon=0.5))
    with pytest.raises(SettingError, match="another release"):
        StoredFit.from_release(RELEASE, certificate=other)


def test_a_certificate_is_read_alone_or_from_a_fit(tmp_path: Path) -> None:
    FIT.write(tmp_path / "fit.json")
    write_text(tmp_path / "certificate.json", FIT.certificate.to_json())
    assert read_certificate(tmp_path / "fit.json") == FIT.certificate
    assert read_certificate(tmp_path / "certificate.json") == FIT.certificate
    with pytest.raises(CertificateError, match="certificate alone"):
        StoredFit.read(tmp_path / "certificate.json")
    with pytest.raises(CertificateError):
        Certificate.from_json(FIT.to_json())


def test_every_altered_place_is_found() -> None:
    document = FIT.document
    found = list(places(document))
    assert len(found) > 80
    for path in found:
        with pytest.raises(CertificateError):
            StoredFit.from_json(json.dumps(with_place(document, path, 12345)))
    other = with_place(document, ("terms", 0, "coef"), 0.25)
    with pytest.raises(CertificateError, match="digest does not fit"):
        StoredFit.from_json(json.dumps(other))


def is_harmless(path: tuple[Any, ...], value: Any) -> bool:
    """Whether a value may stand at a place without contradicting anything else in the fit."""
    if path[-1] == "column" or "levels" in path[:-1]:
        return isinstance(value, str)
    if path[-2:-1] == ("classes",):
        return isinstance(value, str | bool | int)
    if path == ("reliability", "statement"):
        return value is None or isinstance(value, str)
    if path[0] == "terms" and path[-1] in {"std_err", "lower", "upper"}:
        return value is None
    return (path[-1] == "levels" and value == {}) or (path[-1] == "intercept" and value is True)


@pytest.mark.parametrize("design", [UNBOUNDED, FACTORS], ids=["norm", "factors"])
def test_every_misplaced_type_is_found_though_the_digest_fits(design: Design) -> None:
    document = StoredFit.from_release(make_release(design)).document
    parts = {name: document[name] for name in set(document) - {"certificate", "digest"}}
    values: list[Any] = [None, True, [], {}, "1.0", "nan", 10**400, [[1]], "infinity"]
    for path in places(parts):
        for value in values:
            changed = with_place(document, path, value)
            if is_harmless(path, value) or canonical(changed) == canonical(document):
                continue
            with pytest.raises(CertificateError):
                StoredFit.from_json(forged(changed))


def test_an_indicator_of_an_undeclared_level_is_refused() -> None:
    document = StoredFit.from_release(make_release(FACTORS)).document
    declared: list[dict[str, list[str]]] = [{}, {"ward": ["a", "c"]}, {"ward": ["b", "b"]}]
    for levels in declared:
        changed = with_place(document, ("design", "levels"), levels)
        with pytest.raises(CertificateError, match="level"):
            StoredFit.from_json(forged(changed))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "tacit-fit/4"),
        (("family",), "poisson"),
        (("terms", 1, "name"), "b"),
        (("terms", 1, "coef"), "inf"),
        (("terms", 1, "std_err"), -1.0),
        (("terms", 1, "lower"), "nan"),
        (("terms",), []),
        (("design", "columns", 0, "name"), "b"),
        (("design", "columns", 0, "scale"), 0.0),
        (("design", "columns", 0, "lower"), 2.0),
        (("design", "columns", 0, "lower"), "nan"),
        (("design", "columns", 0, "center"), "inf"),
        (("design", "columns", 0, "factors"), []),
        (("design", "columns", 0, "further"), 1),
        (("design", "feature_norm"), -1.0),
        (("design", "feature_norm"), 1),
        (("design", "intercept"), 1),
        (("design", "response", "classes"), "ny"),
        (("design", "response", "classes"), ["yes", "yes"]),
        (("design", "response", "classes", 0), []),
        (("certificate", "total", "epsilon"), 0.1),
        (("scatter",), {"sampling": [1.0], "privacy": [1.0], "degrees": [1.0]}),
        (("scatter",), {"sampling": ["nan"] * 3, "privacy": [1.0] * 3, "degrees": [1.0] * 3}),
        (("covariance",), [[1.0], [0.0, 1.0]]),
        (("covariance",), [[1.0], [0.0, 1.0], ["inf", 0.0, 1.0]]),
        (("covariance",), [[1.0], [0.0, 1.0], {}]),
        (("reliability", "terms"), ["nominal"]),
        (("reliability", "notes"), [1]),
        (("certificate",), {}),
    ],
)
def test_a_forgery_is_found_though_the_digest_fits(path: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(CertificateError):
        StoredFit.from_json(forged(with_place(FIT.document, path, value)))


def test_a_certificate_of_other_coefficients_is_refused() -> None:
    document = StoredFit.from_release(make_release()).document
    document["terms"][1]["coef"] += 0.125
    document["digest"] = digest_of(document)
    with pytest.raises(CertificateError, match="issued for another fit"):
        StoredFit.from_json(canonical(document))


def test_an_interval_with_reversed_ends_is_refused() -> None:
    with pytest.raises(CertificateError, match="reversed"):
        Term("a", 1.0, 0.1, 2.0, 1.0)


def test_a_cut_file_and_a_hostile_file_are_refused(tmp_path: Path) -> None:
    content = FIT.to_json().encode()
    path = tmp_path / "fit.json"
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(CertificateError):
            StoredFit.read(path)
    nested = b'{"format": "' + FORMAT.encode() + b'", "design": ' + b"[" * 10**6
    for hostile in (nested, b"\x80\x04K\x01.", b"PAR1", b" " * (2**24 + 1)):
        path.write_bytes(hostile)
        with pytest.raises(CertificateError):
            StoredFit.read(path)


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path, Path("no\0name")):
        with pytest.raises(FileError, match="cannot be read"):
            StoredFit.read(path)
    for path in (tmp_path / "nowhere" / "fit.json", tmp_path, Path("no\0name")):
        with pytest.raises(FileError, match="cannot be written"):
            FIT.write(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "fit.json"
    path.write_text("before", encoding="utf-8")
    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(FileError, match="No space left"):
        FIT.write(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_at_the_moment_of_replacement_the_draft_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fit.json"
    replace = os.replace

    def watched(source: Path, target: Path) -> None:
        assert StoredFit.read(source) == FIT
        assert not path.exists()
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    FIT.write(path)
    assert StoredFit.read(path) == FIT
    assert list(tmp_path.iterdir()) == [path]
