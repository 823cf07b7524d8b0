"""Google Cloud Vision's images:annotate with one picture and one feature."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from typing import Any

from instar.adapters.exchange import HttpRequest
from instar.adapters.service import Api, Trouble
from instar.core.errors import BadInput
from instar.installation import import_extra

SCOPE = "https://www.googleapis.com/auth/cloud-vision"
BUSY = frozenset({"RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "4", "8", "13", "14"})


class GoogleAnnotate(Api):
    """Asked with an API key of the environment, or with what google-auth finds."""

    feature: str
    most_bytes = 7_500_000  # a request may have 10 MB, and base64 makes four bytes of three
    keys = ("GOOGLE_API_KEY",)

    def __init__(self, endpoint: str, *, credentials: str = "environment") -> None:
        super().__init__(f"{endpoint.rstrip('/')}/v1/images:annotate", credentials=credentials)
        self.settings = f"v1 {self.feature}"

    def find_chain(self) -> Any:
        needed_for = f"{self.name} with credentials=sdk"
        auth = import_extra("google.auth", "google-auth", extra="google", needed_for=needed_for)
        import_extra("google.auth.transport.requests", "requests", extra="google", needed_for=needed_for)
        try:
            found, _ = auth.default(scopes=[SCOPE])
        except auth.exceptions.GoogleAuthError as error:
            raise self._nothing_found(error) from None
        self._token(found)  # refused at once where it gives none
        return found

    def request(self, picture: bytes) -> HttpRequest:
        image = {"content": base64.b64encode(picture).decode()}
        body = {"requests": [{"image": image, "features": [{"type": self.feature}]}]}
        headers = {"Content-Type": "application/json"}
        headers |= self._token(self.chain) if self.by_sdk else {"X-Goog-Api-Key": os.environ[self.keys[0]]}
        return HttpRequest(self.url, headers, json.dumps(body).encode())

    def trouble(self, status: int, answer: Mapping[str, Any]) -> Trouble | None:
        """Of the request as a whole, or of the one picture in it."""
        error = answer.get("error") or (answer.get("responses") or [{}])[0].get("error")
        if status == 200 and not error:
            return None
        error = error or {}
        message = str(error.get("message", ""))
        code = str(error.get("status") or error.get("code") or status)
        # A wrong key comes as status 400, like a wrong picture; only the message tells them apart.
        credentials = "API key" in message or code in ("PERMISSION_DENIED", "UNAUTHENTICATED", "7", "16")
        return Trouble(code, message, credentials=credentials, busy=code in BUSY)

    def _token(self, found: Any) -> dict[str, str]:
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request

        try:
            if not found.valid:
                found.refresh(Request())
        except GoogleAuthError as error:
            raise self._nothing_found(error) from None
        headers = {"Authorization": f"Bearer {found.token}"}
        quota = getattr(found, "quota_project_id", None)
        return headers | ({"X-Goog-User-Project": quota} if quota else {})

    def _nothing_found(self, error: Exception) -> BadInput:
        return BadInput(f"{self.name}: google-auth finds no credentials: {str(error).splitlines()[0]}")
