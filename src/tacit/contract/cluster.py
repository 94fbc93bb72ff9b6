"""Where a fit runs: workers on this machine, or a cluster of Dask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.display import Displayed
from tacit.errors import SettingError
from tacit.validate import whole

SCHEMES = ("tcp://", "tls://", "inproc://")


@dataclass(frozen=True)
class Cluster(Displayed):
    """A Dask cluster: the address of its scheduler, or so many worker processes on this machine.

    Beyond this machine only `tls://` is taken, with certificates on both sides; without the three files, those of
    Dask's own configuration are used. `units_together` says that all records of a unit stand in one file or row group;
    this is checked, and where it does not hold rows are exchanged as if it had not been said. A worker that is not
    heard of for `patience` seconds is given up, and its records are read by others.
    """

    address: str | None = None
    workers: int | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    units_together: bool = False
    patience: float = 15.0

    def __post_init__(self) -> None:
        if (self.address is None) == (self.workers is None):
            raise SettingError("A cluster is the address of a scheduler, or a number of workers on this machine.")
        if self.workers is not None:
            whole("workers", self.workers, 1, 1024)
        if self.address is not None and not self.address.startswith(SCHEMES):
            raise SettingError(
                "The address of a cluster is that of its Dask scheduler, such as tcp://127.0.0.1:8786 or tls://host:8786."
            )
        files = (self.ca_file, self.cert_file, self.key_file)
        if any(files) and not all(files):
            raise SettingError("TLS needs three files: ca_file, cert_file and key_file.")
        if not 0.0 < self.patience < float("inf"):
            raise SettingError("patience must be a number of seconds above 0.")

    @classmethod
    def of(cls, given: Any) -> Cluster | None:
        """Take an address, a number of workers or a `Cluster`; None for this process."""
        if given is None or isinstance(given, Cluster):
            return given
        if isinstance(given, str):
            return cls(address=given)
        if isinstance(given, int) and not isinstance(given, bool):
            return cls(workers=given)
        raise SettingError("cluster must be the address of a Dask scheduler, a number of workers, or a tacit.Cluster.")
