"""`instar view`: the workbench, a web application over one run or a folder of runs, on this machine alone."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import signal
import socket
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.core.errors import BadInput
from instar.core.outcome import Outcome
from instar.installation import MissingExtra

if TYPE_CHECKING:
    from instar.workbench.orders import Offers

HOST = "127.0.0.1"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RUN|DIR", help="a run folder, or a folder of them")
    add("--port", type=int, default=0, metavar="N", help="the port on 127.0.0.1 (any that is free)")
    add("--no-browser", action="store_true", help="only print the address")
    repeated: dict[str, Any] = {"action": "append", "default": []}
    add("--system", metavar="MODULE:ATTR", help="a system of yours to test; repeat it", **repeated)
    add("--scenes", metavar="PATH", help="scenes to test on, besides drawn ones; repeat it", **repeated)


def perform(args: argparse.Namespace) -> Outcome:
    root = Path(args.folder)
    if not root.is_dir():
        raise BadInput(f"{root} is no folder; give a run, or a folder for runs")
    if not 0 <= args.port <= 65535:
        raise BadInput(f"--port {args.port} is none; give 1 to 65535, or leave it out")
    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise MissingExtra(error.name or "fastapi", extra="workbench", needed_for="instar view") from None
    from instar.progress import show_steps
    from instar.workbench.access import Access
    from instar.workbench.app import make_app, make_site

    with contextlib.closing(_listen(args.port)) as listening:
        access = Access(listening.getsockname()[1])
        site = make_site(root, offers_of(args.system, args.scenes), access)
        site.library.load(partial(show_steps, quiet=args.quiet))
        app = make_app(site)
        settings = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
        print(f"The workbench is at {access.address}", file=sys.stderr, flush=True)
        if not args.no_browser:
            webbrowser.open(access.address)
        _end_as_for_an_interrupt()
        with contextlib.suppress(KeyboardInterrupt):  # the usual way to end it
            uvicorn.Server(settings).run(sockets=[listening])
    for child in multiprocessing.active_children():  # nobody waits for what they are making any more
        child.terminate()
    return Outcome("The workbench has ended.", {"ended": True})


def offers_of(systems: Sequence[str], scenes: Sequence[str]) -> Offers:
    """What campaigns can be ordered from, with these systems and scenes besides what is built in."""
    from instar.workbench.orders import make_offers

    return make_offers(systems, scenes, read_rule=_read_rule)


def _read_rule(text: str) -> Mapping[str, Any]:
    from instar.cli import rule

    parser = argparse.ArgumentParser()
    rule.arguments(parser)
    return rule.perform(parser.parse_args(["--", text])).document


def _end_as_for_an_interrupt() -> None:
    """Whatever asks it to end: what was started here is stopped, and can be resumed."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup is nobody's to undo
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


def _listen(port: int) -> socket.socket:
    """Bound before anything is read, so that a port in use is told at once."""
    listening = socket.socket()
    if sys.platform != "win32":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise BadInput(f"port {port} cannot be used: {error.strerror}; choose another --port") from None
    return listening
