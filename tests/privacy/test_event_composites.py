from collections.abc import Callable
from fractions import Fraction

import pytest

from tacit.errors import SettingError
from tacit.privacy.event import Composed, Gaussian, NegativeBinomial, PoissonRuns, RandomStopping, Repeated

STEP = Gaussian(1, 4)


def test_structures_hold_their_events() -> None:
    assert Composed([STEP, STEP]).events == (STEP, STEP)  # type: ignore[arg-type]
    assert Composed(()).inner() == ()
    assert Repeated(STEP, 3).inner() == (STEP,)
    assert RandomStopping(STEP, PoissonRuns(3)).inner() == (STEP,)
    assert hash(Composed((STEP,))) == hash(Composed((Gaussian(1, 4),)))


@pytest.mark.parametrize(
    "build",
    [
        lambda: Composed(STEP),  # type: ignore[arg-type]
        lambda: Composed((STEP, "x")),  # type: ignore[arg-type]
        lambda: Repeated(STEP, 0),
        lambda: NegativeBinomial(-1, Fraction(1, 2)),
        lambda: NegativeBinomial(1, 0),
        lambda: NegativeBinomial(1, 1),
        lambda: PoissonRuns(0),
        lambda: RandomStopping(STEP, "poisson"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_structure_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(SettingError):
        build()
