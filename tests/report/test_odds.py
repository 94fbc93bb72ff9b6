"""Odds before and after. Oracle: Bayes' rule by hand."""

import math

import pytest

from tacit.privacy.budget import Guarantee
from tacit.privacy.relation import Relation
from tacit.report.odds import delta_in_words, detection_sentence, suspicion_table


def guarantee(epsilon: float, relation: Relation = Relation.REPLACE_ONE, delta: float = 1e-5) -> Guarantee:
    return Guarantee(relation=relation, unit="patient", epsilon=epsilon, delta=delta, mu=None)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_suspicions_follow_bayes_rounded_outwards(epsilon: float) -> None:
    for prior, low, high in suspicion_table(guarantee(epsilon)).rows:
        p, least, most = (float(cell.rstrip("%")) / 100 for cell in (prior, low, high))
        exact = [p * math.exp(s) / (p * math.exp(s) + 1 - p) for s in (-epsilon, epsilon)]
        assert least <= exact[0] * (1 + 1e-9)
        assert most >= exact[1] * (1 - 1e-9)
        assert least == pytest.approx(exact[0], rel=0.01)
        assert most == pytest.approx(exact[1], rel=0.01)


def test_no_privacy_leaves_nothing_of_a_doubt() -> None:
    assert suspicion_table(guarantee(800.0)).rows[2][1:] == ("0%", "100%")
    assert suspicion_table(guarantee(math.inf, delta=1.0)).rows[2][1:] == ("0%", "100%")


def test_what_a_test_looks_for_depends_on_the_relation() -> None:
    assert "of what the records of one patient say" in detection_sentence(guarantee(1.0), "patient")
    used = detection_sentence(guarantee(1.0, Relation.ADD_REMOVE), "patient")
    assert "whether the records of one patient were used" in used
    # At most e^ε times the false alarms, plus δ.
    assert "13.6%" in used


@pytest.mark.parametrize(
    ("delta", "words"), [(1e-5, "δ = 1e-05 (1 in 100,000)"), (0.3, "δ = 0.3 (1 in 3)"), (0.0, "δ = 0"), (1.0, "δ = 1")]
)
def test_delta_in_words(delta: float, words: str) -> None:
    assert delta_in_words(delta) == words
