"""Seeded fits of every estimator and solver: every answer of the gate, and what was released.

With a `random_state` a fit is reproducible to the bit on one kind of processor and linear algebra
library; elsewhere the last bits of a decomposition may differ, and so may what follows from them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
from llvmlite.binding import get_host_cpu_name
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

import tacit
from tacit.constraints.region import L1Ball
from tacit.contract.query import Answer
from tacit.inference.reliability import StepJudgement, judge, not_offered
from tacit.mechanisms.query_responder import Responder

N = 3000
SEED = 20_251_116

Data = Mapping[str, NDArray[Any]]
Fit = Callable[[], Any]


def machine() -> dict[str, str]:
    """What the last bits of a fit depend on: processor and linear algebra library.

    The kernels of a library are those of its `architecture`; numpy and the C library choose theirs by the processor.
    """
    found = [item for item in threadpool_info() if item["user_api"] == "blas"]
    return {
        "processor": get_host_cpu_name(),
        "architecture": " ".join(sorted({str(item.get("architecture")) for item in found})),
        "library": " ".join(sorted(f"{item['internal_api']}-{item['version']}" for item in found)),
        "numpy": np.__version__,
    }


def data() -> Data:
    """Simulated records: a skewed and a rare feature among ordinary ones."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(N, 5)) * [1.0, 2.0, 0.3, 1.0, 1.0]
    X[:, 3] = np.exp(X[:, 3])
    X[:, 4] = X[:, 4] > 1.5
    index = X @ np.array([0.8, -0.3, 1.0, 0.1, 0.5]) - 0.4
    return {
        "X": X,
        "labels": (rng.random(N) < 1 / (1 + np.exp(-index))).astype(int),
        "kinds": np.argmax(np.c_[index, -index, np.zeros(N)] + rng.gumbel(size=(N, 3)), axis=1),
        "amounts": index + rng.standard_t(4, size=N),
        "counts": np.minimum(rng.poisson(np.exp(0.3 * index)), 15),
        "weights": rng.uniform(0, 2, N),
        "people": rng.integers(0, N // 3, N),
        "exposure": rng.uniform(0.5, 2.0, N),
    }


MODELS: Mapping[str, tuple[Callable[..., Any], str, Mapping[str, Any]]] = {
    "logistic": (tacit.LogisticRegression, "labels", {"classes": [0, 1]}),
    "softmax": (tacit.LogisticRegression, "kinds", {"classes": [0, 1, 2]}),
    "linear": (tacit.LinearRegression, "amounts", {"y_bounds": (-10, 10)}),
    "ridge": (tacit.Ridge, "amounts", {"y_bounds": (-10, 10), "l2": 0.1}),
    "huber": (tacit.HuberRegressor, "amounts", {"y_bounds": (-10, 10)}),
    "quantile": (tacit.QuantileRegressor, "amounts", {"y_bounds": (-10, 10), "quantile": 0.3}),
    "poisson": (tacit.PoissonRegressor, "counts", {"y_max": 15}),
    "svm": (tacit.LinearSVC, "labels", {"classes": [0, 1]}),
}
INTERVALS = ("logistic", "linear", "huber", "poisson")
COMMON: Mapping[str, Any] = {"epsilon": 1.0, "bounds": (-6, 6), "random_state": 7}
SOLVERS: Mapping[str, tuple[str, ...]] = {
    "logistic": (
        "gradient",
        "whitened-gradient",
        "newton",
        "majorised-newton",
        "objective-perturbation",
        "objective-perturbation-kst",
        "output-perturbation",
        "double-noise-newton",
        "stochastic",
        "exponential",
        "zeroth-order",
        "aggregate",
    ),
    "softmax": ("objective-perturbation", "output-perturbation"),
    "linear": ("gradient", "whitened-gradient", "newton", "majorised-newton", "moments", "adassp", "stochastic"),
    "poisson": ("gradient", "whitened-gradient", "newton", "majorised-newton", "stochastic"),
}


FORMULAS: Mapping[str, str] = {
    "binomial": "labels ~ a + C(ward) + a:b",
    "gaussian": "amounts ~ a + I(b**2) + C(ward)",
    "poisson": "counts ~ a + b",
    "multinomial": "ward ~ a + b",
}
SCHEMA = """
[columns.a]
type = "numeric"
lower = -6
upper = 6
[columns.b]
type = "numeric"
lower = -8
upper = 8
[columns.ward]
type = "factor"
levels = ["0", "1", "2"]
[columns.labels]
type = "binary"
[columns.amounts]
type = "numeric"
lower = -10
upper = 10
[columns.counts]
type = "numeric"
lower = 0
upper = 15
"""


def wide_cases() -> Iterator[tuple[str, Fit]]:
    """Tables so wide that columns are standardised; some columns are narrow, and some far from 0."""
    rng = np.random.default_rng(23)
    shapes = ("logistic", 1200, 200), ("linear", 1200, 200), ("logistic", 1500, 1050), ("poisson", 1200, 200)
    for model, rows, width in shapes:
        X = rng.standard_normal((rows, width)) * np.where(np.arange(width) % 5, 1.0, 0.02) + np.arange(width) % 3
        index = X[:, :8].sum(axis=1) / 3
        y = (rng.random(rows) < 1 / (1 + np.exp(-index))).astype(int) if model == "logistic" else index
        y = np.minimum(rng.poisson(np.exp(index / 2)), 15) if model == "poisson" else y
        kind, _, settings = MODELS[model]
        estimator = kind(**{**COMMON, **settings, "epsilon": 8.0, "inference": False})
        yield f"{model} wide {width}", partial(estimator.fit, X, y)


def cases() -> Iterator[tuple[str, Fit]]:
    """Every fit by its name."""
    held = data()
    for model in MODELS:
        for epsilon in (0.1, 1.0, 8.0, np.inf):
            chosen: dict[str, Any] = {"epsilon": epsilon}
            if np.isinf(epsilon):
                chosen = {"epsilon": np.inf, "random_state": None}
            yield f"{model} epsilon={epsilon:g}", _fit(model, held, chosen)
        yield f"{model} zero-out", _fit(model, held, {"relation": "zero-out"})
        private_n = {"relation": "add-remove", "n_at_least": 2000}
        yield f"{model} add-remove", _fit(model, held, private_n)
        yield f"{model} sparse", _fit(model, held, {}, stored=True)
        yield f"{model} no intercept", _fit(model, held, {"fit_intercept": False})
        people = {"max_rows_per_unit": 3}
        yield f"{model} people", _fit(model, held, people, units="people")
        if model != "softmax":
            yield f"{model} private bounds", _fit(model, held, {"bounds": "private"})
    yield from wide_cases()
    for model in INTERVALS:
        for epsilon in (0.5, 3.0):
            name = f"{model} intervals epsilon={epsilon:g}"
            yield name, _fit(model, held, {"inference": True, "epsilon": epsilon})
        yield (
            f"{model} intervals people",
            _fit(model, held, {"inference": True, "max_rows_per_unit": 3}, units="people"),
        )
    for model, solvers in SOLVERS.items():
        yield f"{model} weights", _fit(model, held, {"max_weight": 2.0}, sample_weight="weights")
        for solver in solvers:
            yield f"{model} {solver}", _fit(model, held, {"solver": solver})
    for family, formula in FORMULAS.items():
        yield f"glm {family}", _glm(family, formula, held)
    yield from _without_coefficients(held)
    yield ("poisson exposure", _fit("poisson", held, {"exposure_bounds": (0.5, 2.0)}, exposure="exposure"))


def _without_coefficients(held: Data) -> Iterator[tuple[str, Fit]]:
    """Moments of the rows, and pure budgets."""
    yield "mean", lambda: tacit.GaussianMean(**COMMON).fit(held["X"])
    yield "mean pure", lambda: tacit.GaussianMean(**COMMON, delta=0).fit(held["X"])
    yield "covariance", lambda: tacit.Covariance(**COMMON).fit(held["X"])
    yield "naive Bayes", lambda: tacit.GaussianNB(**COMMON, classes=[0, 1, 2]).fit(held["X"], held["kinds"])
    yield "logistic frank-wolfe", _fit("logistic", held, {"solver": "frank-wolfe", "constraint": L1Ball(2.0)})
    for solver in ("objective-perturbation", "output-perturbation"):
        yield f"logistic pure {solver}", _fit("logistic", held, {"delta": 0, "solver": solver})


def described(fit: Fit) -> dict[str, Any]:
    """Answers of the gate in their order, coefficients, and the certificate."""
    # Products of wide matrices are rounded otherwise by two threads.
    with _recorded() as answers, warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
        warnings.simplefilter("ignore")
        model = fit()
    issued = model.certificate if hasattr(model, "certificate") else model.certificate_
    document = issued.document
    for name in ("versions", "digest", "released"):
        document.pop(name)
    return {
        "answers": answers,
        "coefficients": _coefficients(model),
        "certificate": document,
        "intervals": _intervals(model),
    }


def _fit(model: str, held: Data, settings: Mapping[str, Any], *, stored: bool = False, **attached: str) -> Fit:
    factory, response, own = MODELS[model]
    given = {name: held[column] for name, column in attached.items()}

    def run() -> Any:
        X = sparse.csr_array(held["X"]) if stored else held["X"]
        return factory(**{**COMMON, **own, **settings}).fit(X, held[response], **given)

    return run


def _glm(family: str, formula: str, held: Data) -> Fit:
    columns = {"a": held["X"][:, 0], "b": held["X"][:, 1], "ward": held["kinds"].astype(str)}
    table = pa.table({**columns, **{name: held[name] for name in ("labels", "amounts", "counts")}})
    schema = tacit.Schema.parse(SCHEMA)
    return lambda: tacit.glm(formula, table, schema, family, epsilon=1.0, random_state=7)


def _coefficients(model: Any) -> list[float]:
    if hasattr(model, "release_"):
        return list(np.ravel(model.release_.coefficients()).tolist())
    return list(np.ravel(model.stored.coefficients).tolist())


def _intervals(model: Any) -> dict[str, Any] | None:
    """What is said of intervals, and how wide they are."""
    release = model.release_ if hasattr(model, "release_") else model.release
    if release is None or release.sandwich is None:
        return None
    reason = not_offered(release.plan)
    if reason is not None:
        return {"not offered": reason}
    judged, ends = judge(release, release.sandwich), np.ravel(np.asarray(model.conf_int()))
    if isinstance(judged, StepJudgement):
        names = release.plan.design.terms
        words = judged.of(names, np.eye(len(names)))
        said: dict[str, Any] = {"words": list(words), "notes": judged.notes(names)}
        return {**said, "ends": [float(end) if np.isfinite(end) else str(end) for end in ends]}
    return {"judgement": dataclasses.asdict(judged), "ends": list(map(float, ends))}


@contextmanager
def _recorded() -> Iterator[list[dict[str, Any]]]:
    answers: list[dict[str, Any]] = []
    answer = Responder.answer

    def recorded(self: Responder, query: Any, price: Any) -> Answer:
        found = answer(self, query, price)
        values = np.ascontiguousarray(found.value, dtype=np.float64)
        place = np.cos(np.arange(values.size))
        answers.append(
            {
                "query": type(query).__name__,
                "bits": hashlib.sha256(values.tobytes()).hexdigest()[:16],
                "size": values.size,
                # Two numbers that are near where all values are.
                "norm": float(np.sqrt(np.sum(values**2))),
                "turned": float(values.ravel() @ place),
            }
        )
        return found

    with mock.patch.object(Responder, "answer", recorded):
        yield answers
