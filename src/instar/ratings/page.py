"""The page that people rate on: one file, no network, and nothing in it that says which case failed."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["QUESTIONS", "Item", "render_page"]

QUESTIONS = {
    "real": ("Does the second picture look real?", "not at all", "entirely"),
    "reasonable": ("Is the answer to the second picture reasonable?", "not at all", "entirely"),
}
POINTS = 7


@dataclass(frozen=True, slots=True)
class Item:
    """A pair of pictures, encoded, with what the system answered to each, and the case that it is."""

    case: str
    before: bytes
    after: bytes
    answer_before: str
    answer_after: str


def render_page(items: Sequence[Item], *, title: str) -> str:
    """The page as HTML. Items are numbered in the order given, which must not tell anything."""
    template = files("instar.ratings").joinpath("page.html").read_text(encoding="utf-8")
    document = {
        "title": title,
        "points": POINTS,
        "questions": [
            {"name": name, "text": text, "low": low, "high": high}
            for name, (text, low, high) in QUESTIONS.items()
        ],
        "items": [
            {
                "case": item.case,
                "before": _url(item.before),
                "after": _url(item.after),
                "answers": [item.answer_before, item.answer_after],
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
