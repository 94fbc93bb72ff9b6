"""The table people know: coefficients, standard errors, intervals, and what was guaranteed."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.inference.intervals import Intervals, intervals
from tacit.privacy.guarantee import Guarantee
from tacit.problem.release import Release

LEVEL = 0.95


@dataclass(frozen=True)
class Summary:
    """Estimates of a release and its guarantee; `str()` is the table."""

    guarantee: Guarantee
    private: bool
    records: int
    names: tuple[str, ...]
    coefficients: tuple[float, ...]
    intervals: Intervals | None

    def __str__(self) -> str:
        """Draw the table."""
        header = f"{'':24}{'coef':>12}"
        if self.intervals is not None:
            header += f"{'std err':>12}{'[0.025':>12}{'0.975]':>12}{'privacy':>9}"
        rows = [self._row(index) for index in range(len(self.names))]
        width = max(len(header), 78)
        guarantee = str(self.guarantee) if self.private else "not private"
        lines = [f"Logistic regression, {guarantee}", "=" * width, header, "-" * width, *rows]
        lines.append("=" * width)
        if self.intervals is not None:
            lines.append(
                f"Intervals: {self.intervals.statement} 95%, sampling and privacy noise together;"
            )
            lines.append("privacy is the share of the variance that is due to the noise added.")
        return "\n".join(lines)

    def _row(self, index: int) -> str:
        row = f"{self.names[index][:23]:24}{self.coefficients[index]:12.4f}"
        found = self.intervals
        if found is not None:
            row += f"{found.std_errors[index]:12.4f}{found.lower[index]:12.4f}"
            row += f"{found.upper[index]:12.4f}{found.privacy_share[index]:9.0%}"
        return row


def summarise(release: Release) -> Summary:
    """Return the summary of a release, with intervals where they were paid for."""
    plan = release.plan
    return Summary(
        guarantee=plan.guarantee(),
        private=release.private,
        records=plan.records,
        names=plan.design.terms,
        coefficients=tuple(release.coefficients().T.ravel().tolist()),
        intervals=None if release.sandwich is None else intervals(release, LEVEL),
    )
