"""A driving rule as it is typed: how it is read, and what it makes of a picture."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from instar.core.errors import InstarError
from instar.imaging.preview import encode_preview
from instar.workbench import NotHere
from instar.workbench.campaign_form import LONGEST_RULE, MOST_RULES
from instar.workbench.site import Site, form_of

__all__ = ["router"]

KEPT = 40


class _Previews:
    """The last preview pictures, by what was typed; one is made at a time."""

    def __init__(self, site: Site) -> None:
        self._desk, self._lock = site, threading.Lock()
        self._made: OrderedDict[str, list[bytes]] = OrderedDict()
        self._texts: OrderedDict[str, str] = OrderedDict()

    def announce(self, text: str) -> str:
        """The name under which the picture of a rule can be asked for."""
        key = hashlib.sha256(text.encode()).hexdigest()[:24]
        self._texts[key] = text
        while len(self._texts) > 10 * KEPT:
            self._texts.popitem(last=False)
        return key

    def pictures(self, key: str) -> list[bytes]:
        """The source and what the rule makes of it."""
        text = self._texts.get(key)
        if text is None:
            raise NotHere("this rule is not known any more; type it again")
        with self._lock:
            if key not in self._made:
                images = self._desk.tools.picture_rule(text)
                self._made[key] = [encode_preview(image, longest=520) for image in images]
                while len(self._made) > KEPT:
                    self._made.popitem(last=False)
            return self._made[key]


def router(site: Site) -> APIRouter:
    routes = APIRouter()
    previews = _Previews(site)

    @routes.post("/rule")
    def read(request: Request) -> Response:
        """Every line that was typed, as it is read."""
        text = form_of(request).get("rules", [""])[0]
        lines = text.splitlines()[:MOST_RULES]
        return JSONResponse({"rules": [_reading(site, previews, line) for line in lines]})

    @routes.get("/rule/{key}/{number}")
    def picture(key: str, number: int) -> Response:
        made = previews.pictures(key)
        if not 0 <= number < len(made):
            raise NotHere(f"the rule has no picture {number}")
        return Response(made[number], media_type="image/webp")

    @routes.get("/rule/{key}")
    def pictures(key: str) -> Response:
        """How many pictures there are, once they are made."""
        try:
            return JSONResponse({"pictures": len(previews.pictures(key))})
        except NotHere:
            raise
        except InstarError as error:
            return JSONResponse({"pictures": 0, "error": str(error)})

    return routes


def _reading(site: Site, previews: _Previews, line: str) -> dict[str, Any] | None:
    text = line.strip()
    if not text:
        return None
    if len(text) > LONGEST_RULE:
        return {
            "error": f"a rule may have {LONGEST_RULE} characters",
            "word": "",
            "column": 1,
            "suggestions": [],
        }
    offset = len(line) - len(line.lstrip())
    try:
        read = site.tools.read_rule(text)
    except InstarError as error:
        details = getattr(error, "details", {})
        column = int(details.get("column", 1)) + offset
        return {"error": str(error), "word": "", "suggestions": [], **details, "column": column}
    blocks = read["blocks"]
    return {
        "words": read["words"],
        "formulas": [block["formula"] for block in blocks],
        "engines": [
            {"change": f"{condition['op']} {condition['element']}", "engine": engine}
            for block in blocks
            for condition, engine in zip(block["condition"], block["engines"])
        ],
        "picture": previews.announce(text),
    }
