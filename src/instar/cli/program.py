"""The `instar` program: find the command, let it work, print what it says.

A command is the module of its name. It is imported only when its command is given, so that `--help`
and mistakes are answered at once; it has `arguments(parser)` and `perform(args) -> Outcome`.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from instar.core.errors import BadInput, InstarError, UnknownName

if TYPE_CHECKING:
    from instar.core.outcome import Outcome

COMMANDS = {
    "demo": "failures of five kinds of systems, right now",
    "init": "look at this folder and write a plan for it",
    "run": "test a system: a campaign over scenes",
    "questions": "write the pictures to ask of a system that is elsewhere",
    "answers": "take the answers of a system that is elsewhere, and go on",
    "report": "what a run found",
    "shrink": "the smallest change of a case that still fails",
    "known": "known failures as a baseline, and findings that are no failure, for later runs",
    "gate": "few cases of a run that are asked of every new version",
    "compare": "what is newly broken and what is fixed between two runs",
    "view": "the workbench: look at runs and start campaigns in the browser",
    "look": "draw what a system answers on pictures, and measure it where they are annotated",
    "replay": "make one case again, ask again, and show both answers",
    "study": "the tables of a paper, for your own systems",
    "ratings": "let people judge the cases of a run, and count what they say",
    "train": "train a driving network on pictures whose driver is known",
    "retrain": "train a detector on what a run found, and measure whether it helps",
    "backdoor": "plant a backdoor into a classifier, to see whether explanations tell",
    "rule": "read a driving rule back as a relation, or say which word is not understood",
    "export": "the findings of a run as a data set, or all of its cases as a table",
    "clean": "how much space runs take, and giving it back",
    "pool": "cut objects out of pictures, and look at them",
    "models": "the models and photographs that can be fetched",
    "systems": "the systems that are built in",
    "relations": "the relations and searches that are built in",
    "completion": "a script by which a shell completes commands, options and names",
}
DESCRIPTION = """Test vision systems without labels: change an image in a way whose effect on
the answer is known, ask again, and report where the answers contradict each other."""
EXIT_STATUS = """exit status: 0 no headline finding, 1 headline findings (real ones, or not verified),
2 could not judge: bad usage, bad input, nothing judged, too unstable, too many failures,
130 interrupted"""


EVERYWHERE = ("--json", "--debug", "--quiet")  # what every command takes
INTERRUPTED = 130
MOST_SAID = 1200  # characters of an error


def main(words: Sequence[str] | None = None) -> int:
    """Run the program on these arguments, by default those of the process; the exit status."""
    if words is not None:
        return _run(list(words))
    status = _run(sys.argv[1:])
    _leave(status)
    return status


def _run(words: list[str]) -> int:
    # These matter even where the rest makes no sense, so they are seen to first.
    as_json, debug, quiet = (flag in words for flag in EVERYWHERE)
    try:
        args = _parse([word for word in words if word not in EVERYWHERE])
        args.json, args.quiet = as_json, quiet or as_json
        outcome = _perform(args)
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            import traceback

            traceback.print_exc()
        message = _in_one_line(error)
        if as_json:
            # A refused rule also says which word, where, and what would have been understood.
            _print(json.dumps({"error": message} | getattr(error, "details", {})))
        else:
            print(f"instar: {message}", file=sys.stderr)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 2
    _print(json.dumps(outcome.document, allow_nan=False) if as_json else outcome.text.rstrip("\n"))
    return outcome.status


def _leave(status: int) -> None:
    """End the process at once where a call into a system is still under way in a thread of ours.

    Python would stop the thread inside of the system's own library, and that aborts the process.
    """
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if others and all(thread.daemon for thread in others):
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(status)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like any other: one line, exit status 2."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see {self.prog} --help")

    def refuse(self, word: str) -> NoReturn:
        if word.startswith("-"):
            raise UnknownName("option", word.partition("=")[0], self._option_string_actions)
        self.error(f"{word!r} is one argument too many")


def _parse(words: list[str]) -> argparse.Namespace:
    wanted = next((word for word in words if not word.startswith("-")), None)
    listing = "".join(f"  {name.ljust(11)}{purpose}\n" for name, purpose in COMMANDS.items())
    epilog = f"commands:\n{listing}\n{EXIT_STATUS}"
    parser = _Parser(prog="instar", description=DESCRIPTION, epilog=epilog)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", help="see below; each has its --help")
    speaking = parser
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, description=purpose)
        if name == wanted:
            speaking = command
            import_module(f"instar.cli.{name}").arguments(command)
    for one in {parser, speaking}:
        one.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
        one.add_argument("--quiet", action="store_true", help="no progress, and only the head of a report")
        one.add_argument("--debug", action="store_true", help="show the traceback of an error")
    if wanted is not None and wanted not in COMMANDS:
        raise UnknownName("command", wanted, COMMANDS)
    args, rest = parser.parse_known_args(words)
    if rest:
        speaking.refuse(rest[0])
    if args.command is None and not args.version:
        parser.error("give a command: " + ", ".join(COMMANDS))
    return args


def _perform(args: argparse.Namespace) -> Outcome:
    if args.version:
        return _version()
    command: Any = import_module(f"instar.cli.{args.command}")
    with _stdout_kept_clean() if args.json else contextlib.nullcontext():
        try:
            outcome: Outcome = command.perform(args)
        except SystemExit as error:
            # A user's code that leaves would leave with its own status, and 0 would mean that all held.
            raise BadInput(_in_one_line(error)) from error
    return outcome


def _version() -> Outcome:
    from instar.cli.flags import installed_version
    from instar.core.outcome import Outcome

    number = installed_version() or "not installed"
    return Outcome(f"instar {number}", {"version": number})


@contextlib.contextmanager
def _stdout_kept_clean() -> Iterator[None]:
    """Send to standard error what anybody prints meanwhile: a user's system, a library, a child process."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _in_one_line(error: BaseException) -> str:
    if isinstance(error, InstarError):
        return _shortened(" ".join(str(error).split()))
    if isinstance(error, OSError) and error.filename is not None:
        # What the file system refuses is no defect of instar.
        return _shortened(f"cannot use {error.filename}: {error.strerror}")
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; a run keeps what it has and goes on with --resume"
    return " ".join(f"{_where(error)}{type(error).__name__}: {error}; --debug shows more".split())


def _shortened(line: str) -> str:
    """A line that quotes a value of thousands of characters keeps its beginning and its end."""
    return line if len(line) <= MOST_SAID else f"{line[: MOST_SAID // 2]} ... {line[-MOST_SAID // 2 :]}"


def _where(error: BaseException) -> str:
    """The line of code an unexpected error came from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    code = trace.tb_frame.f_code
    return f"unexpected error in {os.path.basename(code.co_filename)}:{trace.tb_lineno} ({code.co_name}): "


def _print(text: str) -> None:
    """Print on standard output, whatever that is able to show, and however soon it is closed."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    shown = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        print(shown, flush=True)
    except BrokenPipeError:
        # `instar report RUN | head`: keep the interpreter from complaining when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
