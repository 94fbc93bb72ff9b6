"""The certificate of a search: it adds up, and no altered one does."""

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.certificate.search_certificate import SearchCertificate
from tacit.documents.canonical_json import digest_of

FORGERIES: dict[str, Any] = {
    "less epsilon": lambda it: it["total"].update(epsilon=1.0),
    "no refit": lambda it: it["events"].pop(),
    "fewer trials": lambda it: it["events"][0]["law"].update(gamma="9/10"),
    "no fit": lambda it: it["trial_fit"].clear(),
    "a cheaper refit": lambda it: it["events"][1].update(squared_sensitivity="1/10000000"),
    "another delta": lambda it: it["total"].update(delta=1e-3),
    "infinite epsilon": lambda it: it["total"].update(epsilon="inf"),
    "no score": lambda it: it["trial_score"].clear(),
    "scores of public rows": lambda it: it["public"].append(
        {"name": "validation rows", "value": "public rows", "source": "declared"}
    ),
    "records": lambda it: it["records"].update(which="banana", value=-7),
    "settings": lambda it: it.update(settings=-3),
    "no reason": lambda it: it.update(private=False, why_not_private="whatever"),
    "a total without privacy": lambda it: it.update(private=False, why_not_private="noise from a fixed seed"),
    "released": lambda it: it["released"].update(covers=[1, 2, {"a": 3}], sha256="zz"),
    "a fixed parameter": lambda it: it.update(chosen={"epsilon": 5.0}),
}


@pytest.fixture(scope="module")
def certificate() -> SearchCertificate:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (500, 2))
    model = tacit.LogisticRegression(epsilon=2.0, delta=1e-6, bounds=(-1, 1), classes=[False, True])
    search = tacit.PrivateSearchCV(model, {"l2": [1e-3, 1e-2]}, refit=True, law="geometric", mean_runs=2)
    found: SearchCertificate = search.fit(X, X[:, 0] > 0).certificate_
    return found


def test_it_adds_up_and_is_read_back(certificate: SearchCertificate) -> None:
    assert certificate.check().consistent
    assert SearchCertificate.from_json(certificate.to_json()) == certificate
    assert certificate.covers == ("score", "terms")


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(certificate: SearchCertificate, name: str) -> None:
    forged = certificate.document
    FORGERIES[name](forged)
    assert forged != certificate.document
    forged["digest"] = digest_of(forged)
    with pytest.raises(tacit.errors.CertificateError):
        SearchCertificate.of(forged).check()
