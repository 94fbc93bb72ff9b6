"""The ledger under contention, under two names, under kill -9, with flipped bytes, and its speed."""


def run() -> None:
    """Measure and record."""
    # Loaded only now: the writers of `names` are modules of this package and need none of it.
    from benchmarks.ledger.command import run

    run()
