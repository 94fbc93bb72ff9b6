"""The ledger: contention, two names of one file, kill -9, flipped bits, and its speed."""


def run() -> None:
    """Measure and record."""
    # Loaded only now: the writers of `names` are modules of this package and need none of it.
    from benchmarks.ledger.command import run

    run()
