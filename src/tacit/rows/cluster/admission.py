"""Admission on a cluster: files are split, and each worker admits its own partitions."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from tacit.contract.cluster import Cluster
from tacit.contract.query import Progress
from tacit.design.design import Design
from tacit.rows.admission.admit_rows import LABEL
from tacit.rows.admission.clip_and_scale import Preparer
from tacit.rows.admission.contribution_bounding import require_persons
from tacit.rows.cluster.cluster_store import ClusterStore
from tacit.rows.cluster.connection import Connection
from tacit.rows.cluster.handshake import Probe
from tacit.rows.cluster.partitions import split
from tacit.rows.cluster.worker import Reading
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.sources import source as sources
from tacit.rows.sources.opening import describe
from tacit.rows.sources.source import Source
from tacit.rows.storage.store import Store


def admit_on_cluster(
    source: Source,
    design: Design,
    cluster: Cluster,
    probe: Probe,
    key: bytes,
    *,
    invalid_rows: str = "error",
    dtype: DTypeLike = np.float32,
    progress: Progress | None = None,
    fewest: int = 2,
) -> Store:
    """Have the workers of a cluster read a source once, and keep the prepared records.

    Guarantee: as for `admit`; the stored bits of a record, and what is refused, are those of one machine. What public
    facts can refuse is refused before the cluster is reached.
    """
    partitions = split(source)
    encoder = RecordEncoder.of(design, strict=invalid_rows == "error")
    Preparer.of(design)
    sources.require_columns(sources.names_read(source), (*encoder.numbers, *encoder.labels))
    reading = Reading(describe(partitions[0].path, design.reading.file), design, invalid_rows, np.dtype(dtype).name)
    connection = Connection.open(cluster, probe)
    if progress is not None:
        progress(0, 1, LABEL)
    store = ClusterStore(connection, reading, partitions, key)
    try:
        if design.attached.unit is None:
            sources.require_records(store.length, fewest)
        else:
            require_persons(store.length, fewest)
    except BaseException:
        store.close()
        raise
    if progress is not None:
        progress(1, 1, LABEL)
    return store
