"""A server that takes a picture and answers with JSON; how its answer is read is declared with JMESPath."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from instar.adapters.exchange import HttpRequest, HttpResponse, hide_secrets, host_of, over_http
from instar.adapters.labels import read_labels, with_labels
from instar.adapters.throttle import Busy, NotThere, Throttle, ThrottledSystem
from instar.core.errors import BadInput, Refused
from instar.core.options import require_one_of, require_picture
from instar.core.scene import Image
from instar.imaging.codecs import encode_jpeg, encode_png
from instar.installation import import_extra
from instar.user_file import parse_json

BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
ENCODINGS = ("png", "jpeg")
JPEG_QUALITY = 95
MOST_LOOKED_AT = 10_000  # bytes of a response that is no answer


class HttpSystem(ThrottledSystem):
    """A picture is POSTed as a file, or in base64 under the `field` of a JSON object.

    `answer` is a JMESPath expression that turns the response into what the task reads, such as
    "predictions[].{box: box, label: class, score: confidence}"; without it the response is the answer. `auth`
    names an environment variable whose value goes into the `header` ("Bearer ..." where that is
    Authorization); it is read whenever it is needed, and kept nowhere. `labels` are the names of numbered
    classes.
    """

    def __init__(
        self,
        *,
        url: str,
        answer: str = "",
        field: str = "",
        encoding: str = "png",
        auth: str = "",
        header: str = "Authorization",
        labels: Any = None,
    ) -> None:
        require_one_of(url, "encoding", encoding, ENCODINGS)
        self.sends_to = host_of(url)
        if "@" in self.sends_to:
            raise BadInput("the URL has a password in it; name an environment variable with system.auth=NAME")
        if auth and not os.environ.get(auth):
            raise BadInput(f"{url} needs {auth} in the environment")
        self.name = url.partition("?")[0]
        self._url, self._auth, self._header = url, auth, header
        self._field, self._encoding, self._answer = field, encoding, answer
        self._names = read_labels(labels)
        _ = self._mapping  # refused at once where it is no expression
        self.throttle = Throttle()
        self.fingerprint = f"{url} answer={answer!r} field={field} encoding={encoding} labels={self._names}"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_mapping"}

    @cached_property
    def _mapping(self) -> Any:
        if not self._answer:
            return None
        jmespath = import_extra("jmespath", "jmespath", extra="http", needed_for="the option answer")
        try:
            return jmespath.compile(self._answer)
        except jmespath.exceptions.JMESPathError as error:
            first = str(error).splitlines()[0]
            raise BadInput(f"answer is {self._answer!r}, which is no JMESPath expression: {first}") from None

    def ask(self, image: Image) -> Any:
        require_picture(image)
        request = self._request(image)
        return self.throttle.ask(lambda: self._read(over_http(request)))

    def _request(self, image: Image) -> HttpRequest:
        data = encode_png(image) if self._encoding == "png" else encode_jpeg(image, JPEG_QUALITY)
        kind, body = f"image/{self._encoding}", data
        if self._field:
            kind = "application/json"
            body = json.dumps({self._field: base64.b64encode(data).decode()}).encode()
        headers = {"Content-Type": kind, "Accept": "application/json"}
        if self._auth:
            key = os.environ.get(self._auth, "")
            headers[self._header] = f"Bearer {key}" if self._header == "Authorization" else key
        return HttpRequest(self._url, headers, body, self.throttle.stall)

    def _read(self, response: HttpResponse) -> Any:
        found = read_response(self.name, response, [self._auth] if self._auth else [])
        if self._mapping is not None:
            seen = found
            found = self._mapping.search(seen)
            if found is None:
                keys = sorted(seen) if isinstance(seen, dict) else type(seen).__name__
                raise ValueError(
                    f"{self._answer!r} finds nothing in the answer of {self.name}, which has {keys}"
                )
        return with_labels(found, self._names)


def read_response(name: str, response: HttpResponse, secrets: Sequence[str] = ()) -> Any:
    """The JSON of an answer. Busy where it seems to be cut off, or where its status says so; a status may
    also refuse the key for good, or this picture.
    """
    body = response.body
    _check_status(name, response, secrets)
    try:
        return parse_json(body, "the answer")
    except BadInput as error:
        if body.lstrip()[:1] in (b"{", b"["):
            raise Busy(f"the answer of {name} is cut off: {error}") from None
        start = _start(body, secrets, 60)
        raise ValueError(f"{name} answers with {start!r}, which is no JSON") from None


def _check_status(name: str, response: HttpResponse, secrets: Sequence[str]) -> None:
    if 200 <= response.status < 300:
        return
    said = f"status {response.status}: {_start(response.body, secrets, 200)}"
    if response.status in BUSY:
        raise Busy(f"{name} is busy ({said})", response.retry_after)
    if response.status in (401, 403):
        hint = f"; see {' and '.join(secrets)}" if secrets else "; name the variable with system.auth=NAME"
        raise Refused(f"{name} refuses the credentials ({said}){hint}")
    if response.status in (404, 405):
        raise NotThere(f"{name} takes no pictures at that address ({said})")
    raise ValueError(f"{name} refuses the picture ({said})")


def _start(body: bytes, secrets: Sequence[str], most: int) -> str:
    """What a response begins with; secrets are hidden first, so that no half of one is left."""
    text = body[:MOST_LOOKED_AT].decode("utf-8", "replace")
    return " ".join(hide_secrets(text, secrets).split())[:most]
