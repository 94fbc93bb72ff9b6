"""What objective perturbation costs: three numbers, and an epsilon in closed form.

The noise of the objective is seen through the vertices of a polytope that holds a record's possible gradients. With m
of them, each at most μ noise scales long, the privacy loss is dominated by c plus the upper 1/m tail of the Gaussian
loss V ~ N(μ²/2, μ²), cut at 0. Proof: ``proofs/accounting/objective_perturbation.md``.
"""

import math
from fractions import Fraction

from scipy import special

from tacit.accounting import gaussian
from tacit.accounting.rounding import float_up, root_up
from tacit.privacy.event import ObjectivePerturbation, PerturbedObjective
from tacit.privacy.relation import Relation

# Relative error of a logarithm of a rounded argument, doubled.
_SLACK = 2.0**-50


def jacobian_term(event: PerturbedObjective) -> float:
    r"""Return the bound c of the log-determinant, rounded up.

    :math:`\log(1 + \beta/\lambda)` for one product with the features; :math:`(K - 1) \log(1 + 2\beta/(K\lambda))` for
    K classes, whose second derivative has rank K - 1 and trace at most :math:`2\beta(1 - 1/K)`.
    """
    if isinstance(event, ObjectivePerturbation):
        return math.log1p(float_up(event.curvature_ratio)) * (1.0 + _SLACK)
    ratio = float_up(2 * Fraction(event.curvature_ratio) / event.classes)
    return (event.classes - 1) * math.log1p(ratio) * (1.0 + 2.0 * _SLACK)


def objective_mu(event: PerturbedObjective, relation: Relation) -> float:
    """Return the gradient's sensitivity over the noise, rounded up; twice as large under replace-one as otherwise."""
    factor = 4 if relation is Relation.REPLACE_ONE else 1
    return root_up(factor * Fraction(event.squared_sensitivity) / Fraction(event.variance))


def vertices(event: PerturbedObjective, relation: Relation) -> int:
    """Return the number m of vertices: the signs of a slope, or the K - 1 wrong classes, squared under replace-one."""
    if isinstance(event, ObjectivePerturbation):
        return event.signs
    return (event.classes - 1) ** (2 if relation is Relation.REPLACE_ONE else 1)


def vertex_quantile(count: int) -> float:
    """Return z with Φ(-z) = 1/m, the quantile from which on the dominating loss is Gaussian; 0 for m = 2."""
    return -float(special.ndtri(1.0 / count)) if count > 2 else 0.0


def objective_epsilon(event: PerturbedObjective, relation: Relation, delta: float) -> float:
    r"""Return an epsilon of one objective perturbation at delta, in closed form.

    One vertex: :math:`c + \varepsilon_G(\mu, \delta)`. More: :math:`c + \max(\mu^2/2 + \mu z, \varepsilon_G(\mu,
    \delta/m))` with z the upper 1/m quantile of a standard normal.

    Guarantee: never below the epsilon at which the dominating loss has this delta.
    """
    c, mu, count = jacobian_term(event), objective_mu(event, relation), vertices(event, relation)
    if count == 1:
        rest = gaussian.epsilon(mu, delta)
    else:
        least = (0.5 * mu * mu + mu * vertex_quantile(count)) * (1.0 + 4.0 * _SLACK)
        rest = max(least, gaussian.epsilon(mu, delta / count * (1.0 - _SLACK)))
    return (c + rest) * (1.0 + _SLACK) if c > 0.0 else rest
