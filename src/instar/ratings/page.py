"""The page that people rate on: one file, no network, and nothing in it that says which case failed.

It shows as many violated cases as passes, of every relation alike, mixed.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from instar.core.record import Record
from instar.core.verdict import Status
from instar.report.groups import in_turns

QUESTIONS: Mapping[str, tuple[str, str, str]] = {
    "real": ("Does the second picture look real?", "not at all", "entirely"),
    "reasonable": ("Is the answer to the second picture reasonable?", "not at all", "entirely"),
}
SEVERAL = {
    "real": "Do all pictures but the first look real?",
    "reasonable": "Are the answers to them reasonable?",
}
"""The same where a case has more than one changed picture."""
POINTS = 7


@dataclass(frozen=True, slots=True)
class Item:
    """The pictures of a case, encoded, the unchanged one first, each with what the system answered to it."""

    case: str
    pictures: Sequence[tuple[bytes, str]]


def render_page(items: Sequence[Item], *, title: str) -> str:
    """The page as HTML. Items are numbered in the order given, which must not tell anything."""
    template = files("instar.ratings").joinpath("page.html").read_text(encoding="utf-8")
    document = {
        "title": title,
        "points": POINTS,
        "questions": [
            {"name": name, "text": text, "several": SEVERAL[name], "low": low, "high": high}
            for name, (text, low, high) in QUESTIONS.items()
        ],
        "items": [
            {
                "case": item.case,
                "pictures": [_url(picture) for picture, _ in item.pictures],
                "answers": [answer for _, answer in item.pictures],
            }
            for item in items
        ],
    }
    # "<" cannot end the script that the document stands in.
    data = json.dumps(document).replace("<", "\\u003c")
    return template.replace("{{title}}", html.escape(title)).replace("{{document}}", data)


def _url(picture: bytes) -> str:
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def choose_cases(records: Iterable[Record], n: int, *, seed: int = 0) -> list[Record]:
    """At most `n` judged cases, half of them violated where there are enough of both.

    Relations take turns, so that a frequent one does not crowd out the others. What is missing on one side is
    made up for by the other.
    """
    rng = np.random.default_rng([seed, 0x7A7E])
    judged = [record for record in records if record.role == "case"]
    violated = _shuffled([r for r in judged if r.verdict.status is Status.VIOLATED], rng)
    held = _shuffled([r for r in judged if r.verdict.status is Status.HELD], rng)
    many = max(n // 2, n - len(held))
    chosen = violated[:many]
    chosen += held[: n - len(chosen)]
    return [chosen[i] for i in rng.permutation(len(chosen))]


def _shuffled(records: Sequence[Record], rng: np.random.Generator) -> list[Record]:
    shuffled: list[Record] = []
    for relation in sorted({record.relation for record in records}):
        queue = sorted((r for r in records if r.relation == relation), key=lambda record: record.case)
        shuffled += [queue[i] for i in rng.permutation(len(queue))]
    return in_turns(shuffled, lambda record: record.relation)
