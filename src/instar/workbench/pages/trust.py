"""Trust: the code that a run names may be run, because somebody has seen its names and said so."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from instar.workbench.site import Site, form_of


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.post("/trust")
    def agree(request: Request, of: str) -> Response:
        """Agree to the names that the form showed, and go back to where it stood."""
        form = form_of(request)
        site.trust.agree(site.library.run(of).folder, form.get("name", ()))
        back = form.get("back", ["/"])[0]
        is_ours = back.startswith("/") and not back.startswith(("//", "/\\"))
        return RedirectResponse(back if is_ours else "/", status_code=303)

    return routes
