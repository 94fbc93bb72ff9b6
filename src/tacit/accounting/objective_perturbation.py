"""What objective perturbation costs: two numbers, and an epsilon in closed form.

Proof: ``proofs/accounting/objective_perturbation.md``.
"""

import math
from fractions import Fraction

from tacit.accounting import gaussian
from tacit.accounting.rounding import float_up, root_up
from tacit.privacy.event import ObjectivePerturbation
from tacit.privacy.relation import Relation

# Relative error of a logarithm of a rounded argument, doubled.
_SLACK = 2.0**-50


def jacobian_term(event: ObjectivePerturbation) -> float:
    r"""Return the bound :math:`c = \log(1 + \beta/\lambda)` of the log-determinant, rounded up."""
    return math.log1p(float_up(event.curvature_ratio)) * (1.0 + _SLACK)


def objective_mu(event: ObjectivePerturbation, relation: Relation) -> float:
    """Return the gradient's sensitivity over the noise, rounded up; twice as large under replace-one as otherwise."""
    factor = 4 if relation is Relation.REPLACE_ONE else 1
    return root_up(factor * Fraction(event.squared_sensitivity) / Fraction(event.variance))


def objective_epsilon(event: ObjectivePerturbation, relation: Relation, delta: float) -> float:
    r"""Return an epsilon of one objective perturbation at delta, in closed form.

    One sign: :math:`c + \varepsilon_G(\mu, \delta)`. Two signs: :math:`c + \max(\mu^2/2, \varepsilon_G(\mu,
    \delta/2))`, and under replace-one :math:`c + \varepsilon_G(\mu, \delta/4)`, the union over four vertices.

    Guarantee: never below the epsilon at which the dominating loss has this delta.
    """
    c, mu = jacobian_term(event), objective_mu(event, relation)
    if event.signs == 1:
        rest = gaussian.epsilon(mu, delta)
    elif relation is Relation.REPLACE_ONE:
        rest = gaussian.epsilon(mu, 0.25 * delta)
    else:
        rest = max(0.5 * mu * mu * (1.0 + _SLACK), gaussian.epsilon(mu, 0.5 * delta))
    return (c + rest) * (1.0 + _SLACK) if c > 0.0 else rest
