"""Azure AI Vision's image analysis 4.0 with one feature, which answers at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from instar.adapters.exchange import HttpRequest
from instar.adapters.service import Api, Trouble
from instar.core.errors import BadInput
from instar.installation import import_extra

PATH = "/computervision/imageanalysis:analyze?api-version=2024-02-01&features="
SCOPE = "https://cognitiveservices.azure.com/.default"


class AzureAnalysis(Api):
    """Asked with a key of the environment, or with what azure-identity finds."""

    feature: str
    most_bytes = 20 * 2**20
    keys = ("VISION_KEY", "VISION_ENDPOINT")

    def __init__(self, endpoint: str, *, credentials: str = "environment") -> None:
        endpoint = endpoint or os.environ.get("VISION_ENDPOINT", "")
        known = {**os.environ, "VISION_ENDPOINT": endpoint}
        if credentials == "sdk" and not endpoint:
            raise BadInput(
                f"{self.name} needs the endpoint of your resource: VISION_ENDPOINT or system.endpoint"
            )
        super().__init__(endpoint.rstrip("/") + PATH + self.feature, known, credentials=credentials)
        self.settings = f"4.0 {self.feature}"

    def find_chain(self) -> Any:
        needed_for = f"{self.name} with credentials=sdk"
        identity = import_extra("azure.identity", "azure-identity", extra="azure", needed_for=needed_for)
        found = identity.DefaultAzureCredential()
        self._token(found)  # refused at once where there is none
        return found

    def request(self, picture: bytes) -> HttpRequest:
        headers = {"Content-Type": "application/octet-stream"}
        if self.by_sdk:
            headers["Authorization"] = f"Bearer {self._token(self.chain)}"
        else:
            headers["Ocp-Apim-Subscription-Key"] = os.environ["VISION_KEY"]
        return HttpRequest(self.url, headers, picture)

    def trouble(self, status: int, answer: Mapping[str, Any]) -> Trouble | None:
        if status == 200 and "error" not in answer:
            return None
        error = answer.get("error") or answer
        code = str(error.get("code") or status)
        # A refused key has the code "401", or that of the gateway before the service.
        return Trouble(code, str(error.get("message", "")), credentials=code in ("401", "403"))

    def _token(self, chain: Any) -> str:
        core = import_extra(
            "azure.core.exceptions", "azure-identity", extra="azure", needed_for="credentials=sdk"
        )
        try:
            return str(chain.get_token(SCOPE).token)
        except core.ClientAuthenticationError as error:
            first = str(error).splitlines()[0]
            raise BadInput(f"{self.name}: azure-identity finds no credentials: {first}") from None
