"""The wall on a cluster: workers and whoever reaches the scheduler are inside it, so nobody else may reach them.

Nothing here is private.
"""

from __future__ import annotations

import contextlib
import ipaddress
import sys
from typing import Any

from tacit.contract.cluster import Cluster
from tacit.errors import ClusterError

TLS = "Start scheduler and workers with --tls-ca-file, --tls-cert and --tls-key, and use a tls:// address."

PAGES = (
    "shows pages beyond the loopback or has a dashboard; start it with --no-dashboard --dashboard-address 127.0.0.1:0"
)


def security_of(cluster: Cluster) -> Any:
    """Certificates of this side; where none are given, those of Dask's configuration."""
    import distributed

    if cluster.workers is not None or not (cluster.address or "").startswith("tls://"):
        return None
    if cluster.ca_file is None:
        return distributed.Security(require_encryption=True)
    return distributed.Security(
        require_encryption=True,
        tls_ca_file=cluster.ca_file,
        tls_client_cert=cluster.cert_file,
        tls_client_key=cluster.key_file,
    )


def is_inside(address: str) -> bool:
    """Whether what goes to an address can be read by nobody else: this process, this machine, or TLS on both sides."""
    scheme, _, rest = address.partition("://")
    if scheme in {"inproc", "tls"}:
        return True
    host = rest.rsplit(":", 1)[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return scheme == "tcp" and ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_inside(address: str) -> None:
    """Refuse the number of another machine in the clear, before anything goes there.

    What a name stands for is known when its scheduler says where it listens.
    """
    host = address.partition("://")[2].rsplit(":", 1)[0].strip("[]")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return
    if not is_inside(address):
        raise in_the_clear()


def listens_inside(server: Any) -> bool:
    """Whether a scheduler or a worker listens on the loopback alone, or with TLS."""
    return all(is_inside(str(listener.listen_address)) for listener in server.listeners)


def shows_pages(server: Any, module: str) -> bool:
    """Whether a scheduler or a worker has a dashboard, or other pages of HTTP beyond the loopback.

    Also without a dashboard Dask serves metrics, health and, on a scheduler, pages of workers and their logs. Nobody
    shows a certificate to read them, with TLS or without.
    """
    web = getattr(server, "http_server", None)
    sockets = [] if web is None else web._sockets.values()  # noqa: SLF001 - as Dask reads them too
    hosts = [ipaddress.ip_address(str(each.getsockname()[0]).partition("%")[0]) for each in sockets]
    return module in sys.modules or not all(host.is_loopback for host in hosts)


def scheduler_facts(dask_scheduler: Any) -> tuple[bool, bool]:
    """Run on the scheduler: whether it listens inside the wall alone, and whether it shows pages beyond."""
    return listens_inside(dask_scheduler), shows_pages(dask_scheduler, "distributed.dashboard.scheduler")


def require_trusted_scheduler(client: Any) -> None:
    """Refuse a scheduler that others can reach in the clear, or that shows them pages."""
    facts = None
    with contextlib.suppress(Exception):
        # Whatever it says (no such module), it does not run what the workers run.
        facts = client.run_on_scheduler(scheduler_facts)
    if facts is None:
        raise ClusterError("The scheduler cannot load this version of Tacit. Nothing was spent.")
    inside, pages = facts
    if not inside:
        raise in_the_clear()
    if pages:
        raise ClusterError(f"The scheduler {PAGES}. Nothing was spent.")


def in_the_clear() -> ClusterError:
    """The error for a cluster that others could listen to."""
    return ClusterError(
        f"This cluster talks in the clear beyond this machine, and exact sums of records would go there. {TLS} "
        "Nothing was spent."
    )


def require_trusted(info: Any) -> None:
    """Refuse a cluster of which some member talks in the clear beyond this machine."""
    addresses = [info["address"], *info["workers"]]
    if not all(map(is_inside, addresses)):
        raise in_the_clear()
