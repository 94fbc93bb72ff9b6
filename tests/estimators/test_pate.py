"""PATE: teachers in processes, a student, and a cost that does not depend on the votes."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import tacit
from tacit import PATE
from tacit.errors import DataError, SettingError
from tacit.estimators import block_model
from tacit.solvers.teachers import TeacherAnswers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 2))
Y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
KNOWN = RNG.normal(size=(120, 2))
TRUTH = np.where(KNOWN[:, 0] + KNOWN[:, 1] > 0, "up", "down")


def test_a_student_learns_from_noised_votes() -> None:
    """Seeded."""
    model = PATE(
        epsilon=4.0, delta=1e-6, teacher=GaussianNB(), teachers=60, classes=["down", "up"], random_state=1
    ).fit(X, Y, tacit.public(KNOWN))
    assert (model.predict(KNOWN) == TRUTH).mean() > 0.9
    assert model.votes_.shape == (120, 2)
    assert model.answered_.all()
    assert set(model.labels_) <= {"down", "up"}
    assert [entry["query"] for entry in model.certificate_.document["events"]] == ["vote-counts"]
    assert model.certificate_.document["released"]["covers"] == ["answered", "votes"]


def test_confident_answers_teach_a_student_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded; the rehearsal is that of the test above."""
    monkeypatch.setattr(block_model, "rehearse", lambda *given: None)
    model = PATE(
        epsilon=8.0,
        delta=1e-6,
        teacher=GaussianNB(),
        teachers=60,
        classes=["down", "up"],
        threshold=0.6,
        answers=40,
        student=KNeighborsClassifier(5),
        random_state=1,
    ).fit(X, Y, tacit.public(KNOWN))
    assert 2 <= model.answered_.sum() <= 40
    assert (model.predict(KNOWN) == TRUTH).mean() > 0.75
    assert len(model.plan_.steps) == 2


def test_no_answers_are_an_outcome_and_no_refusal() -> None:
    model = PATE(epsilon=1.0, teacher=GaussianNB(), teachers=4, classes=["down", "up"])
    model._public = KNOWN[:3]
    model._answers = TeacherAnswers(np.empty((0, 2)), np.empty(0, dtype=np.int64), 1.0, np.full(3, -1))
    model.classes_, model.n_features_in_ = np.array(["down", "up"]), 2
    model.release_ = None  # type: ignore[assignment]
    model._store(np.zeros(3), None)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="no student"):
        model.predict(KNOWN)


def test_public_rows_must_fit() -> None:
    model = PATE(epsilon=1.0, delta=1e-6, teacher=GaussianNB(), teachers=10, classes=["down", "up"])
    with pytest.raises(DataError, match="have 1 columns, and the records 2"):
        model.fit(X, Y, tacit.public(KNOWN[:, :1]))
    with pytest.raises(DataError, match="finite numbers"):
        model.fit(X, Y, tacit.public(np.full((3, 2), np.nan)))
    with pytest.raises(SettingError, match="Use fewer teachers"):
        PATE(epsilon=1.0, teacher=GaussianNB(), teachers=300, classes=[0, 1]).plan(500, 2, rows=10)


def test_t43_the_price_is_fixed_before_a_vote_is_cast() -> None:
    plan = PATE(epsilon=2.0, delta=1e-5, teacher=GaussianNB(), classes=[0, 1]).plan(60_000, 2)
    assert 1.99 < plan.guarantee().epsilon <= 2.0
    assert plan.guarantee().mu == pytest.approx(0.5015, abs=1e-3)
