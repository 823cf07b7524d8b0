"""The other end of a worker: the process in which a system is imported, built and asked."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any

from instar.core.errors import InstarError, Refused
from instar.core.fingerprint import files_of, fingerprint_of, fingerprint_with, watch_files
from instar.core.system import System, answers_of, describe_error, is_temporary
from instar.engines.arena import Arena, InlineMemory
from instar.store.answers import encode_answer


def serve(line_fd: str, arena_fd: str, parent: str) -> None:
    """A worker with a connection and memory that it inherits; it ends when its parent does."""
    _die_with(int(parent))
    _work(Connection(int(line_fd)), Arena(os.fdopen(int(arena_fd), "r+b")))


def serve_at(address: str) -> None:
    """A worker that calls its parent at an address, with the key on standard input."""
    _work(Client(address, authkey=sys.stdin.buffer.read()), InlineMemory())


def _work(connection: Connection, arena: Arena | InlineMemory) -> None:
    """Build the system, then answer until the parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    sys.path[:], device, build = pickle.loads(connection.recv_bytes())
    if device is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = device
    try:
        with watch_files() as opened:
            system = build()
        connection.send_bytes(b"ready " + json.dumps(_describe(system, build, opened)).encode())
    except InstarError as refused:
        return connection.send_bytes(b"refused " + _bytes(str(refused)))
    except BaseException as raised:
        return connection.send_bytes(b"error " + _bytes(describe_error(raised)))
    while True:
        try:
            data, lengths = connection.recv()
        except EOFError:
            return
        connection.send_bytes(_answer(system, pickle.loads(data, buffers=arena.take(lengths))))


def _answer(system: System, inputs: Sequence[Any]) -> bytes:
    try:
        return b"answers " + encode_answer(answers_of(system, inputs), compress=False)
    except (Exception, SystemExit) as raised:
        if isinstance(raised, Refused):
            return b"never " + _bytes(str(raised))
        kind = b"temporary " if is_temporary(system, raised) else b"error "
        return kind + _bytes(describe_error(raised))


def _bytes(text: str) -> bytes:
    """Any text, also one that no encoding has."""
    return text.encode("utf-8", "backslashreplace")


def _describe(system: System, build: Any, opened: Sequence[str]) -> dict[str, Any]:
    named = [getattr(build, "args", ()), getattr(build, "keywords", {})]
    return {
        "name": system.name,
        "fingerprint": fingerprint_with(system, files_of(system, named, opened)),
        "own": fingerprint_of(system),
        "batch": int(getattr(system, "batch", 1)),
        "concurrent": bool(getattr(system, "concurrent", False)),
        "sends_to": str(getattr(system, "sends_to", "")),
    }


def _die_with(parent: int) -> None:
    """End this process when its parent ends, even in the middle of a call that never returns; and let it be
    the first to go where memory runs out.
    """
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
    if os.getppid() != parent:
        os._exit(1)
