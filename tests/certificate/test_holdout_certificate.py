"""The certificate of a holdout: it adds up, and no altered one does."""

from typing import Any

import pytest

from tacit.certificate.holdout_certificate import HoldoutCertificate
from tacit.contract.holdout_price import holdout_price
from tacit.documents.canonical_json import digest_of
from tacit.errors import CertificateError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

BUDGET, RELATION = Budget(epsilon=1.0, delta=1e-6), Relation.REPLACE_ONE
FORGERIES: dict[str, Any] = {
    "less epsilon": lambda it: it["total"].update(epsilon=0.5),
    "fewer releases": lambda it: it.update(releases=2),
    "a smaller bound": lambda it: it["sensitivity"].update(bound="10"),
    "another law": lambda it: it["noise"].update(law="none at all"),
    "more noise": lambda it: it["noise"].update(bits=it["noise"]["bits"] + 1),
    "cheaper events": lambda it: it["events"].reverse(),
    "no events": lambda it: it["events"].clear(),
    "another relation": lambda it: it.update(relation="zero-out"),
    "a private n": lambda it: it.update(relation="add-remove"),
    "another delta": lambda it: it["total"].update(delta=1e-3),
    "a smaller budget": lambda it: it["budget"].update(epsilon=0.5),
}


def issued(*, seeded: bool = False) -> HoldoutCertificate:
    price = holdout_price(BUDGET, RELATION, 5, 1000)
    answers = [["x", 0.5, True]]
    return HoldoutCertificate.issue(price, BUDGET, RELATION, "row", records=1000, answers=answers, seeded=seeded)


def test_it_adds_up_and_is_read_back() -> None:
    found = issued()
    assert found.check().consistent
    assert found.private
    assert found.covers == ("answers",)
    assert HoldoutCertificate.from_json(found.to_json()) == found
    assert found.parsed["total"]["epsilon"] <= 1.0


def test_noise_of_a_seed_promises_nothing() -> None:
    found = issued(seeded=True)
    assert not found.private
    assert found.check().consistent
    assert found.parsed["total"]["epsilon"] == "inf"


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(name: str) -> None:
    forged = issued().document
    FORGERIES[name](forged)
    forged["digest"] = digest_of(forged)
    with pytest.raises(CertificateError):
        HoldoutCertificate.of(forged).check()
