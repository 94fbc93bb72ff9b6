"""Tacit: statistical models of sensitive tables, released under differential privacy.

Public names resolve lazily, so that `import tacit` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.certificate.certificate import Certificate as Certificate
    from tacit.contract.cluster import Cluster as Cluster
    from tacit.design.feature_map import Polynomial as Polynomial
    from tacit.design.feature_map import RandomFourier as RandomFourier
    from tacit.design.reading import FileFormat as FileFormat
    from tacit.estimators.classifiers import LinearSVC as LinearSVC
    from tacit.estimators.classifiers import LogisticRegression as LogisticRegression
    from tacit.estimators.covariance import Covariance as Covariance
    from tacit.estimators.declared_transformers import BoundsScaler as BoundsScaler
    from tacit.estimators.declared_transformers import OneHotLevels as OneHotLevels
    from tacit.estimators.fit import Fit as Fit
    from tacit.estimators.fit import load as load
    from tacit.estimators.glm import glm as glm
    from tacit.estimators.hypotheses import HypothesisClassifier as HypothesisClassifier
    from tacit.estimators.images import ImageClassifier as ImageClassifier
    from tacit.estimators.largest_mean import select as select
    from tacit.estimators.naive_bayes import GaussianNB as GaussianNB
    from tacit.estimators.own_loss import MarginClassifier as MarginClassifier
    from tacit.estimators.own_loss import MarginRegressor as MarginRegressor
    from tacit.estimators.pate import PATE as PATE
    from tacit.estimators.public_rows import public as public
    from tacit.estimators.regressors import GaussianMean as GaussianMean
    from tacit.estimators.regressors import HuberRegressor as HuberRegressor
    from tacit.estimators.regressors import LinearRegression as LinearRegression
    from tacit.estimators.regressors import PoissonRegressor as PoissonRegressor
    from tacit.estimators.regressors import QuantileRegressor as QuantileRegressor
    from tacit.estimators.regressors import Ridge as Ridge
    from tacit.estimators.reusable_holdout import ReusableHoldout as ReusableHoldout
    from tacit.estimators.scattering import ScatteringTransform as ScatteringTransform
    from tacit.estimators.search import PrivateSearchCV as PrivateSearchCV
    from tacit.estimators.simple_regression import simple_regression as simple_regression
    from tacit.estimators.solver_comparison import compare as compare
    from tacit.estimators.statistics_gate import Mean as Mean
    from tacit.estimators.statistics_gate import statistics as statistics
    from tacit.estimators.study import plan as plan
    from tacit.estimators.subsample_aggregate import SubsampleAggregate as SubsampleAggregate
    from tacit.estimators.tukey import TukeyRegressor as TukeyRegressor
    from tacit.estimators.whitening import PrivateWhitener as PrivateWhitener
    from tacit.ledger.ledger import Ledger as Ledger
    from tacit.losses.black_box import black_box_loss as black_box_loss
    from tacit.losses.own import own_loss as own_loss
    from tacit.planning.assumptions import Assumptions as Assumptions
    from tacit.planning.forecast import forecast as forecast
    from tacit.planning.langevin import Langevin as Langevin
    from tacit.privacy.budget import Budget as Budget
    from tacit.privacy.relation import Relation as Relation
    from tacit.report.coefficients import plot as plot
    from tacit.report.coefficients import plot_region as plot_region
    from tacit.report.effect_picture import plot_effect as plot_effect
    from tacit.report.forecast import plot_study as plot_study
    from tacit.report.solver_comparison import plot_comparison as plot_comparison
    from tacit.schema.schema import Schema as Schema

__version__ = "0.1.0"

_NAMES = {
    "certificate.certificate": "Certificate",
    "contract.cluster": "Cluster",
    "design.feature_map": "Polynomial RandomFourier",
    "design.reading": "FileFormat",
    "estimators.classifiers": "LinearSVC LogisticRegression",
    "estimators.solver_comparison": "compare",
    "estimators.covariance": "Covariance",
    "estimators.declared_transformers": "BoundsScaler OneHotLevels",
    "estimators.fit": "Fit load",
    "estimators.glm": "glm",
    "estimators.hypotheses": "HypothesisClassifier",
    "estimators.images": "ImageClassifier",
    "estimators.naive_bayes": "GaussianNB",
    "estimators.own_loss": "MarginClassifier MarginRegressor",
    "estimators.pate": "PATE",
    "estimators.public_rows": "public",
    "estimators.regressors": "GaussianMean HuberRegressor LinearRegression PoissonRegressor QuantileRegressor Ridge",
    "estimators.reusable_holdout": "ReusableHoldout",
    "estimators.scattering": "ScatteringTransform",
    "estimators.search": "PrivateSearchCV",
    "estimators.largest_mean": "select",
    "estimators.simple_regression": "simple_regression",
    "estimators.statistics_gate": "Mean statistics",
    "estimators.whitening": "PrivateWhitener",
    "estimators.study": "plan",
    "estimators.subsample_aggregate": "SubsampleAggregate",
    "estimators.tukey": "TukeyRegressor",
    "ledger.ledger": "Ledger",
    "losses.black_box": "black_box_loss",
    "losses.own": "own_loss",
    "planning.assumptions": "Assumptions",
    "planning.forecast": "forecast",
    "planning.langevin": "Langevin",
    "privacy.budget": "Budget",
    "privacy.relation": "Relation",
    "report.coefficients": "plot plot_region",
    "report.effect_picture": "plot_effect",
    "report.solver_comparison": "plot_comparison",
    "report.forecast": "plot_study",
    "schema.schema": "Schema",
}
_HOMES = {name: f"tacit.{module}" for module, names in _NAMES.items() for name in names.split()}
_PACKAGES = ("accounting", "audit", "constraints", "errors", "ledger", "neural", "planning", "privacy")

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name, or a public package, when it is first asked for."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _PACKAGES:
        return import_module(f"tacit.{name}")
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names, loaded or not."""
    return sorted([*__all__, *_PACKAGES, "__version__"])
