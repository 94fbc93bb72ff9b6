"""Own losses: slopes are bounded whatever the function does, and what is no scalar function is refused."""

import copy
import ctypes
import math
import pickle
from typing import Any

import numba
import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.losses.dispatch import shape_of, slopes
from tacit.losses.loss import Code, Loss
from tacit.losses.own import OwnLoss, own_loss


def zero(_margin: float, _label: float) -> float:
    return 0.0


def residual(margin: float, label: float) -> float:
    return math.tanh(margin - label)


def distance(margin: float, label: float) -> float:
    return math.log(math.cosh(margin - label))


def smooth(**declared: Any) -> OwnLoss:
    return own_loss(residual, distance, **{"lipschitz": 1.0, **declared})


def found(loss: OwnLoss, margin: Any, label: Any) -> Any:
    z, y = np.broadcast_arrays(np.asarray(margin, dtype=np.float64), np.asarray(label, dtype=np.float64))
    out = np.empty(len(z))
    slopes(int(loss.code), shape_of(loss), np.ascontiguousarray(z), np.ascontiguousarray(y), out)
    return out


def test_the_kernels_call_the_function() -> None:
    z = np.linspace(-3, 3, 64)
    np.testing.assert_allclose(found(smooth(), z, 0.3), np.tanh(z - 0.3), rtol=1e-14)


def test_prepared_slopes_are_in_units_of_the_response() -> None:
    loss = smooth(curvature=1.0).prepared(5.0, 2.0)
    z, y = np.linspace(-1, 1, 64), 0.25
    np.testing.assert_allclose(found(loss, z, y), 2.0 * np.tanh(2.0 * (z - y)), rtol=1e-13)
    assert (loss.lipschitz, loss.smoothness) == (2.0, 4.0)


def raising(margin: float, _label: float) -> float:
    if margin != 0.5:
        raise ValueError("a record must not raise")
    return 0.0


@pytest.mark.parametrize(
    ("slope", "at", "expected"),
    [
        (lambda z, _y: math.log(-1.0 - z * z), 1.0, 0.0),
        (lambda z, _y: 1.0 / (z * 0.0), 1.0, 0.0),
        (lambda z, _y: 1e300 * z * 1e300, -2.0, 0.0),
        (lambda z, _y: 1e6 * z, 2.0, 1.5),
        (lambda z, _y: 1e6 * z, -2.0, -1.5),
        (lambda z, _y: 1e6 * z, math.nan, 0.0),
        (raising, 2.0, 0.0),
    ],
)
def test_no_slope_leaves_its_bound(slope: Any, at: float, expected: float) -> None:
    from tacit.losses import own

    compiled = own._guarded(slope, 1.5)
    assert compiled.ctypes(at, 0.0) == expected


def test_exceptions_say_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    loss = own_loss(raising, zero, lipschitz=1.0)
    assert (found(loss, np.linspace(0, 1, 64), 0.0) == 0.0).all()
    assert capfd.readouterr() == ("", "")


def random(margin: float, _label: float) -> float:
    return np.random.normal() * margin


def printing(margin: float, _label: float) -> float:
    print(margin)  # noqa: T201 - what is refused
    return 0.0


def allocating(margin: float, label: float) -> float:
    return float(np.array([margin, label]).sum())


def interpreting(margin: float, _label: float) -> float:
    with numba.objmode(size="float64"):
        size = float(len(str(margin)))
    return size + 0.0


_RAND = ctypes.CDLL(None).rand
_RAND.restype, _RAND.argtypes = ctypes.c_int, []


def by_address(margin: float, _label: float) -> float:
    return float(_RAND()) * margin


_TABLE = np.array([0.1, 0.2, 0.3])


def from_an_array(_margin: float, label: float) -> float:
    """An array of the function's own is read without a check of its ends: one label could end the process."""
    return float(_TABLE[int(label)])


@pytest.mark.parametrize("slope", [random, printing, allocating, by_address, interpreting, from_an_array])
def test_what_may_remember_or_speak_is_refused(slope: Any) -> None:
    with pytest.raises(SettingError, match="margin and label"):
        own_loss(slope, zero, lipschitz=1.0)


@pytest.mark.parametrize(
    ("slope", "value", "declared", "words"),
    [
        (lambda z, y: z - y, lambda z, y: (z - y) ** 2, {"lipschitz": 50.0}, "not the derivative"),
        (lambda z, y: -math.tanh(z - y), distance, {}, "not the derivative"),
        (lambda z, y: math.tanh(z - y) + 2e-3, distance, {"lipschitz": 2.0}, "not the derivative"),
        (residual, lambda _z, _y: math.nan, {}, "finite nowhere"),
        (lambda z: z, distance, {}, "two floats"),
        (lambda _z, _y: "text", distance, {}, "two floats"),
        (lambda z, _y: {z}, distance, {}, "two floats"),
        (3.0, distance, {}, "must be functions"),
        (residual, None, {}, "must be functions"),
        (residual, distance, {"lipschitz": 0.0}, "lipschitz must be a positive"),
        (residual, distance, {"lipschitz": math.inf}, "lipschitz must be a positive"),
        (residual, distance, {"curvature": -1.0}, "curvature must be a positive"),
        (residual, distance, {"name": "a\nb"}, "printable"),
    ],
)
def test_a_wrong_declaration_is_refused(slope: Any, value: Any, declared: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        own_loss(slope, value, **{"lipschitz": 1.0, **declared})


@pytest.mark.filterwarnings("ignore:Slopes of this loss are cut")
@pytest.mark.parametrize(
    ("slope", "value", "lipschitz"),
    [
        (lambda z, y: -(2 * y - 1) if (2 * y - 1) * z < 1 else 0.0, lambda z, y: max(0.0, 1 - (2 * y - 1) * z), 2.0),
        (lambda z, y: 1.0 if z > y else -1.0, lambda z, y: abs(z - y), 1.0),
        (lambda z, y: math.exp(z) - y, lambda z, y: math.exp(z) - y * z, 5.0),
        (lambda z, y: z - y, lambda z, y: 0.5 * (z - y) ** 2, 1.0),
        (lambda z, y: math.log(z) - y, lambda z, y: z * math.log(z) - z - y * z, 5.0),
    ],
    ids=["hinge", "absolute", "poisson, cut", "squared, cut", "undefined below 0"],
)
def test_corners_cuts_and_domains_are_allowed(slope: Any, value: Any, lipschitz: float) -> None:
    assert own_loss(slope, value, lipschitz=lipschitz).lipschitz == lipschitz


def test_a_compiled_function_may_be_given() -> None:
    jit: Any = numba.njit
    loss = own_loss(jit(residual), jit(distance), lipschitz=1.0)
    assert found(loss, [0.5], 0.0)[0] == pytest.approx(math.tanh(0.5))


def test_a_copy_is_the_same_and_a_pickle_is_compiled_again() -> None:
    loss = smooth(curvature=1.0, convex=True, name="log cosh")
    assert copy.deepcopy(loss) is loss
    twin = pickle.loads(pickle.dumps(loss.prepared(1.0, 2.0)))
    assert twin == loss.prepared(1.0, 2.0)
    np.testing.assert_array_equal(found(twin, [0.1, 0.7], 0.2), found(loss.prepared(1.0, 2.0), [0.1, 0.7], 0.2))


def test_a_loss_without_a_function_is_never_called() -> None:
    for loss in (Loss("own", Code.OWN, 1.0, 1.0), OwnLoss("own", Code.OWN, 1.0, 1.0, (0.0, 1.0, 1.0))):
        with pytest.raises(SettingError, match="own_loss"):
            shape_of(loss)


def test_an_own_loss_leaves_stored_kernels_alone() -> None:
    from tacit.losses import regression
    from tacit.mechanisms.kernels import add_gradients

    block, theta, total = np.zeros((1, 3, 64), np.float32), np.zeros(2), np.zeros(2, np.int64)

    def add(loss: Any) -> None:
        add_gradients(block, theta, (int(loss.code), shape_of(loss)), (False, False), (1.0, 1.0, math.inf), total)

    add(regression.huber(1.0))
    known = len(add_gradients.signatures)  # type: ignore[attr-defined]
    add(smooth())
    add(own_loss(zero, zero, lipschitz=1.0))
    assert len(add_gradients.signatures) == known  # type: ignore[attr-defined]


def test_what_numba_lacks_is_named() -> None:
    with pytest.raises(SettingError, match="name 'foo' is not defined"):
        own_loss(lambda z, _: foo(z), distance, lipschitz=1.0)  # type: ignore[name-defined]  # noqa: F821


def test_a_bound_that_makes_another_loss_of_the_value_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"Slopes of this loss are cut: at margin .* steeper than lipschitz=1"):
        own_loss(lambda z, y: z - y, lambda z, y: 0.5 * (z - y) ** 2, lipschitz=1.0)
    # No margin of the grid gets as far as that.
    own_loss(lambda z, y: z - y, lambda z, y: 0.5 * (z - y) ** 2, lipschitz=30.0)
