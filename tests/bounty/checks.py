"""Checks that a privacy bug has to get past, by name. A check says what is wrong, or None.

No check knows of a particular bug. Together they ask: do neighbours differ by more than was paid; does anything but
noised answers leave; is the noise what it is said to be, fresh and exact; is every price at least that of the textbook;
is every answer charged first; is a record refused or noticed for its content.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from tacit import audit
from tacit.accounting import compose
from tacit.audit.registry import ATTACKS, REPLAYED
from tacit.contract.query import KIND_OF
from tacit.contract.sensitivity import LaplacePrice, Price
from tacit.ledger import Ledger
from tacit.privacy import (
    Gaussian,
    Laplace,
    PoissonSampled,
    Pure,
    Repeated,
    SampledWithoutReplacement,
    SampledWithReplacement,
)
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, PoissonRuns, RandomStopping
from tacit.privacy.relation import Relation
from tests.bounty import batch_checks, ledger_checks, oracle, path_checks, use_checks
from tests.bounty.fits import CASES, MINIMA, FitCase, neighbours, table_of
from tests.bounty.recorded_fits import Asked, Diverged, answered_as, quiet, realised, recorded

PAIRS, FITS = 6, 12
RARE = 1e-7
"""Probability that a statistical part of a check is wrong about sound code."""
ROUNDED = 1 + 1e-6
DELTA = 1e-5

Check = Callable[[], str | None]


def neighbours_differ(case: FitCase, relation: Relation) -> str | None:
    """Replay whole fits on neighbouring tables: their sums may differ by no more than the budget that was asked for."""
    pure = case.budget.is_pure
    allowed = float(case.budget.epsilon or 0.0) if pure else float(case.budget.mu or 0.0) ** 2
    for first, second in neighbours(case, relation, PAIRS):
        run = recorded(case.fitting(relation), first)
        again = answered_as(case.fitting(relation), second, run)
        if (again.left, again.warned) != (run.left, run.warned):
            return "what leaves a fit differs between neighbours beyond the noised answers"
        shown = realised(run, again)[pure]
        if shown > allowed * ROUNDED:
            return f"neighbouring tables differ by {shown:.4g} where {allowed:.4g} was paid"
    return None


def else_leaves(case: FitCase, relation: Relation) -> str | None:
    """Give a fit of another table the answers of the first: everything that leaves must be the same."""
    first, second = table_of(case.outcome, 1), table_of(case.outcome, 2)
    for other in (second, {**second, "X": np.zeros_like(second["X"]), "y": np.full_like(second["y"], 0.0)}):
        run = recorded(case.fitting(relation), first)
        again = answered_as(case.fitting(relation), other, run)
        if len(again.asked) != len(run.asked):
            return "another number of queries is asked of another table, for the same answers"
        if again.warned != run.warned:
            return "warnings depend on the records"
        if again.left != run.left:
            return "what leaves a fit depends on the records beyond the noised answers"
    return None


def own_price(asked: tuple[Asked, ...], relation: Relation) -> tuple[Fraction, float]:
    """μ² and pure ε of answers by the textbook."""
    square, epsilon = Fraction(0), 0.0
    for it in asked:
        if isinstance(it.price, LaplacePrice):
            epsilon += oracle.pure_epsilon(it.price, relation)
        elif isinstance(it.price, Price):
            size = int(getattr(it.query, "size", 1))
            square += oracle.mu_squared(KIND_OF[type(it.query)], it.price, relation, size)
    return square, epsilon


def paid_too_little(case: FitCase, relation: Relation) -> str | None:
    """Recount what a fit asked, by the textbook: it must be within the budget and within what is certified."""
    found: list[Any] = []
    fitting = case.fitting(relation)
    run = recorded(lambda table: found.append(fitting(table)[1]), table_of(case.outcome, 3))
    if run.beside:
        return "answers leave beside the gate"
    square, epsilon = own_price(run.asked, relation)
    (certificate,) = found
    stated = certificate.parsed["total"]
    if case.budget.is_pure:
        costs, allowed, claimed = epsilon, float(case.budget.epsilon or 0), float(stated["epsilon"])
    else:
        costs, allowed = float(square), float(case.budget.mu or 0) ** 2
        own, claimed = oracle.gaussian_epsilon(float(square) ** 0.5, stated["delta"]), float(stated["epsilon"])
        if own > claimed * ROUNDED:
            return f"the certificate says ε = {claimed:.6g}, the textbook {own:.6g}"
    if costs > allowed * ROUNDED:
        return f"answers cost {costs:.6g} and the budget is {allowed:.6g}"
    if not certificate.parsed["private"] or certificate.parsed["relation"] != str(relation):
        return "the certificate is not of this fit"
    return None


def charged_too_little(case: FitCase, relation: Relation) -> str | None:
    """Fit in a ledger: what is charged must be at least what was asked, by the textbook."""
    with Ledger(budget=Budget(epsilon=9.0, delta=0) if case.budget.is_pure else Budget(mu=9.0)) as ledger:
        run = recorded(case.fitting(relation), table_of(case.outcome, 5))
    square, epsilon = own_price(run.asked, relation)
    found = ledger.guarantee()
    if found is None or len(ledger.charges()) != 1:
        return "a fit in a ledger is not charged, or not once"
    paid, costs = (found.epsilon, epsilon) if case.budget.is_pure else ((found.mu or 0.0) ** 2, float(square))
    return f"a ledger is charged {paid:.6g} for what costs {costs:.6g}" if costs > paid * ROUNDED else None


def noise_is_wrong(case: FitCase, relation: Relation) -> str | None:
    """Look at the noise of all answers of a few fits: lattice, repetitions, scale, correlation of successive ones."""
    fitting, table = case.fitting(relation), table_of(case.outcome, 4)
    fits = [
        [it for it in recorded(fitting, table).asked if isinstance(it.price, Price) and it.exact is not None]
        for _ in range(FITS)
    ]
    seen: set[bytes] = set()
    for it in itertools.chain.from_iterable(fits):
        assert isinstance(it.price, Price)
        steps = it.answer.value * (2.0 ** (it.price.bits + 1) / it.answer.noise_scale)
        if not np.allclose(steps, np.rint(steps), atol=2.0**-4, rtol=0.0):
            return "a noised answer is not on the lattice of its noise"
        noise = standardised(it)
        if it.price.bits > 20 and noise.size > 1:
            if noise.tobytes() in seen or len(np.unique(noise)) < noise.size:
                return "noise is used twice"
            seen.add(noise.tobytes())
    return law_of_noise([[standardised(it) for it in fit] for fit in fits])


def law_of_noise(fits: list[list[Any]]) -> str | None:
    """Test that noises are standard Gaussian, and that successive ones, in a fit or of two fits, are independent."""
    every = np.concatenate([noise for fit in fits for noise in fit] or [np.empty(0)])
    count, total = len(every), float(every @ every)
    if not stats.chi2.isf(1 - RARE / 2, max(count, 1)) < max(total, 1e-300) < stats.chi2.isf(RARE / 2, max(count, 1)):
        return f"the noise has {np.sqrt(total / max(count, 1)):.4g} of the deviation that is stated" if count else None
    if abs(every.sum()) > 6 * np.sqrt(count):
        return "the noise is not centred"
    successive = itertools.chain(*map(itertools.pairwise, fits), *map(itertools.pairwise, zip(*fits, strict=False)))
    products = [one * two for one, two in successive if one.shape == two.shape]
    several = np.concatenate(products or [np.empty(0)])
    if len(several) > 100 and abs(several.sum()) > 7 * np.sqrt(len(several)):
        return "successive noises are correlated"
    return None


def standardised(it: Asked) -> Any:
    """Independent entries of the noise on an answer, each of deviation 1."""
    assert it.exact is not None
    noise = (it.answer.value - it.exact) / it.answer.noise_scale
    if noise.ndim > 1 and noise.shape[-1] == noise.shape[-2] and np.array_equal(noise, noise.swapaxes(-1, -2)):
        upper = np.triu_indices(noise.shape[-1], 1)
        diagonal = np.diagonal(noise, axis1=-2, axis2=-1).ravel()
        return np.concatenate([diagonal, (noise[..., upper[0], upper[1]] * np.sqrt(2.0)).ravel()])
    return noise.ravel()


def replay_refutes(name: str, relation: Relation) -> str | None:
    """Replay transcripts of a solver in exact integers."""
    found = audit.replay(name, pairs=4, relation=relation)
    return f"a transcript costs {float(found.largest_query_share):.4g} of what was paid" if found.refuted else None


def audit_refutes(name: str, mu: float, runs: int) -> str | None:
    """Audit a guarantee in two worlds."""
    found = audit.run(name, mu=mu, runs=runs, confidence=1 - RARE)
    return found.statement if found.refuted else None


def price_is_low() -> str | None:
    """Compare compositions with the textbook's."""
    laplace = oracle.laplace_loss(0.3)
    gauss, whole = Gaussian(1, 4), oracle.gaussian_epsilon(0.5, DELTA)
    sampled = PoissonSampled(Gaussian(1, 1), Fraction(1, 16))
    mixed = [(oracle.sampled_loss(1.0, 1 / 16, removing=True), 20), (laplace, 3)]
    own: dict[str, tuple[list[Event], float]] = {
        "Gaussian": ([gauss], whole),
        "16 Gaussians": ([Repeated(gauss, 16)], oracle.gaussian_epsilon(2.0, DELTA)),
        "Gaussians one by one": ([gauss] * 4, oracle.gaussian_epsilon(1.0, DELTA)),
        "pure": ([Pure(Fraction(1, 2)), Repeated(Pure(Fraction(1, 8)), 4)], 1.0 - 1e-9),
        "Laplace": ([Repeated(Laplace(3, 10), 10)], oracle.composed_epsilon([(laplace, 10)], DELTA)),
        "Poisson samples": ([Repeated(sampled, 50)], oracle.sampled_epsilon(1.0, 1 / 16, 50, DELTA)),
        "few Poisson samples": ([PoissonSampled(Gaussian(4, 1), 0.5)], oracle.sampled_epsilon(2.0, 0.5, 1, DELTA)),
        "subsets": (
            [Repeated(SampledWithoutReplacement(Gaussian(1, 1), 1, 16), 50)],
            oracle.sampled_epsilon(1.0, 1 / 16, 50, DELTA),
        ),
        "draws": ([SampledWithReplacement(Gaussian(1, 1), 16, 16)], oracle.drawn_epsilon(1.0, 16, 16, DELTA)),
        "mixed": ([Repeated(sampled, 20), Repeated(Laplace(3, 10), 3)], oracle.composed_epsilon(mixed, DELTA)),
        "search": ([RandomStopping(Gaussian(1, 4), PoissonRuns(10))], oracle.poisson_search_epsilon(0.5, 10, DELTA)),
    }
    for name, (events, least) in own.items():
        delta = 0.0 if name == "pure" else DELTA
        composition = compose(events, "replace-one" if name in {"subsets", "draws"} else "add-remove")
        pure = composition.pure_epsilon
        claimed = float(pure) if name == "pure" and pure is not None else composition.epsilon(delta)
        # The oracle rounds every loss down by a step, and a search is priced on another grid of orders.
        if claimed < least * (0.99 if name == "search" else 0.999) - 0.002 * (name != "Gaussian"):
            return f"{name}: ε = {claimed:.5g} is stated, and the textbook says {least:.5g}"
    return None


def _named(prefix: str, function: Callable[..., str | None]) -> dict[str, Check]:
    return {
        f"{prefix}: {name}, {relation}": partial(function, case, relation)
        for name, case in CASES.items()
        for relation in case.relations
    }


_RUNS = {"PerturbedMinimum": 400, "NoisyMinimum": 2000, "DampedDirection": 1000, "BatchGradientSum": 300}
_AUDITED = [name for name, attack in ATTACKS.items() if attack.subject is audit.Subject.MECHANISM]
CHECKS: Mapping[str, Check] = {
    **_named("neighbours", neighbours_differ),
    **_named("nothing else", else_leaves),
    **{f"nothing else: {name}": partial(else_leaves, case, Relation.ZERO_OUT) for name, case in MINIMA.items()},
    **_named("recount", paid_too_little),
    **{f"ledger: {name}": partial(charged_too_little, case, case.relations[0]) for name, case in CASES.items()},
    **{f"noise: {name}": partial(noise_is_wrong, case, case.relations[0]) for name, case in CASES.items()},
    **{
        f"replay: {name}, {relation}": partial(replay_refutes, name, relation)
        for name in REPLAYED
        for relation in (Relation.REPLACE_ONE, Relation.ZERO_OUT)
    },
    **{f"audit: {name}": partial(audit_refutes, name, 1.0, _RUNS.get(name.split(":")[0], 4000)) for name in _AUDITED},
    "prices": price_is_low,
    **batch_checks.CHECKS,
    **ledger_checks.CHECKS,
    **use_checks.CHECKS,
    **path_checks.CHECKS,
}
"""Every check by its name."""


def found_by(name: str) -> str | None:
    """What a check finds; an error of the audited code counts, because sound code raises none."""
    try:
        with quiet():
            return CHECKS[name]()
    except Diverged as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the check did not pass
        return f"{type(error).__name__}: {error} ({traceback.extract_tb(error.__traceback__)[-1].name})"
