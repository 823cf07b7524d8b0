"""Everything that the pages share, and how a page is made of a template."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import jinja2
import markupsafe
from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse

from instar.report.comparison import Comparison
from instar.report.glossary import term
from instar.report.words import counted, interval_words, kind_words, name, percent, readable, reason_words
from instar.workbench.access import Access
from instar.workbench.cards import CardWords
from instar.workbench.case_pictures import Studio
from instar.workbench.children import Campaigns, Jobs
from instar.workbench.figures import Ends
from instar.workbench.filters import CaseFilter, read_filter
from instar.workbench.library import Library
from instar.workbench.orders import Offers
from instar.workbench.picture_sets import PictureSets
from instar.workbench.rule_previews import RulePreviews
from instar.workbench.trust import Trust
from instar.workbench.workers import Results


@dataclass(frozen=True, eq=False)
class Site:
    library: Library
    studio: Studio
    campaigns: Campaigns
    jobs: Jobs
    offers: Offers
    access: Access
    comparisons: Results[Comparison]
    intervals: Results[Ends]
    rules: RulePreviews
    trust: Trust
    words: CardWords
    pictures: PictureSets

    def page(self, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
        """The template filled in; everything in it is escaped unless it is marked as safe here."""
        made = (
            _templates()
            .get_template(template)
            .render(
                form_token=self.access.form_token,
                root=self.library.root.name,
                running=self.campaigns.running(),
                **context,
            )
        )
        return HTMLResponse(made, status_code=status)


def view_of(request: Request) -> CaseFilter:
    return read_filter(request.query_params.multi_items())


def form_of(request: Request) -> dict[str, list[str]]:
    """The fields of the form that was sent; `Guard` has checked where it comes from."""
    form: dict[str, list[str]] = {}
    for key, value in request.scope.get("instar.form", ()):
        form.setdefault(key, []).append(value)
    return form


def file_of(request: Request) -> bytes:
    """The file that was sent; `Guard` has checked where it comes from."""
    return bytes(request.scope.get("instar.file", b""))


def go_to(path: str, **values: object) -> RedirectResponse:
    """Show another page, once a form is dealt with."""
    return RedirectResponse(_address(path, **values), status_code=303)


def prepare_templates() -> None:
    """Compile all templates, so that the first page does not wait for it."""
    for template in _templates().list_templates():
        _templates().get_template(template)


@functools.cache
def _templates() -> jinja2.Environment:
    templates = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("instar.workbench", "templates"),
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "name": _name,
        "plain": _plain,
        "share": percent,
        "interval": _interval,
        "margin": _margin,
        "pretty": _pretty,
        "said": _said,
        "n": lambda number: f"{number:,}",
    }
    templates.globals |= {"term": _term, "counted": counted, "address": _address, "svg": markupsafe.Markup}
    return templates


def _name(text: object, longest: int = 160) -> markupsafe.Markup:
    """A name from data: escaped, without control characters, not longer than that, its direction its own."""
    return markupsafe.Markup(name(str(text), longest))


def _said(value: str, facet: str) -> str:
    """The word for people of what a case is filtered by."""
    return {"kind": kind_words, "reason": reason_words}.get(facet, str)(value)


def _plain(text: object, longest: int = 160) -> str:
    return readable(str(text), longest)


def _term(word: str) -> markupsafe.Markup:
    """The word, leading to what it means."""
    return markupsafe.Markup(term(word, "/words"))


def _interval(ends: tuple[float, float] | str | None) -> str:
    return "…" if isinstance(ends, str) else interval_words(ends)


def _address(path: str, **values: object) -> str:
    """A path with values behind it, each encoded."""
    return f"{path}?{urlencode({k: v for k, v in values.items() if v is not None})}"


def _margin(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "unknown" if value is None or math.isnan(value) else f"{value:+}"
    return f"{value:+.3f}".replace("-", "\u2212")


def _pretty(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
