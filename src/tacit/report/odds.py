"""What a guarantee means for somebody who suspects something: odds before and after, and detections."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR

from tacit.accounting.interpretation import reading
from tacit.privacy.budget import Guarantee
from tacit.privacy.relation import Relation
from tacit.text_table import Table, rounded

SUSPICIONS = (0.01, 0.1, 0.5)
ALARM = 0.05


def suspicion_table(guarantee: Guarantee) -> Table:
    """What a suspicion can become by everything that is released: p e^±ε / (p e^±ε + 1 - p), rounded outwards."""
    rows = []
    for prior in SUSPICIONS:
        low, high = (_posterior(prior, sign * guarantee.epsilon) for sign in (-1.0, 1.0))
        rows.append((_percent(prior, ROUND_FLOOR), _percent(low, ROUND_FLOOR), _percent(high, ROUND_CEILING)))
    return Table(("suspicion before", "at least, after", "at most, after"), tuple(rows))


def delta_in_words(delta: float) -> str:
    """δ as a number and as one in so many, rounded to the side that promises less."""
    number = rounded(delta, 3, ROUND_CEILING)
    return f"δ = {number} (1 in {math.floor((1.0 + 1e-12) / delta):,})" if 0.0 < delta < 1.0 else f"δ = {number}"


def detection_sentence(guarantee: Guarantee, unit: str) -> str:
    """How often the best test detects what the records of one unit were."""
    found = reading(guarantee, false_alarm=ALARM)
    most, least = _percent(found.detection, ROUND_CEILING), _percent(ALARM, ROUND_FLOOR)
    tested = f"of whether the records of one {unit} were used"
    if guarantee.relation is Relation.REPLACE_ONE:
        tested = f"of what the records of one {unit} say"
    return (
        f"Take the best possible test {tested}. If it raises a false alarm in {least} of cases, it detects at most "
        f"{most} of what it looks for. Guessing detects {least}."
    )


def _posterior(prior: float, log_factor: float) -> float:
    if math.isinf(log_factor):
        return 1.0 if log_factor > 0 else 0.0
    # The logistic function of the log-odds, without overflow.
    odds = math.log(prior / (1.0 - prior)) + log_factor
    return 1.0 / (1.0 + math.exp(-odds)) if odds > -700 else 0.0


def _percent(rate: float, rounding: str) -> str:
    return f"{rounded(100.0 * rate, 3, rounding)}%"
