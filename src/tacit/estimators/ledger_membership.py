"""Estimators belong to the ledger in whose block they were created or copied: fits are charged there, or refused."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from tacit.ledger import current_ledger


class LedgerMember(BaseEstimator):
    """An estimator whose copies and clones belong where it does.

    Guarantee: a copy that was pickled in the block of a ledger is charged to it in a worker process, and is refused in
    another program, where it can come from a file. See `current_ledger.charged_for`.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Take along the active ledger, which a copy must charge, and the certificate, with this process's versions."""
        if "release_" in vars(self):
            _ = self.certificate_
        state = dict(super().__getstate__())
        state.pop(current_ledger.MARK, None)
        words = current_ledger.mark(self)
        return {**state, current_ledger.MARK: words} if words else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Belong to the ledger that the copy took along, where it comes from another process."""
        super().__setstate__(state)
        current_ledger.received(self)

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters alone, and where the copy belongs."""
        twin: Self = super().__sklearn_clone__()
        current_ledger.descend(twin, self)
        return twin
