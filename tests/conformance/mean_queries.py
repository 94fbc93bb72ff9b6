"""Queries of means over records of two features, a constant and a label, for the tests of every mechanism."""

from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Apply, Cell, Interval, Number, Power

FIRST, SECOND, LABEL = Cell("x0", 0, 1.0), Cell("x1", 1, 1.0), Cell("y", 3, 1.0)
WHOLE = Interval(-1.0, 1.0)
X = Statistic("x0", FIRST, WHOLE)
SQUARE = Statistic("x0 ** 2", Power(FIRST, 2), Interval(0.0, 1.0))
PRODUCT = Statistic("x0 * x1", Apply("*", (FIRST, SECOND)), WHOLE)
NARROW = Statistic("x1", SECOND, Interval(-0.1, 0.3))
"""Its interval is wrong: values are clipped to it."""
WILD = Statistic("log(1 / x0)", Apply("log", (Apply("/", (Number(1.0), FIRST)),)), Interval(-2.0, 2.0))
"""Infinite or not a number for some records, whatever its interval says."""
CENTRED = Statistic("x0 - 1", Apply("-", (FIRST, Number(1.0))), Interval(-2.0, 0.0))

MEANS: dict[str, BoundedSums | GroupSums] = {
    "mean": BoundedSums((X,)),
    "means": BoundedSums((X, PRODUCT, SQUARE)),
    "means, clipped": BoundedSums((NARROW, WILD, CENTRED)),
    "shares of groups": GroupSums((), LABEL, 2),
    "means of groups": GroupSums((X, SQUARE, NARROW), LABEL, 2),
    "means of more groups than there are": GroupSums((WILD,), LABEL, 4),
}
