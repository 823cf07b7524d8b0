"""The page that people rate on: one file, no network, and nothing in it that says which case failed."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["QUESTIONS", "Item", "render_page"]

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
