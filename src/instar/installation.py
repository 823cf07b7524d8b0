"""How this instar was installed, and by which command it gets an extra."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from instar.core.errors import InstarError


class MissingExtra(InstarError):
    """An optional dependency is not installed."""

    def __init__(self, module: str, *, extra: str, needed_for: str) -> None:
        super().__init__(
            f"{needed_for} needs {module}, which is not installed; run: {install_command(extra)}"
        )


def import_extra(module: str, package: str, *, extra: str, needed_for: str) -> Any:
    """The module; MissingExtra where the package that it needs is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(package, extra=extra, needed_for=needed_for) from None


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation, from where it came: instar is on no index.

    pip keeps the address of the folder, wheel or repository that was installed.
    """
    try:
        came_from = json.loads(distribution("instar").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        came_from = {}
    url = came_from.get("url", "")
    if "vcs_info" in came_from:
        return f"pip install 'instar[{extra}] @ {came_from['vcs_info']['vcs']}+{url}'"
    source, editable = Path(__file__).parents[2], True
    if url.startswith("file:"):
        source = Path(unquote(urlsplit(url).path))
        editable = bool(came_from.get("dir_info", {}).get("editable"))
    elif not (source / "pyproject.toml").is_file():
        return f"pip install 'instar[{extra}]'"
    if extra != "weights":
        return f"pip install {'-e ' * editable}'{source}[{extra}]'"
    # A wheel of their own.
    if source.suffix == ".whl":
        return f"pip install --find-links '{source.parent}' instar-weights"
    return f"pip install '{source}/weights'"
