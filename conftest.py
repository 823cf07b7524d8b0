"""Docstrings are tests too; those of modules that need an extra wait until it is installed.

Properties are tried on the same examples every time, and however long a machine takes for one: a test that
fails here fails everywhere. `pytest --hypothesis-profile=search` looks for new examples.
"""

import ast
import atexit
import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

from hypothesis import HealthCheck, settings

settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("search"), derandomize=True)
settings.load_profile("same")

# Servers that tests start are on this machine, whatever leads out of it.
for name in ("no_proxy", "NO_PROXY"):
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost"]))

_sessions = []


def pytest_sessionstart(session):
    _sessions.append(session)


@atexit.register  # first of all, so that it comes last
def _leave():
    """End at once where a call that a test began is still under way: Python would stop its thread inside of a
    library in C++, which aborts the process, whatever the tests said.
    """
    if _sessions and threading.active_count() > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(_sessions[0].exitstatus))


ROOT = Path(__file__).parent
EXTRAS = ("torch",)


def _imports(path):
    """What a module imports as it is loaded, as dotted names; also what it tries to import."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for node in [
        inner for outer in body for inner in (outer.body if isinstance(outer, ast.Try) else [outer])
    ]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _waiting():
    """The modules that cannot be imported yet: they, or what they import, begin with a missing extra."""
    paths = [*ROOT.joinpath("src").rglob("*.py"), *ROOT.joinpath("tests").rglob("*.py")]
    names = {path: _name(path) for path in paths}
    imported = {path: set(_imports(path)) for path in paths}
    missing = {extra for extra in EXTRAS if find_spec(extra) is None}
    while True:
        # Whatever is below a package imports the package first.
        found = {
            p for p in paths if imported[p] & missing or any(names[p].startswith(f"{m}.") for m in missing)
        }
        grown = missing | {names[path] for path in found}
        if grown == missing:
            return found
        missing = grown


def _name(path):
    folder = "src" if path.is_relative_to(ROOT / "src") else "tests"
    parts = path.relative_to(ROOT / folder).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


# A test file that cannot be imported is an error all the same: it has to say for itself what it waits for.
collect_ignore = [str(path) for path in _waiting() if not path.name.startswith("test_")]
