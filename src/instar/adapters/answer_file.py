"""Answers in a file: JSON lines, a JSON table by picture, or COCO results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from instar.adapters.labels import read_labels, with_labels
from instar.adapters.picture_system import hash_files
from instar.core.digest import digest
from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.user_file import parse_json, read_text

NAMES = ("file", "file_name", "image", "question")
"""What a line of JSON may call the picture that it answers to."""
COCO_KEYS = ("image_id", "bbox", "score")


class AnswerFile:
    """Answers that were made already, to pictures known by their content, as `instar questions` names them.

    `labels` are the names of numbered classes.
    """

    concurrent = True

    def __init__(self, *, path: str, labels: Any = None) -> None:
        self._path = Path(path)
        self.name = self._path.stem
        found = read_answers(self._path, labels)
        # A picture that was asked several times has a number behind its hash; here it is asked as one.
        self._answers = {name.partition("-")[0]: found[name] for name in sorted(found, reverse=True)}
        self.fingerprint = f"answers {hash_files(self._path)} labels={labels}"

    def predict(self, images: Sequence[Image]) -> list[Any]:
        return [self._find(digest(image)) for image in images]

    def _find(self, key: str) -> Any:
        for name in (key, str(number_of(key))):
            if name in self._answers:
                return self._answers[name]
        raise LookupError(f"{self._path} has no answer to this picture")


def read_answers(path: Path, labels: Any = None) -> dict[str, Any]:
    """The answers in a file, by the picture's name (without its ending) or its number in COCO results."""
    text = read_text(path, "answers")
    if path.suffix == ".jsonl" or not text.lstrip().startswith(("[", "{")) or _is_lines(text):
        found = _from_lines(path, text)
    else:
        content = parse_json(text, path)
        if isinstance(content, Mapping) and "annotations" in content:
            content = content["annotations"]
        if isinstance(content, Mapping):
            found = {_stem(name): answer for name, answer in content.items()}
        else:
            found = _from_coco(path, content)
    names = read_labels(labels)
    return {name: with_labels(answer, names) for name, answer in found.items()}


def has_only_objects(path: Path) -> bool:
    """Whether a file has COCO results, which say nothing about pictures without objects."""
    return read_text(path, "answers").lstrip().startswith("[")


def number_of(key: str) -> int:
    """The number of a picture in COCO files, from its content hash: 48 bits, which JSON keeps exactly."""
    return int(key[:12], 16)


def _is_lines(text: str) -> bool:
    """Whether it is one JSON object a line; a single one names its picture, which a table has as a key."""
    first, _, rest = text.strip().partition("\n")
    if not (first.startswith("{") and first.rstrip().endswith("}")):
        return False
    return rest.lstrip().startswith("{") or (not rest and bool(set(NAMES) & set(parse_json(first, "it"))))


def _from_lines(path: Path, text: str) -> dict[str, Any]:
    found = {}
    for n, line in enumerate(text.splitlines(), 1):
        if line.strip():
            one = parse_json(line, f"{path} line {n}")
            name = next((one[key] for key in NAMES if key in one), None) if isinstance(one, dict) else None
            if name is None:
                raise BadInput(f"{path} line {n} names no picture; each needs a key {NAMES[0]!r}")
            rest = {key: value for key, value in one.items() if key not in NAMES}
            found[_stem(name)] = rest["answer"] if set(rest) == {"answer"} else rest
    return found


def _from_coco(path: Path, content: Any) -> dict[str, Any]:
    if not isinstance(content, list):
        raise BadInput(f"{path} is neither COCO results, nor a table of answers, nor lines of JSON")
    found: dict[str, Any] = {}
    for n, one in enumerate(content):
        missing = [key for key in COCO_KEYS if key not in one] if isinstance(one, dict) else COCO_KEYS
        if missing:
            raise BadInput(
                f"{path}: result {n} has no {missing[0]}; COCO results have {', '.join(COCO_KEYS)}"
            )
        found.setdefault(_stem(one["image_id"]), []).append(one)
    return found


def _stem(name: Any) -> str:
    return Path(str(name)).stem
