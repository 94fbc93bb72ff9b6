"""Seeded fits in random settings, on one machine and on a cluster: the same bits, or what differs."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import distributed
import numpy as np

import tacit
from benchmarks.cluster.tables import Setting, coefficients
from benchmarks.record import RESULTS
from tacit.errors import InputError
from tacit.rows.cluster import worker

SETTINGS, PARTS = 200, 8
STORED = RESULTS / "cluster_equality.jsonl"


def equal_settings(seed: int = 33) -> dict[str, Any]:
    """Fit in 200 settings that can be planned; count those with equal coefficients and certificates.

    Every part of them is stored when it is done and has a generator of its own: a study that was stopped goes on.
    """
    lines = STORED.read_text(encoding="utf-8").splitlines() if STORED.exists() else []
    done = {one.pop("part"): one for one in map(json.loads, lines)}
    for part in range(PARTS):
        if part not in done:
            done[part] = settings_of_a_part(SETTINGS // PARTS, [seed, part])
            with STORED.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"part": part} | done[part]) + "\n")
    by_solver = Counter[str]()
    for one in done.values():
        by_solver.update(one["by solver"])
    totals = {name: sum(one[name] for one in done.values()) for name in ("equal", "refused by name")}
    unequal = [setting for one in done.values() for setting in one["unequal"]]
    return totals | {"by solver": dict(by_solver), "unequal": unequal}


def settings_of_a_part(count: int, seed: Sequence[int]) -> dict[str, Any]:
    """Fit in so many settings, on one machine and on a cluster."""
    rng = np.random.default_rng(seed)
    equal, refused, unequal = Counter[str](), 0, list[str]()
    done = 0
    with contextlib.ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clusters = {size: stack.enter_context(_cluster(size)) for size in range(1, 5)}
        while done < count:
            setting = Setting.drawn(rng)
            with tempfile.TemporaryDirectory() as folder:
                files = setting.write(Path(folder) / "parts")
                try:
                    local = tacit.glm(data=files, **setting.given())
                except InputError:
                    # Not every solver goes with every family and relation.
                    continue
                try:
                    with _little_memory(setting.scratch):
                        address = clusters[setting.workers].scheduler_address
                        spread = tacit.glm(data=files, cluster=address, **setting.given())
                except tacit.errors.SettingError:
                    refused += 1
                    continue
            done += 1
            if coefficients(local) == coefficients(spread) and local.certificate.digest == spread.certificate.digest:
                equal[setting.solver] += 1
            else:
                unequal.append(str(setting))
            print(f"\r  setting {done} of {count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {"equal": equal.total(), "by solver": dict(equal), "refused by name": refused, "unequal": unequal}


def _cluster(workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=workers, processes=False, threads_per_worker=1, memory_limit=0,
        dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
    )  # fmt: skip


@contextlib.contextmanager
def _little_memory(scratch: bool) -> Any:
    """Have workers put all tiles into scratch files."""
    whole = vars(worker)["admit"]
    if scratch:
        vars(worker)["admit"] = lambda *given, **named: whole(*given, **{**named, "memory_limit": 0})
    try:
        yield
    finally:
        vars(worker)["admit"] = whole
