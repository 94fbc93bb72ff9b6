"""Public facts of fits over batches, for several kinds of response."""

from tacit.contract.plan import Penalty
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Continuous, Count, Response
from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.solver import PublicFacts

BUDGET = Budget(epsilon=1.0, delta=1e-6)
RESPONSES: dict[str, tuple[Response, Loss]] = {
    "labels": (Binary("y", (0, 1)), classification.LOGISTIC),
    "numbers": (Continuous.of("y", -1, 1), regression.SQUARED),
    "huber": (Continuous.of("y", -1, 1), regression.huber(1.345, relative=True)),
    "counts": (Count("y", 20.0), poisson.loss(4.0, 20.0)),
}


def facts(
    n: int = 20_000,
    d: int = 5,
    budget: Budget = BUDGET,
    relation: Relation = Relation.REPLACE_ONE,
    kind: str = "labels",
    penalty: Penalty | None = None,
) -> PublicFacts:
    response, loss = RESPONSES[kind]
    design = matrix_design([f"x{j}" for j in range(d)], response, bounds=(0, 1), row_norm=None, intercept=True)
    return PublicFacts(design, n, relation, "row", budget, penalty or Penalty(), loss)
