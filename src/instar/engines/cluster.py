"""An existing Ray cluster, and how much of it a campaign takes.

Ray is imported only where it is used.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from instar.core.errors import BadInput
from instar.installation import import_extra

REACH_SECONDS = 5.0
"""For an address to answer: Ray itself would try for minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where it is ("host:port" of its head; by default the one this machine belongs to), how many actors
    are wanted (as many as fit), and each one's share of a node.
    """

    address: str | None = None
    actors: int | None = None
    cpus: float = 1.0
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if self.actors is not None and self.actors < 1:
            raise BadInput(f"ray: actors is {self.actors}; it must be at least 1")
        for name, share in (("cpus", self.cpus), ("gpus", self.gpus)):
            if not 0 <= share < math.inf:
                raise BadInput(f"ray: {name} is {share}; it must be a number of at least 0")
            if share > 1 and share != int(share):
                raise BadInput(f"ray: {name} is {share}; above 1 it must be a whole number")
        if not self.cpus and not self.gpus:
            raise BadInput("ray: an actor needs a share of something; give cpus or gpus")

    def share(self) -> str:
        """What an actor takes, in words."""
        parts = [f"{amount:g} {what}" for what, amount in (("CPU", self.cpus), ("GPU", self.gpus)) if amount]
        return " and ".join(parts)


def connect_cluster(cluster: Cluster) -> Any:
    """The module `ray`, connected to the cluster; refused in one line where that cannot be."""
    address = cluster.address or os.environ.get("RAY_ADDRESS") or "auto"
    _require_somebody_at(address)
    ray = import_extra("ray", "ray", extra="ray", needed_for="--on ray")
    if not ray.is_initialized():
        _keep_standard_output_clean()
        try:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError, OSError) as reason:
            raise BadInput(_unreachable(address, " ".join(str(reason).split()))) from None
    return ray


def fitting_actors(cluster: Cluster, nodes: Sequence[Mapping[str, Any]]) -> int:
    """How many actors the nodes of a cluster have room for, as `ray.nodes()` tells of them.

    >>> node = {"Alive": True, "Resources": {"CPU": 4.0, "GPU": 1.0}}
    >>> fitting_actors(Cluster(), [node, node]), fitting_actors(Cluster(gpus=0.5), [node, node])
    (8, 4)
    """
    wanted = {name: share for name, share in (("CPU", cluster.cpus), ("GPU", cluster.gpus)) if share}
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    return sum(min(int(has.get(name, 0) / share) for name, share in wanted.items()) for has in alive)


def _keep_standard_output_clean() -> None:
    """Ray prints events of its nodes there, whatever its settings; a run prints only its document."""
    worker = sys.modules.get("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):
        setattr(worker, "print_to_stdstream", lambda *told, **how: None)  # noqa: B010  # no part of its types


def _require_somebody_at(address: str) -> None:
    place = address.partition("://")[2] or address
    host, colon, port = place.rpartition(":")
    if not colon:
        if place not in ("auto", "local"):
            raise BadInput(f"address {address!r} is not of the form host:port")
        if place == "local":
            raise BadInput("address 'local' would start a cluster; start one with `ray start --head`")
        return
    try:
        with contextlib.closing(socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS)):
            pass
    except (OSError, ValueError, OverflowError) as reason:
        raise BadInput(_unreachable(address, str(reason))) from None


def _unreachable(address: str, reason: str) -> str:
    where = "on this machine" if address == "auto" else f"at {address}"
    hint = "start one with `ray start --head`, or give --address"
    return f"no Ray cluster can be reached {where} ({reason}); {hint}"
