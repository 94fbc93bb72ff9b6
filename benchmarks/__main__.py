"""`python -m benchmarks [topic …]`: run all benchmarks, or the topics named.

Options go to a topic that is named alone: `python -m benchmarks accuracy --tables adult`.
"""

from __future__ import annotations

import importlib
import sys

from benchmarks.record import write_overview

TOPICS = (
    "startup",
    "noise",
    "gradient",
    "wide_products",
    "scale",
    "wide_accuracy",
    "sparse",
    "whole_fit",
    "estimators",
    "parquet",
    "cluster",
    "accounting",
    "ledger",
    "people",
    "noninterference",
    "inference",
    "fit_with_intervals",
    "trajectories",
    "newton",
    "batches",
    "accuracy",
    "coverage",
    "images",
    "network_steps",
    "network_images",
    "network_tables",
    "aggregate",
    "pate",
    "solver_choice",
    "audits",
    "private_search",
    "forecasts",
    "evaluations",
    "attacks",
    "small_tables",
    "levels",
    "level_bound",
)
WITH_OPTIONS = frozenset(
    {"accuracy", "audits", "cluster", "coverage", "evaluations", "forecasts", "images", "pate", "private_search"}
    | {"levels", "network_images", "network_tables", "scale", "small_tables"}
)


def main() -> int:
    """Run the topics and write the overview."""
    given = sys.argv[1:]
    first_option = next((k for k, word in enumerate(given) if word.startswith("-")), len(given))
    asked, options = given[:first_option] or list(TOPICS), given[first_option:]
    unknown = sorted(set(asked) - set(TOPICS))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; topics are {', '.join(TOPICS)}", file=sys.stderr)
        return 2
    if options and not (len(asked) == 1 and asked[0] in WITH_OPTIONS):
        takers = ", ".join(sorted(WITH_OPTIONS))
        print(f"options go to one topic that takes them: {takers}", file=sys.stderr)
        return 2
    for topic in asked:
        print(topic)
        run = importlib.import_module(f"benchmarks.{topic}").run
        run(options) if options else run()
    write_overview()
    return 0


if __name__ == "__main__":
    sys.exit(main())
