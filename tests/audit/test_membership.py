"""The q-score. Oracles: its mean for members and others, and the trade-off curve of a Gaussian release."""

import numpy as np
import pytest

from tacit.audit.bounds import Scores
from tacit.audit.membership import MembershipResult, attack_means, genotypes, q_scores
from tacit.errors import SettingError


def test_exact_means_tell_members_apart() -> None:
    found = attack_means(seed=1)
    assert found.auc >= 0.99
    assert found.largest_auc == 1.0
    assert found.within_bound


def test_private_means_stay_within_the_curve() -> None:
    """Fresh noise; a false alarm in 1e-6."""
    found = attack_means(mu=1.0, seed=1)
    assert found.within_bound
    assert found.auc < 0.76
    assert found.largest_auc == pytest.approx(0.7602, abs=1e-4)


def test_a_curve_beyond_the_bound_is_noticed() -> None:
    exact = attack_means(seed=2)
    assert not MembershipResult(exact.scores, exact.members, exact.sites, mu=1.0).within_bound


def test_a_members_score_is_higher_by_its_own_part_of_the_mean() -> None:
    """10 members at 4000 sites: the mean difference is Σ 2p(1 - p) / 10, within a tenth."""
    rng = np.random.default_rng(3)
    frequencies = rng.uniform(0.05, 0.5, 4000)
    inside, outside = (genotypes(rng, frequencies, 10) for _ in range(2))
    scores = [q_scores(people, inside.mean(axis=0), 2 * frequencies) for people in (inside, outside)]
    expected = float(np.sum(2 * frequencies * (1 - frequencies))) / 10
    assert scores[0].mean() - scores[1].mean() == pytest.approx(expected, rel=0.1)


def test_genotypes_are_copies_of_an_allele() -> None:
    found = genotypes(np.random.default_rng(0), np.full(5, 0.3), 4000)
    assert set(np.unique(found)) == {0.0, 1.0, 2.0}
    assert found.mean() == pytest.approx(0.6, abs=0.05)


def test_the_auc_counts_pairs() -> None:
    scores = Scores(np.array([0.0, 1.0]), np.array([0.5, 2.0]))
    assert MembershipResult(scores, 2, 1).auc == 0.75


@pytest.mark.parametrize("given", [{"members": 1}, {"sites": 0}, {"mu": -1.0}])
def test_bad_settings_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        attack_means(**given)  # type: ignore[arg-type]
