"""Training of a network by noisy gradients of secret batches: stochastic descent with momentum, or Adam.

    g = noisy sum of clipped gradients / n        an unbiased estimate of their mean, but for the cap of a batch
    sgd:   v ← momentum·v + g,   θ ← θ - η v
    adam:  m ← β₁ m + (1 - β₁) g,  s ← β₂ s + (1 - β₂) g²,  θ ← θ - η m̂ / (√ŝ + 10⁻⁸)

The averaged weights are the mean of the iterates of the last steps. All of it is post-processing of answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap
from tacit.contract.checked_query import LARGEST
from tacit.contract.network_query import Network, NetworkGradient
from tacit.contract.plan import Plan, Solution
from tacit.contract.query import Gate
from tacit.errors import SettingError

Floats = NDArray[np.float64]
OPTIMISERS = ("sgd", "adam")
SCHEDULES = ("constant", "linear", "cosine")
WEIGHTS = ("average", "last")
SECOND_DECAY, SMALL = 0.999, 1e-8


@dataclass(frozen=True, eq=False)
class NetworkState:
    """Where a training is: everything in it is released. `done` steps were taken to `theta`."""

    done: int
    theta: Floats
    first: Floats
    second: Floats
    total: Floats
    """Sum of the iterates that are averaged."""
    averaged: int

    @classmethod
    def at(cls, theta: Floats) -> NetworkState:
        """The state before the first step."""
        zero = np.zeros_like(theta)
        return cls(0, np.array(theta), zero, zero, zero, 0)

    @property
    def average(self) -> Floats:
        """Mean of the averaged iterates; the last one before there are any."""
        return self.total / self.averaged if self.averaged else self.theta

    def weights(self, which: str) -> Floats:
        """The weights of a name: "average" or "last"."""
        return self.average if which == "average" else self.theta


@dataclass(frozen=True, eq=False)
class NetworkDescent:
    """Settings of one training, and the state to begin at; `observer` sees every state, which is released."""

    network: Network
    start: NetworkState
    steps: int
    clip: float
    step_size: float
    slots: int
    chunk: int
    optimiser: str = "sgd"
    momentum: float = 0.9
    schedule: str = "constant"
    tail: float = 0.5
    weights: str = "average"
    observer: Callable[[NetworkState], None] | None = field(default=None, repr=False)
    before_step: Callable[[int], None] | None = field(default=None, repr=False)
    """Told the number of a step before it is asked for."""
    stop: int | None = None
    """Where this run ends, if before the last step."""
    channel_map: ChannelMap | None = field(default=None, repr=False)
    """Of released numbers, where inputs are made of grouped rows."""
    name: str = "network-descent"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Take the steps that are left."""
        state = self.start
        while state.done < (self.steps if self.stop is None else self.stop):
            if self.before_step is not None:
                self.before_step(state.done + 1)
            query = NetworkGradient(state.theta, self.clip, self.network, self.slots, self.chunk, self.channel_map)
            after = self._after(state, gate.ask(query).value / plan.count)
            if not np.abs(after.theta).max() <= LARGEST:
                raise SettingError(
                    f"After step {after.done} a weight was beyond {LARGEST:g}, by noisy gradients alone: the training "
                    "does not converge. Choose a smaller step_size. What was charged stays charged."
                )
            state = after
            if self.observer is not None:
                self.observer(state)
        return Solution(np.array(state.weights(self.weights)))

    @np.errstate(over="ignore", invalid="ignore")
    def _after(self, state: NetworkState, gradient: Floats) -> NetworkState:
        done, rate = state.done + 1, self.step_size * self._pace(state.done)
        first, second = state.first, state.second
        if self.optimiser == "adam":
            first = self.momentum * first + (1 - self.momentum) * gradient
            second = SECOND_DECAY * second + (1 - SECOND_DECAY) * gradient**2
            scale = np.sqrt(second / (1 - SECOND_DECAY**done)) + SMALL
            theta = state.theta - rate * first / (1 - self.momentum**done) / scale
        else:
            first = self.momentum * first + gradient
            theta = state.theta - rate * first
        found = replace(state, done=done, theta=theta, first=first, second=second)
        if done > self.steps - max(1, round(self.tail * self.steps)):
            found = replace(found, total=state.total + theta, averaged=state.averaged + 1)
        return found

    def _pace(self, done: int) -> float:
        """Share of the step size at a step."""
        part = done / self.steps
        if self.schedule == "linear":
            return 1.0 - part
        return (1.0 + math.cos(math.pi * part)) / 2 if self.schedule == "cosine" else 1.0
