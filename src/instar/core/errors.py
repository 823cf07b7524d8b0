"""Every exception that instar raises on purpose.

    InstarError                 one line for the user: what, which value, what to do
    ├── BadInput                an argument, a plan, a folder or a file cannot be used
    │   ├── UnknownName         a name that nothing has; the nearest known ones are given
    │   ├── Untrusted           a run folder names code that the user has not said may be run
    │   └── UnreadablePicture   a file that is no picture, or one that must not be decoded
    ├── MissingExtra            an optional dependency is not installed (`instar.installation`)
    ├── FetchFailed             a model or photograph could not be had
    ├── RunError                a run folder cannot be used
    │   ├── RunExists           it is there already and --resume was not given
    │   ├── RunLocked           another process is writing to it
    │   ├── RunVersion          it was written by another version of the format
    │   └── SceneChanged        a picture is no longer the one that was tested
    ├── TooManyFailures         the system under test failed too often in a row
    ├── Temporary               raised by a system: the same question may succeed later
    └── Refused                 raised by a system: no question will be answered, such as for a wrong key

The command line turns any of them into its message and exit status 2. Anything else that escapes is a
defect of instar or of a user's relation and keeps its traceback. `WrongKind`, a TypeError, is such a defect
that instar notices itself: a function of a relation gave something that nothing can be made of.
"""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 60  # names of those that are known; a network can have hundreds of layers


class InstarError(Exception):
    """The base of all; its text is a single line meant for the person at the keyboard."""


class BadInput(InstarError):
    """An argument, plan, folder or file cannot be used."""


class UnknownName(BadInput):
    """A name that nothing has.

    >>> print(UnknownName("system", "yolox-nao", ["yolox-nano", "east"]))
    unknown system 'yolox-nao'; did you mean 'yolox-nano'?
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        import difflib  # slow to load, and only wanted when something went wrong

        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        if near:
            hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
        elif known:
            more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
            hint = "known: " + ", ".join(known[:SHOWN]) + more
        else:
            hint = "none is known"
        super().__init__(f"unknown {what} {name!r}; {hint}")


class UnreadablePicture(BadInput):
    """A file that is no picture, or one that must not be decoded. The text is the reason alone."""


class FetchFailed(InstarError):
    """A model or photograph could not be had."""


class RunError(InstarError):
    """A run folder cannot be used."""


class RunExists(RunError):
    """The run folder is there already and --resume was not given."""


class RunLocked(RunError):
    """Another process is writing to the run."""


class RunVersion(RunError):
    """The run was written by another version of the format."""


class SceneChanged(RunError):
    """A picture is no longer the one that was tested."""


class Untrusted(BadInput):
    """A run folder names code that the user has not said may be run."""


class TooManyFailures(InstarError):
    """The system under test failed too often in a row; everything so far is kept."""


class WrongKind(TypeError):
    """A function of a relation or a task gave something else than it has to give."""


class Refused(InstarError):
    """Raised by a system to say: never, as for a key that is wrong. The campaign stops at once."""


class Temporary(InstarError):
    """Raised by a system to say: not now. The same question is asked again after a pause."""
