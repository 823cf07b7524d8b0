"""Docstrings are tests too; those of modules that begin by importing an extra wait until it is installed."""

from importlib.util import find_spec
from pathlib import Path

EXTRAS = ("torch",)

collect_ignore = [
    str(path)
    for path in Path(__file__).parent.joinpath("src").rglob("*.py")
    for extra in EXTRAS
    if find_spec(extra) is None and f"\nimport {extra}\n" in path.read_text(encoding="utf-8")
]
