"""A service that people pay for: one way of asking, of playing back and of failing for all of them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from instar.adapters.exchange import HttpRequest, Transport, hide_secrets, host_of, over_http
from instar.adapters.throttle import Busy, Throttle, ThrottledSystem
from instar.core.digest import digest
from instar.core.errors import BadInput, Refused
from instar.core.options import require_one_of, require_picture
from instar.core.scene import Image
from instar.imaging.codecs import encode_jpeg, encode_png
from instar.user_file import parse_json, write_whole

ENCODINGS = ("png", "jpeg")
JPEG_QUALITY = 95
BUSY = frozenset({408, 429, 500, 502, 503, 504})
READER = 1
"""Counts up whenever the code here gives other answers for the same responses."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a service says went wrong: its own code and message, and what that means for us."""

    code: str
    message: str
    credentials: bool = False
    busy: bool = False


class Api(ABC):
    """What differs from service to service. Secrets stay in the environment until a request is signed.

    Answers depend on the picture, of at most so many bytes as a file, and on `settings`. `keys` are the
    environment variables that it needs, `missing` those that are not known.
    """

    name: str
    settings: str
    most_bytes: int
    keys: tuple[str, ...]

    def __init__(
        self, url: str, known: Mapping[str, str] = os.environ, *, credentials: str = "environment"
    ) -> None:
        require_one_of(self.name, "credentials", credentials, ("environment", "sdk"))
        self.url, self.by_sdk = url, credentials == "sdk"
        if self.by_sdk:
            _ = self.chain  # refused at once where there is none
        wanted = () if self.by_sdk else self.keys
        self.missing = tuple(key for key in wanted if not known.get(key))

    @cached_property
    def chain(self) -> Any:
        """The credentials of the vendor's own library, looked for once: they renew themselves."""
        return self.find_chain()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "chain"}

    @abstractmethod
    def find_chain(self) -> Any:
        """BadInput where the vendor's own library is not there, or finds no credentials."""

    @abstractmethod
    def request(self, picture: bytes) -> HttpRequest: ...

    @abstractmethod
    def trouble(self, status: int, answer: Mapping[str, Any]) -> Trouble | None: ...

    @abstractmethod
    def answer(self, answer: Mapping[str, Any], size: tuple[int, int]) -> Any:
        """What the service found in a picture of that size (height, width), as the task has it."""


class Recordings:
    """The answers of one service under one setting, as `FOLDER/SERVICE/HASH.json`.

    What a file holds is what came over the wire, so that a later version of instar may read more out of it.
    """

    def __init__(self, folder: str | Path, service: str) -> None:
        self._folder = Path(folder) / service
        if Path(folder).exists() and not Path(folder).is_dir():
            raise BadInput(f"recorded is {str(folder)!r}, which is no folder")

    def path(self, image: Image) -> Path:
        """Where the answer to a picture is, or would be."""
        return self._folder / f"{digest(image)}.json"

    def read(self, image: Image) -> bytes | None:
        try:
            return self.path(image).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"cannot read {self.path(image)}: {error.strerror or error}") from error

    def keep(self, image: Image, body: bytes) -> None:
        """Write whole or not at all: several questions may be under way, and any may be killed."""
        try:
            write_whole(self.path(image), body)
        except OSError as error:
            raise BadInput(f"cannot write to {self._folder}: {error.strerror or error}") from error


class Service(ThrottledSystem):
    """A service that is asked over a transport, or whose recorded answers are played back.

    With a folder of recordings an answer that is there is not asked for, and one that is not is asked for
    and kept, where there are credentials to ask with.
    """

    paid = True

    def __init__(
        self,
        api: Api,
        *,
        recorded: str | Path = "",
        encoding: str = "png",
        transport: Transport = over_http,
    ) -> None:
        require_one_of(api.name, "encoding", encoding, ENCODINGS)
        if api.missing and not recorded:
            raise BadInput(
                f"{api.name} needs {' and '.join(api.missing)} in the environment, or answers that were "
                "recorded: --set system.recorded=DIR"
            )
        if api.missing and not Path(recorded).is_dir():
            raise BadInput(
                f"recorded is {str(recorded)!r}, which is no folder, and {' and '.join(api.missing)} "
                f"{'is' if len(api.missing) == 1 else 'are'} not set to ask {api.name} itself"
            )
        self.name = api.name
        self.fingerprint = f"{api.name} {api.settings} encoding={encoding} reader={READER}"
        self.sends_to = "" if api.missing else host_of(api.url)
        self._api, self._transport, self._encoding = api, transport, encoding
        self.throttle = Throttle()
        self._recordings = Recordings(recorded, f"{api.name}-{encoding}") if recorded else None

    def ask(self, image: Image) -> Any:
        require_picture(image)
        kept = self._recordings.read(image) if self._recordings else None
        if kept is not None and self._recordings is not None:
            try:
                return self._read(200, kept, image)
            except (ValueError, Busy) as error:
                raise BadInput(f"{self._recordings.path(image)}: {error}") from error
        if self._api.missing:
            assert self._recordings is not None, "without recordings there are credentials"
            raise BadInput(
                f"{self._recordings.path(image)} is not there, and {' and '.join(self._api.missing)} not set"
            )
        data = self._encoded(image)
        return self.throttle.ask(lambda: self._ask(data, image))

    def _ask(self, data: bytes, image: Image) -> Any:
        request = replace(self._api.request(data), stall=self.throttle.stall)
        response = self._transport(request)
        found = self._read(response.status, response.body, image, response.retry_after, request.headers)
        if self._recordings is not None:
            self._recordings.keep(image, response.body)
        return found

    def _encoded(self, image: Image) -> bytes:
        data = encode_png(image) if self._encoding == "png" else encode_jpeg(image, JPEG_QUALITY)
        if len(data) > self._api.most_bytes:
            hint = "; try --set system.encoding=jpeg" if self._encoding == "png" else ""
            size = f"{len(data) / 1e6:.1f} MB as {self._encoding}"
            raise ValueError(
                f"the picture has {size}; {self.name} takes {self._api.most_bytes / 1e6:g}{hint}"
            )
        return data

    def _read(
        self,
        status: int,
        body: bytes,
        image: Image,
        after: float | None = None,
        sent: Mapping[str, str] | None = None,
    ) -> Any:
        try:
            answer = parse_json(body, "the answer")
        except BadInput:
            answer = None
        if not isinstance(answer, dict):
            if status in BUSY:
                raise Busy(f"{self.name} is busy (status {status})", after)
            if status == 200 and body.lstrip()[:1] == b"{":
                raise Busy(f"the answer of {self.name} is cut off after {len(body)} bytes")
            if status in (401, 403):
                raise Refused(f"{self.name} refuses the credentials (status {status})")
            text = hide_secrets(body.decode("utf-8", "replace"), self._api.keys, sent)
            start = " ".join(text.split())[:60]
            raise ValueError(f"{self.name} answered {start!r} (status {status}), which is no JSON object")
        try:
            trouble = self._api.trouble(status, answer)
            if trouble is not None:
                raise self._error(trouble, status, after, sent)
            return self._api.answer(answer, (image.shape[0], image.shape[1]))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            problem = f"{type(error).__name__} {error}"
            raise ValueError(
                f"the answer of {self.name} has another form than expected: {problem}"
            ) from error

    def _error(
        self, trouble: Trouble, status: int, after: float | None, sent: Mapping[str, str] | None
    ) -> Exception:
        said = hide_secrets(f"{trouble.code}: {' '.join(trouble.message.split())}", self._api.keys, sent)
        if trouble.credentials or status in (401, 403):
            return Refused(
                f"{self.name} refuses the credentials ({said}); see {' and '.join(self._api.keys)}"
            )
        if trouble.busy or status in BUSY:
            return Busy(f"{self.name} is busy ({said})", after)
        return ValueError(f"{self.name} refuses the picture ({said})")
