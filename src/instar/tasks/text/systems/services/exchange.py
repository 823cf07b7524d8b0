"""A request to a service and its response; how they travel is an argument wherever they are used."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import TypeAlias
from urllib.parse import urlsplit

from instar.core.errors import BadInput, Temporary

__all__ = ["HttpRequest", "HttpResponse", "Transport", "host_of", "over_http"]

PATIENCE = 60.0  # seconds; a campaign with a shorter time limit kills the question itself


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A POST; the headers do not name the host, which is that of the URL."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    body: bytes


Transport: TypeAlias = Callable[[HttpRequest], HttpResponse]


def over_http(request: HttpRequest) -> HttpResponse:
    """Send the request; a refusal is a response too. Temporary when no response comes back."""
    prepared = urllib.request.Request(request.url, request.body, dict(request.headers), method="POST")
    try:
        with urllib.request.urlopen(prepared, timeout=PATIENCE) as answer:
            return HttpResponse(answer.status, answer.read())
    except urllib.error.HTTPError as refusal:
        with refusal:
            return HttpResponse(refusal.code, refusal.read())
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise Temporary(f"{host_of(request.url)} cannot be reached: {reason}") from error


def host_of(url: str) -> str:
    """The host, with its port where it is not the usual one.

    >>> host_of("https://vision.googleapis.com/v1/images:annotate")
    'vision.googleapis.com'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise BadInput(f"endpoint is {url!r}; it must be a URL such as https://example.com")
    return parts.netloc
