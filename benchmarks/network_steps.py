"""One step of a network: plain, ours, and by the hooks of Opacus, side by side in one run, on one thread."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.record import Figure, write
from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.network_query import Network, NetworkGradient
from tacit.engine.network_examples import parameter_vector
from tacit.mechanisms.clipped_sum import unit_of
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.network_gradient import integer_gradient
from tacit.neural import cnn
from tacit.neural.example_losses import cross_entropy
from tacit.noise.entropy import SystemEntropy
from tacit.rows.storage.example_rows import PaddedBatch
from tacit.solvers.network_rules import NETWORKS

OPACUS = "1.6.0"
FOLDER = Path(__file__).parents[1] / ".cache" / "rivals" / f"opacus-{OPACUS}"
BATCHES = (512, 1024)
REPEATS = 20
CLIP, RATE = 0.1, 0.5
SLOWEST, FASTER, MEMORY = 1.3, 1.7, 1.5
Step = Callable[[], None]


def examples(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Made-up images and labels."""
    generator = np.random.default_rng(1)
    return generator.normal(size=(size, 1, 28, 28)).astype(np.float32), generator.integers(0, 10, size)


def plain_step(size: int, layout: torch.memory_format = torch.contiguous_format) -> Step:
    """Forward, backward, and a step of SGD."""
    images, labels = (torch.from_numpy(it) for it in examples(size))
    module = cnn().to(memory_format=layout)  # type: ignore[call-overload]
    images = images.to(memory_format=layout)
    optimiser = torch.optim.SGD(module.parameters(), RATE, momentum=0.9)

    def step() -> None:
        optimiser.zero_grad()
        loss: Any = functional.cross_entropy(module(images), labels)
        loss.backward()
        optimiser.step()

    return step


def plain_step_channels_last(size: int) -> Step:
    """The plain step in the layout that ours has, which torch has by choice alone."""
    return plain_step(size, torch.channels_last)


def our_step(size: int) -> Step:
    """Clipped integer sums of all slots, exact noise, and a step; the batch was drawn before."""
    images, labels = examples(size)
    network = Network(cnn(), cross_entropy, "cnn")
    theta = parameter_vector(network.module)
    velocity = np.zeros_like(theta)
    batch = PaddedBatch(images, labels, np.ones(size, dtype=np.bool_))
    price = BatchPrice(2**36, 37, Batches(Sampling.POISSON, 1, 64))
    unit, entropy = unit_of(price.bound, CLIP, theta.size), SystemEntropy()

    def step() -> None:
        nonlocal theta, velocity
        query = NetworkGradient(theta, CLIP, network, size, min(size, NETWORKS.chunk))
        answer = noised_sum(integer_gradient(query, unit, batch), unit, price, entropy)
        velocity = 0.9 * velocity + answer.value / size
        theta = theta - RATE * velocity

    return step


def opacus_step(size: int) -> Step:
    """The hooks of Opacus, with its usual optimiser."""
    if not (FOLDER / "opacus").is_dir():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(FOLDER)]
        subprocess.run([*install, f"opacus=={OPACUS}", "opt_einsum"], check=True)
    sys.path.insert(0, str(FOLDER))
    from opacus import GradSampleModule  # type: ignore[import-not-found]
    from opacus.optimizers import DPOptimizer  # type: ignore[import-not-found]

    images, labels = (torch.from_numpy(it) for it in examples(size))
    module = GradSampleModule(cnn())
    inner = torch.optim.SGD(module.parameters(), RATE, momentum=0.9)
    optimiser = DPOptimizer(inner, noise_multiplier=2.0, max_grad_norm=CLIP, expected_batch_size=size)

    def step() -> None:
        optimiser.zero_grad()
        loss: Any = functional.cross_entropy(module(images), labels)
        loss.backward()
        optimiser.step()

    return step


STEPS = {"plain": plain_step, "ours": our_step, "opacus": opacus_step, "plain, channels last": plain_step_channels_last}


def peak_of(name: str, size: int) -> float:
    """Megabytes by which a few steps raise the peak of a process of their own."""
    code = f"from benchmarks.network_steps import print_peak; print_peak({name!r}, {size})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def print_peak(name: str, size: int) -> None:
    """Print how far steps raise the resident memory of this process above what it held before."""
    STEPS[name](64)()
    step = STEPS[name](size)
    gc.collect()
    # Linux: forget the peak so far.
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    for _ in range(3):
        step()
    print(_memory("VmHWM") - before)


def _memory(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def processor_seconds(steps: Mapping[str, Step]) -> dict[str, float]:
    """Median processor time of a step of each kind, taken in turns: other programs on the machine count little."""
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for repeat in range(REPEATS + 2):
        for name, step in steps.items():
            start = time.process_time()
            step()
            if repeat >= 2:
                taken[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def run() -> None:
    """Compare the three at both sizes."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    figures: list[Figure] = []
    details: dict[str, object] = {"threads": torch.get_num_threads(), "load": load, "opacus": OPACUS}
    for size in BATCHES:
        found = processor_seconds({name: make(size) for name, make in STEPS.items()})
        peaks = {name: peak_of(name, size) for name in ("plain", "ours")}
        details[str(size)] = {"processor_seconds": found, "peak_mb": peaks}
        slower, faster = found["ours"] / found["plain"], found["opacus"] / found["ours"]
        memory = peaks["ours"] / max(peaks["plain"], 1.0)
        same_layout = found["ours"] / found["plain, channels last"]
        details[f"{size}, over a plain step with channels last"] = same_layout
        print(f"  batch {size}: ours {same_layout:.2f} × plain with channels last")
        print(f"  batch {size}: ours {slower:.2f} × plain, {faster:.2f} × faster than Opacus, {memory:.2f} × memory")
        figures += [
            Figure(f"step of batch {size} over a plain one", slower, "×", f"at most {SLOWEST}", slower <= SLOWEST),
            Figure(f"step of batch {size}: Opacus over ours", faster, "×", f"at least {FASTER}", faster >= FASTER),
            Figure(f"memory of batch {size} over a plain step", memory, "×", f"at most {MEMORY}", memory <= MEMORY),
        ]
    write("network_steps", figures, details)
