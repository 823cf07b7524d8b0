"""Who may ask what: one person on this machine, who was given the address with its token.

Every request passes here before anything else sees it:

- its Host must be the address that is served, so that no foreign name can be made to point here;
- it must carry the cookie that the address with the token sets, once, before it disappears from the address;
- what changes something must come from our own pages (Origin, Sec-Fetch-Site, and a token in the form);
- its body is small, or it is refused without being read; only where files are brought in may it be larger.

And every answer says that a browser may load nothing from elsewhere and run no script but ours.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

LARGEST_BODY = 64 * 1024
LARGEST_FILE = 25 * 2**20
FILES = ("/pictures", "/marks")  # what takes a file as its body, with the form's token in a header
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


class AccessRefused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Guard:
    """ASGI middleware; the body of what passes is in `scope["instar.form"]`, decoded, or in "instar.file"."""

    def __init__(self, app: Any, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no websockets are served
        answer: Any = self._app
        try:
            answer = await self._refused_or_redirected(Request(scope, receive)) or self._app
        except AccessRefused as refused:
            closing = {"connection": "close"} if refused.status == 413 else {}
            answer = PlainTextResponse(f"instar: {refused.why}\n", refused.status, headers=closing)
        await answer(scope, receive, _with_headers(send))

    async def _refused_or_redirected(self, request: Request) -> Response | None:
        self._require_host(request.headers)
        if redirect := self._redirect(request):
            return redirect
        cookie = request.cookies.get(self._access.cookie, "")
        if not _same(cookie, self._access.session):
            raise AccessRefused(403, "open the address with the token that instar view printed")
        if request.method not in ("GET", "HEAD", "POST"):
            raise AccessRefused(405, "only GET and POST are known here")
        is_file = request.method == "POST" and request.url.path in FILES
        if is_file:  # before its body is read
            self._require_ours(request.headers, "application/octet-stream")
            self._require_token(request.headers.get("x-instar-form", ""))
        body = await _read(request, LARGEST_FILE if is_file else LARGEST_BODY)
        if is_file:
            request.scope["instar.file"] = body
        elif request.method == "POST":
            request.scope["instar.form"] = self._form(request.headers, body)
        return None

    def _require_host(self, headers: Headers) -> None:
        for name in ("host", "origin", "content-length"):
            if len(headers.getlist(name)) > 1:
                raise AccessRefused(400, f"there are two headers {name}")
        if headers.get("host", "").lower() not in self._access.hosts:
            raise AccessRefused(403, "this address is served under 127.0.0.1 only")

    def _redirect(self, request: Request) -> Response | None:
        """Where a request brings the right token: the cookie, and the same address without it."""
        if request.method not in ("GET", "HEAD"):
            return None
        if len(request.scope["query_string"]) > LONGEST_ADDRESS:
            raise AccessRefused(414, "the address is too long")
        if "token" not in request.query_params:
            return None
        pairs = request.query_params.multi_items()
        if not _same(next(value for name, value in pairs if name == "token"), self._access.token):
            raise AccessRefused(403, "the token is wrong; open the address that instar view printed")
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = "/" + request.scope["path"].lstrip("/\\")  # never //elsewhere
        target = urlsplit(path)._replace(query=rest).geturl() if path.isascii() else "/"
        kept = f"{self._access.cookie}={self._access.session}; HttpOnly; SameSite=Strict; Path=/"
        return Response(status_code=303, headers={"location": target, "set-cookie": kept})

    def _require_ours(self, headers: Headers, kind: str) -> None:
        ours = tuple(f"http://{host}" for host in self._access.hosts)
        is_ours = headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
        if not is_ours or headers.get("origin", ours[0]) not in ours:
            raise AccessRefused(403, "this was sent by another site")
        if headers.get("content-type", "").partition(";")[0].strip() != kind:
            raise AccessRefused(415, "only forms and files of ours are read here")

    def _require_token(self, token: str) -> None:
        if not _same(token, self._access.form_token):
            raise AccessRefused(403, "the form is not ours, or of an earlier start; reload the page")

    def _form(self, headers: Headers, body: bytes) -> list[tuple[str, str]]:
        self._require_ours(headers, "application/x-www-form-urlencoded")
        try:
            pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=200)
        except ValueError:
            raise AccessRefused(400, "the form cannot be read") from None
        self._require_token(next((value for name, value in pairs if name == "form"), ""))
        return [(name, value) for name, value in pairs if name != "form"]


async def _read(request: Request, most: int) -> bytes:
    announced = request.headers.get("content-length", "0")
    too_much = AccessRefused(413, f"more than {most:,} bytes are not read")
    if not (announced.isascii() and announced.isdigit()) or int(announced) > most:
        raise too_much
    body = bytearray()
    if announced != "0" or "transfer-encoding" in request.headers:
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise too_much
        except ClientDisconnect:
            raise AccessRefused(400, "the connection was closed") from None
    return bytes(body)


def _with_headers(send: Any) -> Any:
    async def sending(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())
