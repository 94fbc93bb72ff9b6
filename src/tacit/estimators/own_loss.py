"""Estimators of a loss of your own, fitted by noisy gradients."""

from __future__ import annotations

from typing import Any

from tacit.contract.plan import PublicFact
from tacit.design.response import Continuous, Response
from tacit.errors import SettingError
from tacit.estimators.classifiers import BinaryClassifier
from tacit.estimators.parameters import estimator
from tacit.estimators.regressors import BoundedRegressor
from tacit.losses.black_box import BlackBoxLoss
from tacit.losses.loss import Loss
from tacit.losses.own import OwnLoss


@estimator
class MarginClassifier(BinaryClassifier):
    """Linear classification of two classes by a loss of your own, under differential privacy.

    Minimises the mean of loss(x·coef, label) + (l2 / 2)‖coef - prior_mean‖² by noisy gradients; the label is 0 or 1.
    The class is the second one where x·coef is above 0.

    Guarantee:

    - The guarantee rests on the bound on the slope alone, which clipping enforces.

    Parameters
    ----------
    loss
        Of `tacit.own_loss`, or of `tacit.black_box_loss` for solver="zeroth-order".

    Examples
    --------
    >>> import math, numpy as np, tacit
    >>> def slope(margin, label):
    ...     sign = 2.0 * label - 1.0
    ...     return -sign / (1.0 + math.exp(sign * margin))
    >>> def value(margin, label):
    ...     return math.log1p(math.exp(-(2.0 * label - 1.0) * margin))
    >>> loss = tacit.own_loss(slope, value, lipschitz=1.0, curvature=0.25, convex=True, name="logistic")
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> model = MarginClassifier(loss=loss, epsilon=1.0, bounds=(-1, 1)).fit(X, X[:, 0] > 0.2)
    >>> model.predict([[0.9], [-0.9]]).tolist()
    [True, False]
    """

    loss: Any = None

    def _loss(self, _response: Response) -> Loss:
        return declared(self.loss)

    def _facts(self, response: Response) -> list[PublicFact]:
        return [*super()._facts(response), loss_fact(declared(self.loss))]


@estimator
class MarginRegressor(BoundedRegressor):
    """Linear regression by a loss of your own, under differential privacy.

    Minimises the mean of loss(x·coef, y) + (l2 / 2)‖coef - prior_mean‖² by noisy gradients, margin and y in units of y.

    Guarantee:

    - The guarantee rests on the bound on the slope alone, which clipping enforces.

    Parameters
    ----------
    loss
        Of `tacit.own_loss`, or of `tacit.black_box_loss` for solver="zeroth-order".

    Examples
    --------
    >>> import math, numpy as np, tacit
    >>> loss = tacit.own_loss(
    ...     lambda z, y: math.tanh(z - y), lambda z, y: math.log(math.cosh(z - y)), lipschitz=1.0, curvature=1.0
    ... )
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(np.arange(20_000))
    >>> model = MarginRegressor(loss=loss, epsilon=1.0, bounds=(-1, 1), y_bounds=(-5, 5)).fit(X, y)
    >>> bool(abs(model.coef_[0] - 3) < 0.5)
    True
    """

    loss: Any = None

    def _loss(self, response: Response) -> Loss:
        loss = declared(self.loss)
        if not isinstance(response, Continuous) or response.is_open:
            raise SettingError("An own loss is in units of y: it needs declared y_bounds.")
        return loss.prepared(response.center, response.scale)

    def _facts(self, response: Response) -> list[PublicFact]:
        return [*super()._facts(response), loss_fact(declared(self.loss))]


def declared(loss: object) -> OwnLoss:
    """Return an own loss, or refuse what is none."""
    if isinstance(loss, OwnLoss):
        return loss
    raise SettingError(
        "loss must be one of tacit.own_loss(slope, value, lipschitz=…) or tacit.black_box_loss(value, lipschitz=…)."
    )


def loss_fact(loss: OwnLoss) -> PublicFact:
    """What the certificate says of an own loss: its bound is enforced, the rest is not."""
    what = "differences of values" if isinstance(loss, BlackBoxLoss) else "slopes"
    numbers = {"name": loss.name, "lipschitz": loss.shape[2], "enforced": f"lipschitz, by clipping {what}"}
    return PublicFact("loss", numbers, "declared")
