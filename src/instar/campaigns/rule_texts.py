"""Driving rules as they are given on the command line: texts, and files with one on each line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from instar.core.errors import BadInput
from instar.user_file import read_text


def read_rules(given: Sequence[str]) -> list[str]:
    """The rules that were given, and those in files that were named."""
    rules = []
    for text in given:
        path = Path(text)
        try:
            is_file = path.is_file()
        except OSError:  # a rule may be longer than a file name can be
            is_file = False
        lines = read_text(path, "rules").splitlines() if is_file else [text]
        if not is_file and len(text.split()) == 1:
            raise BadInput(f"--rule {text!r} is neither a rule nor a file of rules that exists")
        rules += [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not rules:
        raise BadInput(f"--rule {given[0]!r} has no rule in it")
    return rules
