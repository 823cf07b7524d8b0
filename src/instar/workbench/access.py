"""Who may ask what: one person on this machine, who was given the address with its token.

Every request passes here before anything else sees it:

- its Host must be the address that is served, so that no foreign name can be made to point here;
- it must carry the cookie that the address with the token sets, once, before it disappears from the address;
- what changes something must come from our own pages (Origin, Sec-Fetch-Site, and a token in the form);
- its body is small, or it is refused without being read.

And every answer says that a browser may load nothing from elsewhere and run no script but ours.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

__all__ = ["LARGEST_BODY", "Access", "Guard"]

LARGEST_BODY = 64 * 1024
LONGEST_ADDRESS = 16 * 1024
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with "no-referrer" our own forms would have no Origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Scope = dict[str, Any]


@dataclass(frozen=True)
class Access:
    """The secrets of one workbench: the token in its address, and what the cookie holds afterwards."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def hosts(self) -> tuple[str, ...]:
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Cookies of different ports get mixed up, so the name tells them apart."""
        return f"instar-{self.port}"

    @property
    def form_token(self) -> str:
        """What every form of ours carries; nobody else can know it."""
        return hmac.new(self.session.encode(), b"form", hashlib.sha256).hexdigest()


class Refused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Guard:
    """ASGI middleware; the body of what passes is in `scope["instar.form"]`, decoded."""

    def __init__(self, app: Any, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no websockets are served
        try:
            headers = _headers(scope)
            self._require_host(headers)
            if redirect := self._redirect(scope):
                await _answer(send, 303, b"", redirect)
                return
            self._require_cookie(headers)
            if scope["method"] not in ("GET", "HEAD", "POST"):
                raise Refused(405, "only GET and POST are known here")
            body = await _read(headers, receive)
            if scope["method"] == "POST":
                scope["instar.form"] = self._form(headers, body)
        except Refused as refused:
            text = f"instar: {refused.why}\n".encode()
            await _answer(send, refused.status, text, [("content-type", "text/plain; charset=utf-8")])
            return
        await self._app(scope, receive, _with_headers(send))

    def _require_host(self, headers: dict[str, str]) -> None:
        if headers.get("host", "").lower() not in self._access.hosts:
            raise Refused(403, "this address is served under 127.0.0.1 only")

    def _redirect(self, scope: Scope) -> list[tuple[str, str]] | None:
        """Where a request brings the right token: the cookie, and the same address without it."""
        if scope["method"] not in ("GET", "HEAD"):
            return None
        query = scope["query_string"].decode("latin-1")
        if len(query) > LONGEST_ADDRESS:
            raise Refused(414, "the address is too long")
        pairs = parse_qsl(query, keep_blank_values=True)
        tokens = [value for name, value in pairs if name == "token"]
        if not tokens:
            return None
        if not _same(tokens[0], self._access.token):
            raise Refused(403, "the token is wrong; open the address that instar view printed")
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = "/" + scope["path"].lstrip("/\\")  # never //elsewhere
        target = urlsplit(path)._replace(query=rest).geturl() if path.isascii() else "/"
        kept = f"{self._access.cookie}={self._access.session}; HttpOnly; SameSite=Strict; Path=/"
        return [("location", target), ("set-cookie", kept)]

    def _require_cookie(self, headers: dict[str, str]) -> None:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self._access.cookie)
        except CookieError:
            morsel = None
        if morsel is None or not _same(morsel.value, self._access.session):
            raise Refused(403, "open the address with the token that instar view printed")

    def _form(self, headers: dict[str, str], body: bytes) -> list[tuple[str, str]]:
        ours = tuple(f"http://{host}" for host in self._access.hosts)
        if headers.get("origin", ours[0]) not in ours:
            raise Refused(403, "this was sent by another site")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "this was sent by another site")
        if headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
            raise Refused(415, "only forms are read here")
        try:
            pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=200)
        except ValueError:
            raise Refused(400, "the form cannot be read") from None
        token = next((value for name, value in pairs if name == "form"), "")
        if not _same(token, self._access.form_token):
            raise Refused(403, "the form is not ours, or of an earlier start; reload the page")
        return [(name, value) for name, value in pairs if name != "form"]


def _headers(scope: Scope) -> dict[str, str]:
    """Headers by name; one that is given twice and means something here is refused."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if name in headers and name in ("host", "origin", "content-length"):
            raise Refused(400, f"there are two headers {name}")
        headers[name] = f"{headers[name]}; {value}" if name == "cookie" and name in headers else value
    return headers


async def _read(headers: dict[str, str], receive: Any) -> bytes:
    announced = headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()) or int(announced) > LARGEST_BODY:
        raise Refused(413, f"more than {LARGEST_BODY:,} bytes are not read")
    body = b""
    more = announced != "0" or "transfer-encoding" in headers
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Refused(400, "the connection was closed")
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise Refused(413, f"more than {LARGEST_BODY:,} bytes are not read")
        more = message.get("more_body", False)
    return body


def _with_headers(send: Any) -> Any:
    async def sending(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            added = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in given]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending


async def _answer(send: Any, status: int, body: bytes, headers: Iterable[tuple[str, str]]) -> None:
    every = [*headers, ("content-length", str(len(body))), *HEADERS.items()]
    if status == 413:
        every.append(("connection", "close"))
    lines = [(name.encode(), value.encode("latin-1", "replace")) for name, value in every]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())
