"""What is asked of Tacit: marks table by table, and checks of its behaviour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.accuracy.catalogue import Entry
from benchmarks.accuracy.results import Results
from benchmarks.accuracy.scores import METRICS, SMALLER_IS_BETTER, WORDS, orientation
from benchmarks.rivals.registry import BASELINE, OURS, WIDE

TOLERANCE = 0.002
MARKED_EPSILONS = (0.1, 1.0, 8.0)
# At ε = 0.1, 1, 8.
MARKS: dict[tuple[str, str], tuple[float, float, float]] = {
    ("adult", "auc"): (0.889, 0.898, 0.899),
    ("diabetes130", "auc"): (0.622, 0.664, 0.667),
    ("covertype", "auc"): (0.821, 0.824, 0.824),
    ("acs_gov", "auc"): (0.846, 0.851, 0.851),
    ("adult", "log_loss"): (0.346, 0.333, 0.331),
    ("diabetes130", "log_loss"): (0.663, 0.626, 0.623),
    ("covertype", "log_loss"): (0.539, 0.519, 0.518),
    ("acs_gov", "log_loss"): (0.490, 0.476, 0.476),
    ("california", "r2"): (0.675, 0.683, 0.683),
    ("diamonds", "r2"): (0.898, 0.930, 0.931),
    ("cps1988", "r2"): (0.465, 0.478, 0.478),
    ("flights", "r2"): (0.800, 0.808, 0.809),
    ("acs_logsal", "r2"): (0.511, 0.525, 0.526),
}
LOSS_NEAR, FROM_EPSILON = 0.005, 1.0
SLOPES, SLOPE_EPSILON = (0.97, 1.03), 8.0
WIDE_COST, WIDE_EPSILON = 0.02, 1.0
CONTEST_EPSILON = 0.1


@dataclass(frozen=True)
class Verdict:
    """One thing asked, what was measured, and whether it was met."""

    check: str
    table: str
    asked: str
    measured: str
    met: bool


def _gain(metric: str, value: float, than: float) -> float:
    """By how much a value is better than another."""
    return than - value if metric in SMALLER_IS_BETTER else value - than


def marks(results: Results) -> Iterator[Verdict]:
    """Means against the marks, within the tolerance."""
    for (table, metric), asked in MARKS.items():
        for epsilon, mark in zip(MARKED_EPSILONS, asked, strict=True):
            found = results.of(OURS, table, epsilon, metric)
            if found is not None:
                met = _gain(metric, found.mean, mark) >= -TOLERANCE
                what = f"{WORDS[metric]}, ε = {epsilon:g}"
                wish = f"{orientation(metric)} {mark:.3f}"
                yield Verdict(what, table, wish, f"{found.mean:.4f}", met)


def monotone(results: Results, entry: Entry) -> Iterator[Verdict]:
    """More budget is never worse on average, within tolerance and two standard errors."""
    metric = METRICS[entry.kind][0]
    found = [results.of(OURS, entry.name, epsilon, metric) for epsilon in results.epsilons]
    means = [summary for summary in found if summary is not None]
    if len(means) < 2:
        return
    worst, met = 0.0, True
    for lower, higher in pairwise(means):
        drop = -_gain(metric, higher.mean, lower.mean)
        allowed = max(TOLERANCE, 2.0 * (lower.error**2 + higher.error**2) ** 0.5)
        worst, met = max(worst, drop), met and drop <= allowed
    measured = f"largest fall {worst:.4f}"
    yield Verdict(f"{WORDS[metric]} never falls as ε grows", entry.name, "no fall", measured, met)


def above_trivial(results: Results, entry: Entry) -> Iterator[Verdict]:
    """No worse than the model that knows only the mean response, at every ε."""
    metric = "log_loss" if entry.kind == "classification" else "r2"
    floor = results.trivial(entry.name, metric) if metric == "log_loss" else 0.0
    found = [results.of(OURS, entry.name, epsilon, metric) for epsilon in results.epsilons]
    means = [summary.mean for summary in found if summary is not None]
    if floor is None or not means:
        return
    worst = max(means) if metric == "log_loss" else min(means)
    met = _gain(metric, worst, floor) >= -TOLERANCE
    wish = f"{orientation(metric)} {floor:.3f}"
    check = f"{WORDS[metric]} no worse than the trivial model's"
    yield Verdict(check, entry.name, wish, f"worst {worst:.4f}", met)


def near_baseline(results: Results, entry: Entry) -> Iterator[Verdict]:
    """Log-loss close to that without privacy where the budget is ordinary."""
    baseline = results.of(BASELINE, entry.name, None, "log_loss")
    epsilons = [epsilon for epsilon in results.epsilons if epsilon >= FROM_EPSILON]
    found = [results.of(OURS, entry.name, epsilon, "log_loss") for epsilon in epsilons]
    means = [summary.mean for summary in found if summary is not None]
    if baseline is None or not means:
        return
    excess = max(means) - baseline.mean
    check = f"log-loss over the non-private, ε ≥ {FROM_EPSILON:g}"
    wish = f"at most {LOSS_NEAR:g}"
    yield Verdict(check, entry.name, wish, f"{excess:.4f}", excess <= LOSS_NEAR)


def unbiased(results: Results, entry: Entry) -> Iterator[Verdict]:
    """Margins on the scale of the fit without privacy where the budget is large."""
    found = results.of(OURS, entry.name, SLOPE_EPSILON, "slope")
    if found is None:
        return
    low, high = SLOPES
    check = f"slope on the non-private fit, ε = {SLOPE_EPSILON:g}"
    wish = f"{low:g} to {high:g}"
    yield Verdict(check, entry.name, wish, f"{found.mean:.3f}", low <= found.mean <= high)


def loose_bounds(results: Results, entry: Entry) -> Iterator[Verdict]:
    """Bounds ten times wider than the data cost little."""
    metric = METRICS[entry.kind][0]
    tight = results.of(OURS, entry.name, WIDE_EPSILON, metric)
    wide = results.of(WIDE, entry.name, WIDE_EPSILON, metric)
    if tight is None or wide is None:
        return
    cost = -_gain(metric, wide.mean, tight.mean)
    check = f"{WORDS[metric]} lost to bounds ten times wider, ε = {WIDE_EPSILON:g}"
    yield Verdict(check, entry.name, f"at most {WIDE_COST:g}", f"{cost:.4f}", cost <= WIDE_COST)


def ahead(results: Results, entry: Entry) -> Iterator[Verdict]:
    """Better than every rival at a small budget, although the rivals were tuned on the test."""
    metric = METRICS[entry.kind][0]
    ours = results.of(OURS, entry.name, CONTEST_EPSILON, metric)
    rivals = {
        method.label: summary.mean
        for name, method in results.methods.items()
        if name not in (OURS, WIDE, BASELINE)
        and (summary := results.of(name, entry.name, CONTEST_EPSILON, metric)) is not None
    }
    if ours is None or not rivals:
        return
    best = max(rivals, key=lambda label: _gain(metric, rivals[label], 0.0))
    met = _gain(metric, ours.mean, rivals[best]) > 0
    check = f"{WORDS[metric]} above every rival, ε = {CONTEST_EPSILON:g}"
    wish = f"above {rivals[best]:.4f} ({best})"
    yield Verdict(check, entry.name, wish, f"{ours.mean:.4f}", met)


def checks(results: Results) -> list[Verdict]:
    """All checks. Tables of a few hundred rows are held to the first two only."""
    found: list[Verdict] = []
    for check in (monotone, above_trivial):
        for entry in results.tables():
            found += check(results, entry)
    for entry in results.tables("classification"):
        if entry.group != "bundled":
            found += near_baseline(results, entry)
    for check in (unbiased, loose_bounds, ahead):
        for entry in results.tables():
            if entry.group != "bundled":
                found += check(results, entry)
    return found
