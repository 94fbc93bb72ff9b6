"""How many records a finite class needs to be learned privately (Kasiviswanathan et al.), with constants.

k hypotheses, losses in [0, 1], the exponential mechanism of range ε. Where a record is replaced, the selected
hypothesis has an excess sum of losses above 2(log k + log(2/β)) / ε with probability at most β/2. By Hoeffding's
inequality all means of n records are within √(log(4k/β) / (2n)) of those of the population but for a probability of
β/2. So its expected loss is within α of the best one, with probability 1 - β, where

    n ≥ 2 f (log k + log(2/β)) / (ε α)      and      n ≥ 8 log(4k/β) / α²,

f = 2 where a record is replaced and 1 otherwise: each of the two errors is then at most α/2.
"""

from __future__ import annotations

import math

from tacit.privacy.relation import Relation
from tacit.validate import between, positive, whole


def records_enough(
    hypotheses: int,
    epsilon: float,
    excess: float,
    failure: float = 0.05,
    *,
    relation: Relation | str = Relation.REPLACE_ONE,
    population: bool = True,
) -> int:
    """Return a number of records with which the selected hypothesis is within `excess` of the best one.

    But for a probability of `failure`; losses lie in [0, 1]. With `population` the loss is that of the population,
    else the mean over the records.

    Examples
    --------
    >>> records_enough(1000, epsilon=1.0, excess=0.1)
    9032
    >>> records_enough(1000, epsilon=0.01, excess=0.1) > 4 * records_enough(1000, epsilon=1.0, excess=0.1)
    True
    """
    count, epsilon = whole("hypotheses", hypotheses), positive("epsilon", epsilon)
    between("excess", excess, 0.0, 1.0)
    between("failure", failure, 0.0, 1.0)
    factor = 2.0 if Relation.parse(relation) is Relation.REPLACE_ONE else 1.0
    if not population:
        return math.ceil(factor * (math.log(count) + math.log(1 / failure)) / (epsilon * excess))
    private = 2 * factor * (math.log(count) + math.log(2 / failure)) / (epsilon * excess)
    sampling = 8 * math.log(4 * count / failure) / excess**2
    return math.ceil(max(private, sampling))
