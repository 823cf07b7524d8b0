"""A driving rule as it is typed: how it is read, and what it makes of a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from instar.core.errors import InstarError
from instar.workbench import NotHere
from instar.workbench.orders import LONGEST_RULE, MOST_RULES, chosen_scenes
from instar.workbench.rule_previews import DRIVES
from instar.workbench.site import Site, form_of


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.post("/rule")
    def read(request: Request) -> Response:
        """Every line that was typed, as it is read."""
        form = form_of(request)
        lines = form.get("rules", [""])[0].splitlines()[:MOST_RULES]
        scenes = _scenes(site, form)
        return JSONResponse({"rules": [_reading(site, line, scenes) for line in lines]})

    @routes.get("/rule/{key}/{number}")
    def picture(key: str, number: int) -> Response:
        made = site.rules.pictures(key)
        if not 0 <= number < len(made):
            raise NotHere(f"the rule has no picture {number}")
        return Response(made[number], media_type="image/webp")

    @routes.get("/rule/{key}")
    def pictures(key: str) -> Response:
        """How many pictures there are, once they are made."""
        try:
            return JSONResponse({"pictures": len(site.rules.pictures(key))})
        except NotHere:
            raise
        except InstarError as error:
            return JSONResponse({"pictures": 0, "error": str(error)})

    return routes


def _scenes(site: Site, form: Mapping[str, Sequence[str]]) -> str:
    """The pictures that were chosen for the campaign; drawn drives where those are drawn, or not there."""
    one = {name: values[0].strip() for name, values in form.items()}
    try:
        scenes = chosen_scenes(one, site.offers, site.pictures.paths())
    except InstarError:
        return DRIVES
    return scenes if os.path.exists(scenes) else DRIVES


def _reading(site: Site, line: str, scenes: str) -> dict[str, Any] | None:
    text = line.strip()
    if not text:
        return None
    if len(text) > LONGEST_RULE:
        long = f"a rule may have {LONGEST_RULE} characters"
        return {"error": long, "word": "", "column": 1, "suggestions": []}
    offset = len(line) - len(line.lstrip())
    try:
        read = site.offers.read_rule(text)
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
        "picture": site.rules.announce(text, scenes),
    }
