"""Private aggregation of teacher ensembles: a student learns from the noised votes of teachers on public rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.certificate.certificate import Certificate
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.query import Gate
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.documents.canonical_json import plain
from tacit.errors import DataError, SettingError
from tacit.estimators.block_model import HONEST, BlockModel, output_design, with_design
from tacit.estimators.block_programs import TaughtLabels
from tacit.estimators.parameters import estimator
from tacit.estimators.public_rows import PublicRows
from tacit.estimators.settings import ORDER, UNIT
from tacit.estimators.vote_student import VoteStudent
from tacit.solvers import teachers
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.solvers.teachers import TeacherAnswers, Teachers
from tacit.validate import whole, within

Floats = NDArray[np.float64]
FEWEST = 2
"""Answered rows that a student needs."""


@estimator
class PATE(ClassifierMixin, BlockModel):
    """A classifier under differential privacy that learns from the votes of teachers (PATE).

    Each teacher is fitted to a secret disjoint part of the records, and votes on every public row. Votes are released
    with noise (GNMax), or only where the teachers agree (Confident GNMax, with `threshold`). A student learns of them.

    Guarantee
    ---------
    - The cost is that of all planned checks and votes. It does not depend on how the teachers voted: no ε that depends
      on the records is computed or shown.
    - A teacher that fails votes for the first class, and is charged the same.

    Parameters
    ----------
    teacher
        A scikit-learn-compatible classifier, of which each teacher is a clone.
    teachers
        How many there are, at least 2.
    answers
        For how many public rows votes are shown; None: for all of them.
    threshold
        Share of the teachers that must agree, by a noisy count, before votes are shown. None: they always are.
    student
        A classifier that is fitted to the answered public rows and their labels. None: a Gaussian process over the
        public rows, which uses the noised votes themselves.
    classes
        The labels; None: they are read from y.
    seconds, memory, progress
        As for `SubsampleAggregate`.

    Attributes
    ----------
    labels_
        For each public row the class with most noised votes.
    answered_
        Whether votes were shown for each public row; the label of others is the first class.
    votes_
        Noised votes of the answered rows: (row, class).
    student_
        The fitted student; None where fewer than two rows were answered.

    References
    ----------
    N. Papernot et al., ICLR 2017 and 2018.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.sin(np.arange(8000)).reshape(-1, 2)
    >>> y = X[:, 0] > 0
    >>> known = tacit.public(X[:200])
    >>> model = tacit.PATE(epsilon=2.0, teacher=GaussianNB(), teachers=50, classes=[False, True])
    >>> model.fit(X[200:], y[200:], known).score(X[:200], y[:200]) > 0.9
    True
    """

    teacher: Any = None
    teachers: int = 250
    answers: int | None = None
    threshold: float | None = None
    student: Any = None
    classes: Sequence[Any] | None = None
    seconds: float = 60.0
    memory: float = 2.0
    progress: Any = None

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, public: Any = None, units: Any = None, order: Any = None
    ) -> Self:
        """Fit teachers to private records, ask them about public rows, and fit the student.

        `public` are rows without labels that are marked: tacit.public(X_public).
        """
        if not isinstance(public, PublicRows):
            raise SettingError("PATE needs public rows without labels: fit(X, y, tacit.public(X_public)).")
        self._public = np.asarray(public.X, dtype=np.float64)
        if self._public.ndim != 2 or len(self._public) < 1 or not np.isfinite(self._public).all():
            raise DataError("The public rows must be a matrix of finite numbers.")
        try:
            return self._fit(X, y, {UNIT: units, ORDER: order})
        finally:
            for name in ("_public", "_answers"):
                self.__dict__.pop(name, None)

    def plan(self, n: int, d: int, rows: int = 1000) -> Plan:
        """Cost of a fit on n records and d features with so many public rows; no data."""
        self._public = np.zeros((whole("rows", rows), d))
        try:
            return super().plan(n, d)
        finally:
            del self._public

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict by the student."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        if self.student_ is None:
            raise SettingError("There is no student: fewer than two public rows were answered. Use a lower threshold.")
        found = self.student_.predict(rows)
        return np.asarray(self.classes_[found] if self.student is None else found)

    @cached_property
    def certificate_(self) -> Certificate:
        """What was guaranteed, and why it is true; it covers the votes and for which rows they are."""
        covered = {"votes": plain(self.votes_), "answered": plain(np.flatnonzero(self.answered_))}
        return Certificate.issue(self.release_, covered=covered)

    def _planned(self, facts: PublicFacts, options: SolverOptions) -> Plan:
        del options
        if not hasattr(self.teacher, "fit") or isinstance(self.teacher, type):
            raise SettingError("teacher must be a classifier with fit, such as sklearn.linear_model.RidgeClassifier().")
        count = whole("teachers", self.teachers, 2)
        rows, width = self._public.shape
        if width != len(facts.design.columns):
            raise DataError(f"The public rows have {width} columns, and the records {len(facts.design.columns)}.")
        answers = rows if self.answers is None else whole("answers", self.answers, 1, rows)
        threshold = None if self.threshold is None else within("threshold", self.threshold, 0.0, 1.0)
        function = self._black_box(TaughtLabels(self.teacher, self._public), np.zeros(rows), facts.design)
        classes = len(facts.design.response.classes)
        plan = teachers.plan(facts, Teachers(function, count, classes, answers, threshold))
        said = {"public rows": rows, "teacher": type(self.teacher).__name__}
        if threshold is not None:
            said["threshold"] = threshold
        found = [PublicFact(name, value, "declared") for name, value in said.items()]
        return plan.with_facts(*found, PublicFact(HONEST, True, "assumed"))

    def _released(self, gate: Gate, plan: Plan, *, seeded: bool) -> Release:
        solver = plan.solver
        assert isinstance(solver, Teachers)  # noqa: S101 - for the type checker
        self._answers = solver.ask(gate)
        self.classes_ = np.array(plan.design.response.classes)
        names = [f"row {number}" for number in range(len(self._public))]
        design = output_design(names, [-1.0] * len(names), [1.0] * len(names))
        return Release(with_design(plan, design), self._answers.labels.astype(np.float64), seeded)

    def _store(self, coefficients: Floats, design: Design) -> None:
        del coefficients, design
        found: TeacherAnswers = self._answers
        self.votes_ = found.votes
        self.answered_ = np.zeros(len(self._public), dtype=np.bool_)
        self.answered_[found.rows] = True
        self.labels_ = self.classes_[np.maximum(found.labels, 0)]
        if len(found.rows) < FEWEST:
            # So few answers follow from noised counts, which are paid for: there is no student, and no refusal.
            self.student_ = None
        elif self.student is not None:
            self.student_ = clone(self.student).fit(self._public[found.rows], self.labels_[found.rows])
        else:
            noise = found.noise_scale / self.teachers
            self.student_ = VoteStudent(noise).fit(self._public[found.rows], found.votes / self.teachers)
