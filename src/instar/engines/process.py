"""The process of a worker and the connection to it: an inherited socket, or, where none can be inherited
(Windows), an address that it calls.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from instar.engines.arena import Arena, InlineMemory, anonymous_file

INHERITS = os.name == "posix"
CODE = "import sys; from instar.engines import worker_process as w; w.{}(*sys.argv[1:])"
Begun = tuple["subprocess.Popen[bytes]", "Connection[Any, Any]", Arena | InlineMemory]


def begin_process() -> Begun:
    """A new process, the connection to it, and the memory through which pictures reach it."""
    return _begin_by_socket() if INHERITS else _begin_by_address()


def _begin_by_socket() -> Begun:
    here, there = socket.socketpair()
    connection, arena = Connection(here.detach()), Arena(anonymous_file())
    with there:
        fds = (there.fileno(), arena.fileno())
        words = [*map(str, fds), str(os.getpid())]
        process = _popen("serve", words, stdin=subprocess.DEVNULL, pass_fds=fds)
    return process, connection, arena


def _begin_by_address() -> Begun:
    """Only a caller with the key, which the process reads from its standard input, is accepted."""
    key = secrets.token_bytes(32)
    with Listener(authkey=key) as listener:
        address = str(listener.address)
        process = _popen("serve_at", [address], stdin=subprocess.PIPE)
        assert process.stdin is not None
        with contextlib.suppress(OSError), process.stdin:  # it may have gone already
            process.stdin.write(key)

        def call_instead() -> None:
            """Unblock `accept` when the process ends without a call."""
            process.wait()
            with contextlib.suppress(OSError, EOFError, AuthenticationError):
                Client(address, authkey=key).close()

        threading.Thread(target=call_instead, daemon=True).start()
        while True:
            with contextlib.suppress(OSError, EOFError, AuthenticationError):
                return process, listener.accept(), InlineMemory()


def _popen(function: str, words: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", CODE.format(function), *words]
    return subprocess.Popen(command, stdout=2, env=environment, **how)
