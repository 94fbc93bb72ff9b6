"""From events to guarantees: what releases cost, alone and together. Names are loaded when they are first used."""

from typing import TYPE_CHECKING

from tacit.deferred import lazy_names

if TYPE_CHECKING:
    from tacit.accounting.accountants import ACCOUNTANTS, AccountantPrice, price
    from tacit.accounting.best_epsilon import best, compare
    from tacit.accounting.calibration import calibrate
    from tacit.accounting.clt_forecast import forecast
    from tacit.accounting.composition import Composition, compose, guarantee_of, mu_squared_of
    from tacit.accounting.filters import Filter, Odometer, amount, capacity, shares, split
    from tacit.accounting.interpretation import Reading, group_epsilon, reading, trade_off
    from tacit.accounting.training_run import Run

__all__ = [
    "ACCOUNTANTS",
    "Composition",
    "Filter",
    "Odometer",
    "AccountantPrice",
    "Reading",
    "Run",
    "amount",
    "best",
    "calibrate",
    "capacity",
    "compare",
    "compose",
    "forecast",
    "group_epsilon",
    "guarantee_of",
    "mu_squared_of",
    "price",
    "reading",
    "shares",
    "split",
    "trade_off",
]

__getattr__ = lazy_names(
    __name__,
    {
        "accountants": "ACCOUNTANTS AccountantPrice price",
        "best_epsilon": "best compare",
        "calibration": "calibrate",
        "clt_forecast": "forecast",
        "composition": "Composition compose guarantee_of mu_squared_of",
        "filters": "Filter Odometer amount capacity shares split",
        "interpretation": "Reading group_epsilon reading trade_off",
        "training_run": "Run",
    },
)
