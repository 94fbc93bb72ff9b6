"""What a ledger promises, in words."""

from tacit.documents.canonical_json import canonical, digest_of
from tacit.ledger.joint_certificate import JointCertificate
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian
from tacit.report.statements import MOST_ANALYSTS, analyst_table, joint_promise


def certificate(*analysts: str | None, unit: str = "patient") -> JointCertificate:
    ledger = Ledger(budget=Budget(epsilon=3, delta=1e-6), dataset="clinic 2024")
    for number in range(len(analysts)):
        charge = ledger.reserve([Gaussian(1, 900)], relation="replace-one", unit=unit, label="")
        if number:
            ledger.commit(charge, "sha256:0")
    document = ledger.certificate().document
    for charge_document, analyst in zip(document["charges"], analysts, strict=True):
        charge_document["analyst"] = analyst
    document["digest"] = digest_of(document)
    return JointCertificate(canonical(document))


def test_the_promise_is_for_all_charges_together() -> None:
    text = joint_promise(certificate("ada", "grace", None))
    assert text.startswith('All 3 charges together to the table "clinic 2024": whatever anybody')
    assert "had all records of any one patient been different ones: at most" in text
    assert "Of 1 of them no answer is known to have left" in text
    assert "presupposes" in text
    assert "One charge" in joint_promise(certificate("ada"))
    assert "the record of any one row been a different one" in joint_promise(certificate(None, unit="row"))


def test_charges_are_added_up_by_analyst_and_in_total() -> None:
    table = analyst_table(certificate("ada", "grace", "ada", None))
    assert [row[:2] for row in table.rows] == [("ada", "2"), ("grace", "1"), ("(not named)", "1"), ("(together)", "4")]
    ada, grace, unnamed, together = (float(row[2]) for row in table.rows)
    assert grace == unnamed < ada < together
    assert table.headers[2] == "epsilon at delta 1e-06"


def test_names_are_quoted_and_lines_are_bounded() -> None:
    found = certificate(*(f"a{number}" for number in range(MOST_ANALYSTS + 2)), "Signed by x")
    rows = analyst_table(found).rows
    assert len(rows) == MOST_ANALYSTS + 2
    assert rows[-2][0] == "(3 more analysts)"
    assert analyst_table(certificate("Signed by x")).rows[0][0] == '"Signed by x"'


def test_no_analyst_passes_for_a_line_of_the_table() -> None:
    names = [row[0] for row in analyst_table(certificate("together", "(together)", None)).rows]
    assert names == ["together", '"(together)"', "(not named)", "(together)"]
