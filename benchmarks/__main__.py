"""`python -m benchmarks [topic …]`: run all benchmarks, or the topics named."""

from __future__ import annotations

import importlib
import sys

from benchmarks.record import write_overview

TOPICS = ("startup", "noise", "gradient", "whole_fit", "parquet", "accounting", "ledger")


def main() -> int:
    """Run the topics and write the overview."""
    asked = sys.argv[1:] or list(TOPICS)
    unknown = sorted(set(asked) - set(TOPICS))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; topics are {', '.join(TOPICS)}", file=sys.stderr)
        return 2
    for topic in asked:
        print(topic)
        importlib.import_module(f"benchmarks.{topic}").run()
    write_overview()
    return 0


if __name__ == "__main__":
    sys.exit(main())
