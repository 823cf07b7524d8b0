"""Amazon Rekognition's JSON protocol: one action, a picture in, JSON out, signed."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from instar.adapters.exchange import HttpRequest, authorization, host_of, utc_now
from instar.adapters.service import Api, Trouble
from instar.core.errors import BadInput
from instar.installation import import_extra


class AwsJson(Api):
    """Keys are those of the environment, or what boto3 finds (profiles, roles, single sign-on)."""

    action: str
    more: Mapping[str, Any] = MappingProxyType({})
    most_bytes = 5 * 2**20
    keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")

    def __init__(
        self,
        region: str,
        url: str = "",
        *,
        credentials: str = "environment",
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__(url or f"https://rekognition.{region}.amazonaws.com/", credentials=credentials)
        self.settings, self._region, self._now = f"{self.action} region={region}", region, now

    def find_chain(self) -> Any:
        boto3 = import_extra("boto3", "boto3", extra="aws", needed_for=f"{self.name} with credentials=sdk")
        found = boto3.Session().get_credentials()
        if found is None:
            raise BadInput(
                f"{self.name}: boto3 finds no credentials; see `aws configure`, or set {self.keys[0]}"
            )
        return found

    def request(self, picture: bytes) -> HttpRequest:
        image = {"Image": {"Bytes": base64.b64encode(picture).decode()}}
        body = json.dumps(image | dict(self.more)).encode()
        moment = self._now().strftime("%Y%m%dT%H%M%SZ")
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Date": moment,
            "X-Amz-Target": f"RekognitionService.{self.action}",
        }
        key, secret, token = self._credentials()
        if token:
            headers["X-Amz-Security-Token"] = token
        signature = authorization(
            "AWS4",
            (key, secret),
            scope=(moment[:8], self._region, "rekognition", "aws4_request"),
            moment=moment,
            headers=headers | {"Host": host_of(self.url)},
            body=body,
        )
        return HttpRequest(self.url, headers | {"Authorization": signature}, body)

    def _credentials(self) -> tuple[str, str, str]:
        if self.by_sdk:
            found = self.chain.get_frozen_credentials()
            return found.access_key, found.secret_key, found.token or ""
        return (*(os.environ[key] for key in self.keys), os.environ.get("AWS_SESSION_TOKEN", ""))  # type: ignore[return-value]  # two keys

    def trouble(self, status: int, answer: Mapping[str, Any]) -> Trouble | None:
        if status == 200:
            return None
        # The type may come with a namespace: com.amazonaws.rekognition#AccessDeniedException.
        code = str(answer.get("__type", status)).rpartition("#")[2]
        message = str(answer.get("message") or answer.get("Message") or "")
        return Trouble(code, message, credentials=code in CREDENTIALS, busy=code in BUSY)


CREDENTIALS = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    }
)
BUSY = frozenset({"InternalServerError", "ProvisionedThroughputExceededException", "ThrottlingException"})
