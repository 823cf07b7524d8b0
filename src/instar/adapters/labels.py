"""The names of numbered classes, as a user gives them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.user_file import read_text

KNOWN = ("coco", "coco-ids")
"""Lists that the detection task has: COCO's 80 in order, and by COCO's own numbers."""


def read_labels(labels: Any) -> Any:
    """The word "coco" or "coco-ids", or a list of names, which may stand in a text file; None for none."""
    if labels is None or labels in KNOWN:
        return labels
    if isinstance(labels, str):
        lines = read_text(Path(labels), "labels").splitlines()
        return [line.strip() for line in lines if line.strip()]
    if not isinstance(labels, (list, tuple)) or not labels:
        raise BadInput(f"system: labels is {labels!r}; give a list, a text file, 'coco' or 'coco-ids'")
    return [str(label) for label in labels]


def with_labels(answer: Any, names: Any) -> Any:
    """An answer of plain values with the names of its numbers beside it."""
    if names is None:
        return answer
    return {**(answer if isinstance(answer, dict) else {"objects": answer}), "names": names}


def exported_names(metadata: Mapping[str, str]) -> list[str]:
    """The names of the classes that exporters write beside a network, in the order of their numbers."""
    told = parse_literal(metadata.get("names", ""))
    if isinstance(told, Mapping):
        return [str(told[key]) for key in sorted(told, key=int)]
    return [str(name) for name in told] if isinstance(told, list) else []


def parse_literal(text: str) -> Any:
    """A value that was written as a literal of Python; None for anything else."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
