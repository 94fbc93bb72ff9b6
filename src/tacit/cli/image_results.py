"""What `tacit images` shows and writes of a fit, whichever model it is: plan, live table, document and files."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.output import Screen
from tacit.files import write_text

if TYPE_CHECKING:
    from tacit.certificate.certificate import Certificate
    from tacit.contract.plan import Plan


class AccuracyCurve:
    """The live table: accuracy of public images against what was spent. The plan is shown above it."""

    def __init__(self, plan: Plan, screen: Screen) -> None:
        self._plan, self._screen = plan, screen
        self.steps = plan.steps[-1].times
        self.points: list[dict[str, Any]] = []
        if not screen.quiet:
            from tacit.report.statements import plan_table

            screen.heading("Plan")
            screen.table(plan_table(plan))
            screen.say(str(plan.guarantee()), "price")
            screen.heading("Accuracy on public test images")
            screen.plain(f"  {'step':>5}  {'ε spent':>8}  {'accuracy':>9}")

    def line(self, done: int, accuracy: float) -> None:
        """Write a line: the accuracy after so many of the last steps."""
        *before, last = self._plan.steps
        taken = replace(last, times=min(done, last.times))
        epsilon = replace(self._plan, steps=(*before, taken)).guarantee().epsilon
        self.points.append({"step": done, "epsilon": epsilon, "accuracy": accuracy})
        if not self._screen.quiet:
            self._screen.plain(f"  {done:>5}  {epsilon:>8.3f}  {accuracy:>9.2%}")


@dataclass(frozen=True)
class ImageFit:
    """A fit to images: which data and model, how good on so many public test images, and its certificate."""

    data: str
    model: str
    accuracy: float
    tested: int
    seconds: float
    parameters: int
    points: list[dict[str, Any]]
    certificate: Certificate

    @classmethod
    def of(
        cls, data: str, model: str, accuracy: float, tested: int, started: float, fitted: Any, curve: AccuracyCurve
    ) -> ImageFit:
        """What came of an estimator that was fitted since `started`."""
        seconds, size = time.perf_counter() - started, int(fitted.release_.theta.size)
        return cls(data, model, accuracy, tested, seconds, size, curve.points, fitted.certificate_)

    def document(self, screen: Screen) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "data": self.data,
            "model": self.model,
            "accuracy": self.accuracy,
            "seconds": round(self.seconds, 2),
            **{key: self.certificate.parsed["total"][key] for key in ("epsilon", "delta", "mu")},
            "parameters": self.parameters,
            "steps": self.points,
            "warnings": list(screen.warned),
            "certificate": self.certificate.document,
        }

    def write(self, files: dict[str, Path]) -> None:
        """Write certificate and curve, where files are asked for."""
        if not files:
            return
        from tacit.report.image_pictures import accuracy_picture

        write_text(files["certificate"], self.certificate.to_json() + "\n")
        points = [(point["epsilon"], point["accuracy"]) for point in self.points]
        of = "" if self.model == "linear" else " of a network"
        title = f"{self.data}: accuracy{of} while the budget is spent"
        accuracy_picture(points, files["steps"], title=title, axis="ε spent")
