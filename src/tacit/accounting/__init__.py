"""From events to guarantees: what releases cost, alone and together."""

from tacit.accounting.accountants import ACCOUNTANTS, Price, price
from tacit.accounting.best import best, compare
from tacit.accounting.composition import Composition, compose, guarantee_of, mu_squared_of
from tacit.accounting.forecast import forecast

__all__ = [
    "ACCOUNTANTS",
    "Composition",
    "Price",
    "best",
    "compare",
    "compose",
    "forecast",
    "guarantee_of",
    "mu_squared_of",
    "price",
]
