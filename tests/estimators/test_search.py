"""Private search: what it costs, what it shows, what it refuses."""

import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import tacit
from tacit.accounting.composition import compose
from tacit.certificate.certificate import Certificate
from tacit.errors import BudgetError, DataError, SettingError
from tacit.estimators.search_space import part_of
from tacit.ledger import Ledger
from tacit.ledger.repeated_fits import RefitWarning
from tacit.privacy.event import NegativeBinomial, PoissonRuns
from tacit.privacy.event_json import from_json

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (3000, 3))
Y = RNG.random(3000) < 1 / (1 + np.exp(-4 * X[:, 0]))
GRID = {"l2": [1e-4, 1e-2]}
FEW: dict[str, Any] = {"mean_runs": 3}


def model(**more: Any) -> tacit.LogisticRegression:
    given = {"epsilon": 2.0, "delta": 1e-6, "bounds": (-1, 1), "classes": [False, True]}
    return tacit.LogisticRegression(**{**given, **more})


def test_the_whole_search_is_within_the_budget() -> None:
    search = tacit.PrivateSearchCV(model(), GRID, **FEW).fit(X, Y)
    assert search.best_params_["l2"] in GRID["l2"]
    assert search.certificate_.check().consistent
    stated = search.certificate_.rederive()
    assert 1.99 < stated.epsilon <= 2.0
    events = [from_json(it) for it in search.certificate_.parsed["events"]]
    assert compose(events, "replace-one").epsilon(1e-6) <= 2.0
    assert search.predict(X[:5]).shape == (5,)
    assert search.predict_proba(X[:5]).shape == (5, 2)
    assert search.decision_function(X[:5]).shape == (5,)
    assert 0.0 <= search.score(X, Y) <= 1.0
    assert list(search.classes_) == [False, True]


def test_only_the_winner_is_shown() -> None:
    search = tacit.PrivateSearchCV(model(), GRID, **FEW).fit(X, Y)
    fitted = {name for name in vars(search) if name.endswith("_")}
    assert fitted == {"best_params_", "best_score_", "best_estimator_", "certificate_", "classes_", "n_features_in_"}
    text = search.certificate_.to_json()
    assert "validation" not in search.best_estimator_.__dict__
    assert '"settings": 2' in text
    # The winner's own certificate is that of the search: it alone would state less than was spent.
    assert search.best_estimator_.certificate_ is search.certificate_
    assert pickle.loads(pickle.dumps(search)).certificate_ == search.certificate_


def test_refit_is_paid_and_reads_all_rows() -> None:
    search = tacit.PrivateSearchCV(model(), GRID, refit=True, **FEW).fit(X, Y)
    assert search.best_estimator_.plan_.records == 3000
    assert len(search.certificate_.parsed["events"]) == 2
    assert search.certificate_.rederive().epsilon <= 2.0


def test_trial_and_score_see_disjoint_rows_that_make_up_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def note(rows: Any, mask: Any) -> Any:
        seen.append(mask)
        return part_of(rows, mask)

    monkeypatch.setattr("tacit.estimators.search.part_of", note)
    law = NegativeBinomial(1, Fraction(1, 2))
    tacit.PrivateSearchCV(model(), GRID, law=law, validation=0.25).fit(X, Y)
    assert len(seen) >= 2
    for fitted, scored in zip(seen[::2], seen[1::2], strict=True):
        assert (fitted ^ scored).all()
        # One split a search. 3,000 coins: a false alarm in 1e-7.
        assert (scored == seen[1]).all()
    assert stats.binomtest(int(seen[1].sum()), 3000, 0.25).pvalue > 1e-7


def test_units_are_drawn_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    units = np.repeat(np.arange(1000), 3)
    seen: list[Any] = []

    def note(rows: Any, mask: Any) -> Any:
        seen.append(mask)
        return part_of(rows, mask)

    monkeypatch.setattr("tacit.estimators.search.part_of", note)
    law = NegativeBinomial(1, Fraction(1, 2))
    search = tacit.PrivateSearchCV(model(max_rows_per_unit=3), GRID, law=law).fit(X, Y, units=units)
    assert search.certificate_.parsed["unit"] == "unit"
    assert (seen[0].reshape(1000, 3).min(axis=1) == seen[0].reshape(1000, 3).max(axis=1)).all()


def test_without_a_trial_the_output_is_fixed() -> None:
    law = PoissonRuns(Fraction(1, 10**6))
    search = tacit.PrivateSearchCV(model(), GRID, law=law).fit(X, Y)
    assert search.best_params_ == {"l2": 1e-4}
    assert not search.best_estimator_.coef_.any()
    assert np.isnan(search.best_score_)
    assert search.predict(X[:4]).tolist() == [False] * 4
    assert search.certificate_.check().consistent


def test_frames_keep_their_names() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    search = tacit.PrivateSearchCV(model(), GRID, **FEW).fit(frame, pd.Series(Y))
    assert list(search.feature_names_in_) == ["a", "b", "c"]
    search.predict(frame[:3])


def test_public_validation_rows_cost_nothing_and_all_rows_are_fitted() -> None:
    search = tacit.PrivateSearchCV(model(), GRID, validation=tacit.public(X[:300], Y[:300]), **FEW).fit(X, Y)
    assert search.certificate_.parsed["trial_score"] == []
    assert search.best_estimator_.plan_.records == 3000


def test_pure_search() -> None:
    pure = model(delta=0, epsilon=3.0, solver="objective-perturbation")
    public = tacit.public(X[:300], Y[:300])
    search = tacit.PrivateSearchCV(pure, {"l2": [0.1, 1.0]}, law="geometric", mean_runs=2, validation=public).fit(X, Y)
    assert search.certificate_.rederive().delta == 0.0
    assert search.certificate_.rederive().epsilon <= 3.0


def test_tuning_on_public_rows_spends_the_whole_budget_on_one_fit() -> None:
    search = tacit.PrivateSearchCV(model(), {"l2": [1e-4, 10.0]}, tune_on=tacit.public(X[:600], Y[:600])).fit(X, Y)
    assert search.best_params_ == {"l2": 1e-4}
    assert len(search.public_scores_) == 2
    assert search.certificate_.rederive().mu == pytest.approx(model().fit(X, Y).certificate_.rederive().mu)


def test_public_warm_start_is_an_option_of_every_trial() -> None:
    started = model(solver="gradient", iterations=20, warm_start=tacit.public(X[:300], Y[:300]))
    search = tacit.PrivateSearchCV(started, GRID, law="geometric", mean_runs=2).fit(X, Y)
    facts = {fact["name"] for fact in search.certificate_.parsed["public"]}
    assert "warm_start" in facts


def test_regression_is_scored_by_its_squared_error() -> None:
    ridge = tacit.Ridge(epsilon=2.0, delta=1e-6, bounds=(-1, 1), y_bounds=(-2, 2))
    search = tacit.PrivateSearchCV(ridge, {"l2": [1e-4, 10.0]}, mean_runs=6).fit(X, X[:, 0])
    assert -1.0 < search.best_score_ <= 0.0


def test_distributions_are_drawn_first() -> None:
    search = tacit.PrivateSearchCV(model(), {"l2": stats.loguniform(1e-4, 1e-1)}, n_settings=4, random_state=0, **FEW)
    assert clone(search).n_settings == 4
    assert search.fit(X, Y).certificate_.parsed["settings"] == 4


def test_a_ledger_is_charged_once() -> None:
    ledger = Ledger(budget=tacit.Budget(epsilon=3.0, delta=1e-6), law="rdp")
    with ledger:
        search = tacit.PrivateSearchCV(model(), GRID, **FEW).fit(X, Y)
    (charge,) = ledger.charges()
    assert charge.label == "private search"
    assert charge.release == search.certificate_.digest


def test_inside_a_ledger_classes_are_declared_and_no_record_is_refused() -> None:
    with Ledger(budget=tacit.Budget(epsilon=3.0, delta=1e-6), law="rdp"):
        with pytest.raises(SettingError, match="classes"):
            tacit.PrivateSearchCV(model(classes=None), GRID).fit(X, Y)
        spoiled = X.copy()
        spoiled[7, 1] = np.nan
        tacit.PrivateSearchCV(model(), GRID, **FEW).fit(spoiled, Y)
    # With 20 trials on average there is none at a chance of e^-20, and a record is read.
    with pytest.raises(DataError):
        tacit.PrivateSearchCV(model(), GRID, mean_runs=20).fit(spoiled, Y)


def test_a_second_search_of_the_same_rows_is_warned_of_once() -> None:
    rows = X.copy()
    tacit.PrivateSearchCV(model(), GRID, **FEW).fit(rows, Y)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tacit.PrivateSearchCV(model(), GRID, **FEW).fit(rows, Y)
    assert [it.category for it in found] == [RefitWarning]


def test_seeded_searches_repeat_and_promise_nothing() -> None:
    first, second = (tacit.PrivateSearchCV(model(random_state=3), GRID, **FEW).fit(X, Y) for _ in range(2))
    assert (first.best_estimator_.coef_ == second.best_estimator_.coef_).all()
    assert not first.certificate_.private
    assert "No guarantee" in first.certificate_.check().statement


class Untouchable:
    """Rows that may not be looked at."""

    shape = (3000, 3)

    def __len__(self) -> int:
        return 3000

    def __getitem__(self, place: Any) -> Any:
        raise AssertionError("A record was read.")

    def __array__(self, *given: Any, **more: Any) -> Any:
        raise AssertionError("Records were read.")


BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "empty list": (lambda: tacit.PrivateSearchCV(model(), []), SettingError, "empty"),
    "empty values": (lambda: tacit.PrivateSearchCV(model(), {"l2": []}), SettingError, "search space"),
    "unknown name": (lambda: tacit.PrivateSearchCV(model(), {"alpha": [1]}), SettingError, "no parameter"),
    "budget": (lambda: tacit.PrivateSearchCV(model(), {"epsilon": [1, 2]}), SettingError, "Cannot be searched"),
    "unpaid scores": (lambda: tacit.PrivateSearchCV(model(), GRID, validation=(X, Y)), SettingError, "costs budget"),
    "private tuning": (lambda: tacit.PrivateSearchCV(model(), GRID, tune_on=(X, Y)), SettingError, "costs budget"),
    "share": (lambda: tacit.PrivateSearchCV(model(), GRID, validation=1.5), SettingError, "validation"),
    "law": (lambda: tacit.PrivateSearchCV(model(), GRID, law="fixed"), SettingError, "law"),
    "one run": (lambda: tacit.PrivateSearchCV(model(), GRID, law="geometric", mean_runs=1), SettingError, "law"),
    "mu": (
        lambda: tacit.PrivateSearchCV(model(epsilon=None, delta=None, budget=tacit.Budget(mu=1)), GRID),
        BudgetError,
        "μ",
    ),
    "no privacy": (lambda: tacit.PrivateSearchCV(model(epsilon=np.inf), GRID), BudgetError, "finite"),
    "private n": (
        lambda: tacit.PrivateSearchCV(model(relation="add-remove", n_at_least=100), GRID), SettingError, "public number"
    ),
    "no mu": (
        lambda: tacit.PrivateSearchCV(model(solver="objective-perturbation"), {"l2": [0.1]}), BudgetError, "mu"
    ),
    "foreign": (lambda: tacit.PrivateSearchCV(object(), GRID), SettingError, "linear model"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_before_a_record_is_read(name: str) -> None:
    make, error, words = BAD[name]
    with pytest.raises(error, match=words):
        make().fit(Untouchable(), Untouchable())


@pytest.mark.parametrize("refit", [False, True])
def test_the_winner_states_what_the_whole_search_cost(refit: bool) -> None:
    """The fault: plan, summary and a certificate of its release stated the price of one trial."""
    started = model(solver="gradient", iterations=10, inference=False)
    search = tacit.PrivateSearchCV(started, GRID, law="geometric", mean_runs=2, refit=refit).fit(X, Y)
    whole, best = search.certificate_.rederive().epsilon, search.best_estimator_
    assert best.plan_.guarantee().epsilon == pytest.approx(whole, rel=1e-8)
    assert best.summary().header.guarantee.epsilon == pytest.approx(whole, rel=1e-8)
    assert best.release_.plan is best.plan_
    assert (best.epsilon, best.delta, best.budget) == (2.0, 1e-6, None)
    for copied in (best, pickle.loads(pickle.dumps(best))):
        assert copied.certificate_ == search.certificate_
        with pytest.raises(SettingError, match="certificate alone"):
            Certificate.issue(copied.release_)
        with pytest.raises(SettingError, match="no path of prices"):
            _ = copied.release_.path


def test_of_a_pipeline_the_way_out_is_said() -> None:
    pipeline = make_pipeline(tacit.BoundsScaler(bounds=(0, 1)), model())
    search = tacit.PrivateSearchCV(pipeline, {"logisticregression__l2": [1]})
    with pytest.raises(SettingError, match=r"PrivateSearchCV\(pipeline\[-1\], params\) on pipeline\[:-1\]\.transform"):
        search.fit(np.zeros((20, 1)), [0, 1] * 10)
