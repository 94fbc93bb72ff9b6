"""Draws from a posterior ∝ exp(-k Σ loss - (λ/2)‖θ‖²), by rejection from an envelope. Private: store, mode, energies.

The draw itself is what is private: the posteriors of neighbours are near each other, and nothing is added. Proposals
are made and weighed many at a time, so that almost always the work is the same for every table. Computed in floats:
the certificate says "real-number proof". Proof: proofs/mechanisms/posterior_draw.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.contract.query import Answer
from tacit.contract.selection_query import PosteriorDraw
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.losses.posterior_envelope import FLATNESS, Envelope, bending
from tacit.noise.entropy import Entropy
from tacit.noise.unit_directions import uniforms, unit_directions
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import Floats, dense_tiles, tile_parts

TILES_AT_ONCE = 16
"""1,024 records, so that their margins at all proposals stay in the cache."""
ROUNDING = 1e-12
"""By which a computed height may rise, relatively: without it a last step could seem to gain nothing."""
SHORTEST = 2.0**-30
"""Part of a Newton step that is tried last."""


@dataclass(frozen=True)
class Energy:
    """f(θ) = k Σ w loss(z·θ, y) + (λ/2)‖θ‖² over one store, rows shortened to norm C. Private."""

    query: PosteriorDraw
    store: Store
    factor: float

    def parts(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Rows, labels and k times weights, some records at a time; what fills up tiles is constant in θ."""
        width, weighted = self.store.width, self.store.layout.weighted
        labelled = self.query.loss.code is Code.LOGISTIC
        for index in range(self.store.block_count):
            for part in tile_parts(self.store.block(index), TILES_AT_ONCE):
                tiles = dense_tiles(part, width).astype(np.float64)
                columns = tiles.transpose(1, 0, 2).reshape(tiles.shape[1], -1)
                rows = columns[:width].T
                norms = np.maximum(np.sqrt((rows**2).sum(axis=1)), self.query.clip)
                weights = np.clip(columns[width + 1], 0.0, 1.0) if weighted else np.ones(len(rows))
                # A label outside of [0, 1] would have a slope beyond the bound; no store holds one.
                labels = np.clip(columns[width], 0.0, 1.0) if labelled else columns[width]
                yield rows * (self.query.clip / norms)[:, np.newaxis], labels, self.factor * weights

    def heights(self, points: Floats) -> Floats:
        """Values of f at many points, (point, coordinate)."""
        total = self.query.ridge / 2 * (points**2).sum(axis=1)
        for rows, labels, weights in self.parts():
            total += weights @ _values(self.query, rows @ points.T, labels[:, np.newaxis])
        return np.asarray(total)

    def bend(self, theta: Floats) -> tuple[Floats, Floats]:
        """Gradient and second derivative of f."""
        slope, curvature = self.query.ridge * theta, self.query.ridge * np.eye(len(theta))
        for rows, labels, weights in self.parts():
            first, second = _derivatives(self.query, rows @ theta, labels)
            slope = slope + rows.T @ (weights * first)
            curvature = curvature + rows.T @ (rows * (weights * second)[:, np.newaxis])
        return slope, curvature


def energy_of(query: PosteriorDraw, price: Price, store: Store) -> Energy:
    """The energy at a price: k is such that k times a record's largest gradient is √λ·bound / 2^bits. Private."""
    if store.layout.shifted or store.layout.grouped:
        raise SettingError("A posterior is drawn from for plain records, without offset or units.")
    steepest = query.clip * query.loss.lipschitz
    return Energy(query, store, price.bound / 2.0**price.bits * math.sqrt(query.ridge) / steepest * (1 - 2.0**-40))


def answer_posterior(query: PosteriorDraw, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """A draw from the posterior; without entropy its mode (ε = ∞).

    Guarantee
    ---------
    - Over the reals the draw has exactly the posterior's law: an accepted proposal has it, and there is no last batch.
    - The gradient of one record's part of f is at most √λ·bound / 2^bits, whatever the record.
    - For every table a further batch is needed with probability at most 2^-30.
    """
    energy = energy_of(query, price, store)
    mode, tilt, root = find_mode(energy)
    if entropy is None:
        return Answer(mode, 0.0)
    # ‖δ‖ ≤ s / (least singular value of the root).
    x = bending(query.loss) * query.clip * query.radius / math.sqrt(root[0][0])
    envelope = Envelope.of(store.width, query.radius, x, tilt)
    base = float(energy.heights(mode[np.newaxis])[0])
    count, to_theta = query.proposals, root[1] / np.sqrt(root[0])
    while True:
        norms = envelope.norms(uniforms(count, entropy), uniforms(count, entropy))
        points = norms[:, np.newaxis] * unit_directions(count, store.width, entropy)
        proposed = mode + points @ to_theta.T
        margin = envelope.heights(norms) - (energy.heights(proposed) - base)
        accepted = np.flatnonzero(np.log(uniforms(count, entropy)) <= margin)
        if len(accepted):
            return Answer(proposed[accepted[0]], 0.0)


def find_mode(energy: Energy) -> tuple[Floats, float, tuple[Floats, Floats]]:
    """A point near the minimum of f, √(∇f'(∇²f)⁻¹∇f) there, and eigenvalues (rising) and vectors of ∇²f.

    Newton steps, each shortened until f falls. f is strongly convex, so they end.
    """
    theta = np.zeros(energy.store.width)
    height = float(energy.heights(theta[np.newaxis])[0])
    while True:
        slope, curvature = energy.bend(theta)
        values, vectors = np.linalg.eigh(curvature)
        values = np.maximum(values, energy.query.ridge)
        turned = vectors.T @ slope
        tilt = math.sqrt(float(np.sum(turned**2 / values)))
        if tilt <= FLATNESS:
            return theta, tilt, (values, vectors)
        step, length = vectors @ (turned / values), 1.0
        while length > SHORTEST:
            lower = float(energy.heights((theta - length * step)[np.newaxis])[0])
            if lower <= height - length / 4 * tilt**2 + ROUNDING * abs(height):
                break
            length /= 2
        theta, height = theta - length * step, lower


def _values(query: PosteriorDraw, margin: Floats, label: Floats) -> Floats:
    if query.loss.code is Code.LOGISTIC:
        return np.asarray(np.logaddexp(0.0, margin) - label * margin)
    c = query.loss.shape[0]
    q = np.sqrt(1.0 + 4.0 * ((margin - label) / c) ** 2)
    return np.asarray(0.5 * c * c * (q - 1.0 + np.log(2.0 / (1.0 + q))))


def _derivatives(query: PosteriorDraw, margin: Floats, label: Floats) -> tuple[Floats, Floats]:
    if query.loss.code is Code.LOGISTIC:
        share = 1.0 / (1.0 + np.exp(-np.clip(margin, -700.0, 700.0)))
        return share - label, share * (1.0 - share)
    v = (margin - label) / query.loss.shape[0]
    q = np.sqrt(1.0 + 4.0 * v * v)
    return query.loss.shape[0] * 2.0 * v / (1.0 + q), 2.0 / (q * (1.0 + q))
