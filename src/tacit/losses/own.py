"""Own losses: compiled functions of a margin and a label that somebody declares, with what is enforced of them.

The slope of a record is what the function returns, 0 where that is not finite or where it raises, clipped to
±lipschitz. So the bound on the slope holds whatever the function is. Convexity and a bound on the curvature are
declarations that nothing enforces: no guarantee may rest on them.

The function is called through the address of its compiled form, one record at a time. So one kernel serves all own
losses, its stored machine code contains none of them, and one pair of margin and label has the same slope at any place
of a table. That a slope depends on nothing else is checked at construction: the compiled code may call mathematical
functions and nothing more, neither random numbers nor the interpreter.
"""

from __future__ import annotations

import functools
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numba
import numpy as np
from numba.core.errors import NumbaError

from tacit.errors import SettingError
from tacit.losses.loss import Code, Loss
from tacit.validate import positive

Scalar = Callable[[float, float], float]
SIGNATURE = "float64(float64, float64)"
MARGINS = np.concatenate([-np.geomspace(20.0, 0.01, 60), np.geomspace(0.01, 20.0, 60)])
"""Public margins at which slope and value are compared."""
LABELS = (0.0, 1.0, -1.0, 0.37)
CLASSES = (0.0, 1.0)
"""Labels that every own loss can meet."""
STEP = 1e-5
"""Of a central difference, whose error is near 1e-10 for values of size 1."""
TOLERANCE = 1e-4
_DECLARED = re.compile(r'^declare [^@]*@"?([^"(]+)"?\(', re.MULTILINE)
_INTRINSIC = (
    r"fabs|sqrt|exp(2|10)?|log(2|10)?|powi?|sin|cos|tan|tanh|floor|ceil|trunc|l?l?rint|nearbyint|l?l?round|roundeven"
    r"|copysign|minnum|maxnum|minimum|maximum|fma|fmuladd|canonicalize|ldexp|frexp|is\.fpclass|fpto[su]i\.sat"
    r"|lifetime\.(start|end)|assume|memset|memcpy|memmove|[su](min|max)|abs|ctlz|cttz|ctpop|fsh[lr]"
    r"|[su](add|sub|mul)\.(with\.overflow|sat)"
)
"""Arithmetic that LLVM has names for: no clock, no register, no stack."""
_GLOBAL = re.compile(r'^@"?([^"=]+?)"? = (.*)$', re.MULTILINE)
_HARMLESS = re.compile(r"_ZN08NumbaEnv.*|PyExc_.*|switch\.table.*")
"""What numba itself refers to, and tables that LLVM makes of branches."""
_TEXT = re.compile(r"\[\d+ x i8\] ")
_MATHEMATICAL = re.compile(
    rf"llvm\.({_INTRINSIC})(\..*)?|(numba_)?_?({'|'.join((*dir(math), 'sincos', 'round', 'rint', 'fmax', 'fmin'))})f?"
)


@dataclass(frozen=True)
class OwnLoss(Loss):
    """A loss of somebody's own; `shape` are center and scale of the response, in whose units the function is."""

    kind: ClassVar[str] = "own"
    convex: bool = False  # type: ignore[misc]
    slope: Scalar | None = None
    value: Scalar | None = None
    compiled: Any = field(default=None, compare=False, repr=False)
    """The compiled slope, which lives as long as a loss holds it."""

    @property
    def address(self) -> int:
        """Where the compiled slope is."""
        return int(self.compiled.address)

    def prepared(self, center: float, scale: float) -> OwnLoss:
        """Return the loss of prepared margins and labels, which are (y - center) / scale."""
        steepest = self.shape[2]
        bent = self.smoothness * scale**2
        return replace(self, shape=(center, scale, steepest), lipschitz=steepest * scale, smoothness=bent)

    def __repr__(self) -> str:
        """Say its name and its constants."""
        shape = "convex" if self.convex else "not convex"
        return (
            f"OwnLoss({self.name!r}: slopes up to {self.lipschitz:.4g}, curvature up to {self.smoothness:.4g}, {shape})"
        )

    def __deepcopy__(self, _memo: Any) -> OwnLoss:
        """Return itself: nothing in it changes, and a copied function would be compiled again."""
        return self

    def __reduce__(self) -> Any:
        """Leave the compiled function behind: another process compiles its own."""
        return _restored, (self.slope, self.value, self.name, self.lipschitz, self.smoothness, self.shape, self.convex)


def own_loss(
    slope: Scalar,
    value: Scalar,
    *,
    lipschitz: float,
    curvature: float | None = None,
    convex: bool = False,
    name: str = "own loss",
) -> OwnLoss:
    """Declare a loss of a margin and a label.

    Both functions take (margin, label) as floats and return a float; numba compiles them. A label is 0 or 1 for
    `MarginClassifier`, and the response in its own units for `MarginRegressor`.

    Guarantee: slopes are within ±lipschitz whatever the function returns. A value that is not finite, or an exception,
    counts as slope 0. A function that draws random numbers, prints or calls the interpreter is refused, as is a slope
    that is not the derivative of the value on a public grid. Where slopes are cut on that grid, which makes another
    loss of it, a warning says so.

    Parameters
    ----------
    slope, value
        The derivative of the loss in the margin, and the loss.
    lipschitz
        Bound on the size of the slope. It is enforced: slopes beyond it are cut.
    curvature
        Bound on the second derivative, for the length of steps; None: steps are planned without it. Not enforced.
    convex
        Whether the loss is convex in the margin, for the forecast. Not enforced.
    name
        As certificates and reports call it.

    Examples
    --------
    >>> import math
    >>> loss = own_loss(lambda z, y: math.tanh(z - y), lambda z, y: math.log(math.cosh(z - y)), lipschitz=1.0)
    >>> loss.lipschitz
    1.0
    """
    steepest = positive("lipschitz", lipschitz)
    bent = math.inf if curvature is None else positive("curvature", curvature)
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 60:
        raise SettingError("name must be a short printable text.")
    loss = _restored(slope, value, f"own: {name}", steepest, bent, (0.0, 1.0, steepest), bool(convex))
    cut_at = _require_derivative(loss.compiled.ctypes, value, steepest)
    if cut_at is not None:
        warnings.warn(
            f"Slopes of this loss are cut: at margin {cut_at[0]:.3g} and label {cut_at[1]:g} the value is steeper than "
            f"lipschitz={steepest:g}. What is minimised is another loss then, which goes on linearly from there. Give "
            "a larger lipschitz (noise grows with it), or a value that is no steeper, such as Huber's.",
            UserWarning,
            stacklevel=2,
        )
    return loss


def _restored(
    slope: Scalar,
    value: Scalar,
    name: str,
    lipschitz: float,
    smoothness: float,
    shape: tuple[float, float, float],
    convex: bool,
) -> OwnLoss:
    compiled = _guarded(slope, shape[2])
    return OwnLoss(
        name, Code.OWN, lipschitz, smoothness, shape, convex=convex, slope=slope, value=value, compiled=compiled
    )


def _guarded(function: Any, steepest: float) -> Any:
    """Compile a slope that cannot raise, is finite and within ±steepest; refuse what is no scalar function."""
    compiled = _guard(function, steepest)
    text = compiled.inspect_llvm()
    called = set(_DECLARED.findall(text)) - _machinery()
    if "inttoptr" in text:
        called.add("an address")
    for name, definition in _GLOBAL.findall(text):
        # An array would be read without a check of its ends, and what is no constant can be written.
        kept = " constant " in definition and _TEXT.search(definition) and "array.data" not in name
        if not (kept or _HARMLESS.fullmatch(name)):
            called.add(f"the global {name}")
    strange = sorted(called_name for called_name in called if not _MATHEMATICAL.fullmatch(called_name))
    if strange:
        what = "may depend on margin and label alone: no random numbers, arrays, printing or Python objects"
        raise SettingError(f"The slope of an own loss {what}. Its compiled form calls {', '.join(strange[:3])}.")
    return compiled


def _guard(function: Any, steepest: float) -> Any:
    inner = _compiled(function)

    def guarded(margin: float, label: float) -> float:
        try:
            found = inner(margin, label)
        except Exception:  # noqa: BLE001 - a record must not be able to raise
            found = 0.0
        found = found if abs(found) < math.inf else 0.0
        return min(max(found, -steepest), steepest)

    return numba.cfunc(SIGNATURE, error_model="numpy")(guarded)


@functools.cache
def _machinery() -> frozenset[str]:
    """What the compiled form of any function that may raise declares."""

    def raising(margin: float, label: float) -> float:
        if label > margin:
            raise ValueError("never")
        return margin

    return frozenset(_DECLARED.findall(_guard(raising, 1.0).inspect_llvm()))


def _compiled(function: Any) -> Any:
    plain = getattr(function, "py_func", function)
    if not callable(plain):
        raise SettingError("slope and value must be functions of (margin, label).")
    try:
        return numba.njit(SIGNATURE, error_model="numpy")(plain)
    except (NumbaError, TypeError, ValueError) as error:
        line = _told(str(error))
        raise SettingError(
            "slope and value must be functions of two floats, margin and label, that return a float and that numba can "
            f"compile: plain arithmetic and the module math. numba said: {line[:200]}"
        ) from error


def _told(message: str) -> str:
    """The line of numba's message that names what is wrong; those before it say in which of its passes."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Failed in ")), "nothing")


def _require_derivative(at: Any, value: Any, steepest: float) -> tuple[float, float] | None:
    """Compare the slope with differences of the value on a public grid; return a margin and label where it is cut."""
    of = _compiled(value)
    worst, shown, wrong, count = 0.0, (0.0, 0.0, 0.0, 0.0), 0, 0
    cut_at: tuple[float, float] | None = None
    for label in LABELS:
        for margin in MARGINS.tolist():
            step = STEP * max(1.0, abs(margin))
            ends = [_number(of, margin + side * step, label) for side in (1.0, -1.0)]
            middle = _number(of, margin, label)
            if not all(map(math.isfinite, (*ends, middle))):
                continue
            found, expected = at(margin, label), (ends[0] - ends[1]) / (2 * step)
            sides = (ends[0] - middle) / step, (middle - ends[1]) / step
            # Values of large size have differences of few digits.
            noise = TOLERANCE * (1.0 + abs(expected)) + 4e-16 * max(map(abs, (*ends, middle))) / step
            cut = min(max(expected, -steepest), steepest)
            if label in CLASSES and abs(expected) - noise > steepest * (1.0 + TOLERANCE):
                cut_at = min(cut_at or (margin, label), (margin, label), key=lambda place: abs(place[0]))
            gap = abs(found - cut)
            count += 1
            if gap > noise and not min(sides) - noise <= found <= max(sides) + noise:
                wrong += 1
                if gap > worst:
                    worst, shown = gap, (margin, label, found, cut)
    if count == 0:
        raise SettingError("The value of an own loss is finite nowhere on margins from -20 to 20: check it.")
    if wrong:
        margin, label, found, cut = shown
        raise SettingError(
            f"The declared slope is not the derivative of the value: at margin {margin:.4g} and label {label:g} the "
            f"slope is {found:.6g}, and differences of the value give {cut:.6g} (cut to ±lipschitz). Mend one of them."
        )
    return cut_at


def _number(function: Any, margin: float, label: float) -> float:
    try:
        return float(function(margin, label))
    except (ArithmeticError, ValueError):
        return math.nan
