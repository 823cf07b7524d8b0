"""A request to a service, its signature and its response.

How they travel is an argument wherever they are used.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import reduce
from http.client import HTTPException
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from instar.adapters.throttle import NotThere
from instar.core.errors import BadInput, Temporary

LEAST_SECRET = 4  # characters; shorter ones would be found in any text
SECRET_HEADERS = frozenset(
    {"Authorization", "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", "X-Goog-Api-Key", "X-TC-Token"}
)
NOBODY = (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)
PATIENCE = 60.0  # seconds; a campaign with a shorter time limit kills the question itself


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A POST to a URL, given up when nothing of the response has come for `stall` seconds. The headers do not
    name the host.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes
    stall: float = PATIENCE


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """`retry_after`: the seconds after which a busy server wants to be asked again, if it says so."""

    status: int
    body: bytes
    retry_after: float | None = None


Transport: TypeAlias = Callable[[HttpRequest], HttpResponse]


def over_http(request: HttpRequest) -> HttpResponse:
    """Send the request. An error status is a response too; none, or half of one, raises Temporary."""
    prepared = urllib.request.Request(request.url, request.body, dict(request.headers), method="POST")
    try:
        with urllib.request.urlopen(prepared, timeout=request.stall) as answer:
            return HttpResponse(answer.status, answer.read(), _retry_after(answer.headers))
    except urllib.error.HTTPError as refusal:
        with refusal:
            return HttpResponse(refusal.code, _rest(refusal), _retry_after(refusal.headers))
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        kind = NotThere if isinstance(reason, NOBODY) else Temporary
        raise kind(f"{host_of(request.url)} cannot be reached: {reason}") from error


def _rest(refusal: urllib.error.HTTPError) -> bytes:
    """The body of a refusal; empty where it breaks off, since the status says enough."""
    try:
        return refusal.read()
    except (OSError, HTTPException):
        return b""


def _retry_after(headers: Message) -> float | None:
    """The seconds in Retry-After, which may also name a moment."""
    told = str(headers.get("Retry-After") or "").strip()
    if told.isdigit():
        return float(told)
    try:
        return max(0.0, (parsedate_to_datetime(told) - utc_now()).total_seconds())
    except (TypeError, ValueError):
        return None


def host_of(url: str) -> str:
    """The host, with its port where it is not the usual one.

    >>> host_of("https://vision.googleapis.com/v1/images:annotate")
    'vision.googleapis.com'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise BadInput(f"endpoint is {url!r}; it must be a URL such as https://example.com")
    return parts.netloc


def hide_secrets(text: str, variables: Iterable[str], headers: Mapping[str, str] | None = None) -> str:
    """A text without the values of these environment variables, and without what these headers authorise
    with: servers like to quote keys.
    """
    known = {f"${name}": os.environ.get(name, "") for name in variables}
    sent = {name: value.split()[-1] for name, value in (headers or {}).items() if name in SECRET_HEADERS}
    for name, value in (known | sent).items():
        if len(value) >= LEAST_SECRET:
            text = text.replace(value, name)
    return text


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


def authorization(
    prefix: Literal["AWS4", "TC3"],
    key: tuple[str, str],
    *,
    scope: Sequence[str],
    moment: str,
    headers: Mapping[str, str],
    body: bytes,
) -> str:
    """The `Authorization` of a POST to "/" without a query.

    As AWS (version 4) and Tencent Cloud (version 3) want it: both hash the request, and sign the hash with a
    key that is derived from the secret step by step over the `scope`, which is the day, the service and so
    on. `key` is its id and secret; `moment` the time as the service writes it; `headers`, all of which are
    signed, must name the host.
    """
    signed = dict(sorted((name.lower(), value.strip()) for name, value in headers.items()))
    names = ";".join(signed)
    lines = [f"{name}:{value}" for name, value in signed.items()]
    request = "\n".join(["POST", "/", "", *lines, "", names, hashlib.sha256(body).hexdigest()])
    within = "/".join(scope)
    digest = hashlib.sha256(request.encode()).hexdigest()
    to_sign = f"{prefix}-HMAC-SHA256\n{moment}\n{within}\n{digest}"
    secret = reduce(_keyed, scope, (prefix + key[1]).encode())
    signature = _keyed(secret, to_sign).hex()
    return f"{prefix}-HMAC-SHA256 Credential={key[0]}/{within}, SignedHeaders={names}, Signature={signature}"


def _keyed(key: bytes, message: str) -> bytes:
    return hmac.new(key, message.encode(), hashlib.sha256).digest()
