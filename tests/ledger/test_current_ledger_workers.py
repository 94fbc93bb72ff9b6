"""Real fits in worker processes that joblib keeps and uses again."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys, warnings
sys.path[:0] = {path!r}
import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import cross_val_score
import tacit
from tacit.errors import LedgerError
from tacit.ledger import Ledger, uncharged

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.uniform(-1, 1, (300, 2)), rng.integers(0, 2, 300)


def model():
    budget = tacit.Budget(mu=0.1)
    return tacit.LogisticRegression(budget=budget, bounds=(-1, 1), classes=(0, 1), iterations=1)


def mean(_=None):
    # As with tacit.glm, no estimator comes along that could tell where the job was submitted.
    warnings.simplefilter("ignore")
    try:
        tacit.GaussianMean(budget=tacit.Budget(mu=0.1), bounds=(-1, 1)).fit(X)
    except LedgerError as error:
        return str(error)
    return "fitted"


def scores(estimator):
    found = cross_val_score(estimator, X, y, cv=4, n_jobs=2, error_score="raise")
    assert len(found) == 4 and np.isfinite(found).all()


def means():
    return Parallel(n_jobs=2)(delayed(mean)(None) for _ in range(4))


def charges():
    return [len(ledger.charges()) for ledger in ledgers]


if __name__ == "__main__":
    ledgers = [
        Ledger(f"{folder}/{{name}}.db", budget=tacit.Budget(epsilon=9, delta=1e-6)) for name in "ab"
    ]
    first, second = ledgers
    # Workers that are older than the block.
    assert means() == ["fitted"] * 4
    before = model()
    with first:
        assert means() == ["fitted"] * 4
        assert charges() == [4, 0], charges()
        scores(before)
        assert charges() == [8, 0], charges()
    # The same workers afterwards.
    assert all("has ended" in found for found in means())
    with uncharged("a trial"):
        scores(model())
    assert charges() == [8, 0], charges()
    with second:
        assert all("several ledgers" in found for found in means())
        assert charges() == [8, 0], charges()
        scores(model())
        assert charges() == [8, 4], charges()
        try:
            scores(before)
        except LedgerError as error:
            # Clones made in this thread are charged; later ones are made by joblib's threads.
            assert "several ledgers" in str(error)
        assert charges()[0] == 8
    print("held")
"""


def test_every_fit_is_charged_where_it_was_submitted_or_refused(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(path=sys.path, folder=tmp_path))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("held"), done.stderr[-3000:]
