"""Class names beside YOLO labels, from data.yaml or classes.txt.

Of YAML only what such files contain is understood: under `names` a list, or a mapping from number to
name, written in brackets (over several lines, too) or one entry a line.
"""

from __future__ import annotations

import re
from pathlib import Path

from instar.core.errors import BadInput
from instar.user_file import read_text

__all__ = ["YAML_NAMES", "class_names"]

YAML_NAMES = ("data.yaml", "data.yml", "dataset.yaml")

# The value of the key: the rest of its line, and all lines after it that do not begin another key.
_VALUE = re.compile(r"^names[ \t]*:(.*(?:\n(?:[ \t\]}#-].*)?)*)", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_ITEM = re.compile(r"""(?:"[^"]*"|'[^']*'|[^,"'])+""")
_NUMBERED = re.compile(r"(\d+)\s*:\s*(.*)")


def class_names(root: Path) -> list[str] | None:
    """The names by number of class, or None where no file in the folder says them."""
    for name in YAML_NAMES:
        if (root / name).is_file():
            return _yaml_names(root / name)
    if (root / "classes.txt").is_file():
        return [line.strip() for line in read_text(root / "classes.txt").splitlines() if line.strip()]
    return None


def _yaml_names(path: Path) -> list[str]:
    value = _VALUE.search(read_text(path))
    if value is None:
        raise BadInput(f"{path} has no 'names'")
    body = _COMMENT.sub("", value[1]).strip()
    if body[:1] in ("[", "{"):
        items = _ITEM.findall(body[1:].rstrip("]}"))
    else:
        items = [line.strip().removeprefix("- ") for line in body.splitlines()]
    items = [item.strip() for item in items if item.strip()]
    names = dict(_numbered(item, position) for position, item in enumerate(items))
    if not names or sorted(names) != list(range(len(items))) or not all(names.values()):
        raise BadInput(f"{path}: the classes under 'names' are not 0, 1, 2, ... each with a name")
    return [names[number] for number in range(len(names))]


def _numbered(item: str, position: int) -> tuple[int, str]:
    mapped = _NUMBERED.fullmatch(item)
    number, text = (int(mapped[1]), mapped[2].strip()) if mapped else (position, item)
    quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'"
    return number, text[1:-1] if quoted else text
