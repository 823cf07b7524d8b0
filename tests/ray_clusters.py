"""Ray clusters of separate processes on this machine, for tests; nothing of them is left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

START = [
    str(Path(sys.executable).with_name("ray")), "start", "--block", "--disable-usage-stats",
    "--object-store-memory=90000000", "--node-ip-address=127.0.0.1",
]  # fmt: skip
PATIENT = {  # a busy machine must not pass for a dead one; a killed node is noticed by its connections
    "RAY_health_check_timeout_ms": "60000",
    "RAY_health_check_failure_threshold": "20",
    "RAY_worker_register_timeout_seconds": "300",
    "RAY_gcs_rpc_server_connect_timeout_s": "60",
    "RAY_gcs_server_request_timeout_seconds": "300",
    "RAY_raylet_start_wait_time_s": "300",
    "RAY_worker_niceness": "0",
}
PATIENCE = 1200.0


class Node:
    """A node: `ray start --block` and all that it has started."""

    def __init__(self, *words: str, cpus: int) -> None:
        environment = {**os.environ, **PATIENT, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        environment.pop("RAY_ADDRESS", None)
        self._process = subprocess.Popen(
            [*START, f"--num-cpus={cpus}", *words], env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def processes(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            own = psutil.Process(self._process.pid)
            return [own, *own.children(recursive=True)]
        return []

    def actors(self) -> list[psutil.Process]:
        """The processes that our actors live in."""
        found = []
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                if process.cmdline()[:1] and process.cmdline()[0].startswith("ray::Host"):
                    found.append(process)
        return found

    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Everything at once, as when a machine loses its power."""
        ended = self.processes()
        for process in ended:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        self._process.wait()
        psutil.wait_procs(ended, timeout=PATIENCE)


@contextlib.contextmanager
def cluster(*cpus: int) -> Iterator[tuple[str, list[Node]]]:
    """A head, and a further node for each number of CPUs after the first; its address."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # short, for the names of sockets
    nodes: list[Node] = []
    try:
        words = ("--head", "--port=0", "--include-dashboard=false", f"--temp-dir={folder}")
        nodes.append(Node(*words, cpus=cpus[0]))
        address = f"127.0.0.1:{_port(folder, nodes[0])}"
        nodes += [Node(f"--address={address}", cpus=more) for more in cpus[1:]]
        yield address, nodes
    finally:
        for node in reversed(nodes):
            node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _port(folder: Path, head: Node) -> int:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and head.is_running():
        for file in folder.glob("session_latest/gcs_server_port*"):
            with contextlib.suppress(ValueError):
                return int(file.read_text())
        time.sleep(0.05)
    raise RuntimeError("the head of the cluster did not start")
