"""A model behind the Open Inference Protocol, version 2: KServe, Triton, MLServer, OpenVINO Model Server, ...

The model takes a picture as it is, `uint8 (1, H, W, 3)` RGB, and answers with named tensors.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from instar.adapters.exchange import HttpRequest, HttpResponse, over_http
from instar.adapters.http_json import read_response
from instar.adapters.labels import read_labels, with_labels
from instar.adapters.throttle import Throttle, ThrottledSystem
from instar.core.errors import BadInput
from instar.core.options import require_picture
from instar.core.scene import Image
from instar.core.system import describe_error
from instar.user_file import parse_json

TYPES: Mapping[str, Any] = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
    "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
}  # fmt: skip
BINARY = "Inference-Header-Content-Length"
PARTS = ("boxes", "labels", "scores")


class KserveSystem(ThrottledSystem):
    """`kserve://HOST[:PORT]/MODEL[/VERSION]`; `boxes`, `classes` and `scores` name its outputs.

    What the model takes is asked once. One JSON text (BYTES) as the only output is the answer itself. `auth`
    names the environment variable with a bearer token, `secure` asks over HTTPS, `labels` are the names of
    numbered classes.
    """

    def __init__(
        self,
        *,
        url: str,
        boxes: str = "boxes",
        classes: str = "labels",
        scores: str = "scores",
        auth: str = "",
        secure: bool = False,
        labels: Any = None,
        confidence: float = 0.5,
    ) -> None:
        parts = urlsplit(url)
        model, _, version = parts.path.strip("/").partition("/")
        if not (parts.netloc and model):
            raise BadInput(f"system {url!r} is not of the form kserve://HOST/MODEL")
        if auth and not os.environ.get(auth):
            raise BadInput(f"{url} needs {auth} in the environment")
        path = f"/v2/models/{model}" + (f"/versions/{version}" if version else "")
        self.name, self.sends_to = url, parts.netloc
        self._base = f"{'https' if secure else 'http'}://{parts.netloc}{path}"
        self._outputs = {"boxes": boxes, "labels": classes, "scores": scores}
        self._auth, self._confidence = auth, confidence
        self._names = read_labels(labels)
        self.throttle = Throttle()
        self._input, told = self._look()
        server = self._get(self._base.partition("/models/")[0])
        self._takes_bytes = "binary_tensor_data" in (server.get("extensions") or ())
        self.fingerprint = (
            f"{url} {told} outputs={self._outputs} labels={self._names} confidence={confidence:g}"
        )

    def _look(self) -> tuple[dict[str, Any], str]:
        """The input of the model, and what the server says of it."""
        told = self._get(self._base)
        inputs = told.get("inputs") or []
        if len(inputs) != 1 or inputs[0].get("datatype") not in ("UINT8", "FP32"):
            listed = ", ".join(f"{one['name']} {one['datatype']} {one['shape']}" for one in inputs)
            raise BadInput(
                f"{self.name} takes {listed or 'nothing that it tells'}; it must take one picture, UINT8 "
                "[1, -1, -1, 3]"
            )
        versions = ",".join(map(str, told.get("versions") or ()))
        return inputs[0], f"platform={told.get('platform', '')} versions={versions}"

    def _get(self, url: str) -> dict[str, Any]:
        request = urllib.request.Request(url, headers=self._headers())
        try:
            with urllib.request.urlopen(request, timeout=self.throttle.stall) as answer:
                told: dict[str, Any] = json.loads(answer.read())
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or describe_error(error)
            raise BadInput(f"{self.name}: {url} does not describe it: {reason}") from None
        return told

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {os.environ.get(self._auth, '')}"} if self._auth else {}

    def ask(self, image: Image) -> Any:
        require_picture(image)
        shaped: npt.NDArray[Any] = image[None] if len(self._input["shape"]) == 4 else image
        data = np.ascontiguousarray(shaped, TYPES[self._input["datatype"]]).tobytes()
        described = {
            "name": self._input["name"],
            "shape": list(shaped.shape),
            "datatype": self._input["datatype"],
        }
        if self._takes_bytes:
            described["parameters"] = {"binary_data_size": len(data)}
            body = json.dumps({"inputs": [described]}).encode()
            headers = {"Content-Type": "application/octet-stream", BINARY: str(len(body))}
            body += data
        else:
            described["data"] = shaped.ravel().tolist()
            body, headers = json.dumps({"inputs": [described]}).encode(), {"Content-Type": "application/json"}
        headers |= self._headers()
        request = HttpRequest(f"{self._base}/infer", headers, body, self.throttle.stall)
        return self.throttle.ask(lambda: self._read(over_http(request)))

    def _read(self, response: HttpResponse) -> Any:
        answer = read_response(self.name, response, [self._auth] if self._auth else [])
        try:
            tensors = {one["name"]: one for one in answer["outputs"]}
        except (LookupError, TypeError):
            raise ValueError(f"{self.name} answers in another form than the protocol has") from None
        texts = [one for one in tensors.values() if one.get("datatype") == "BYTES"]
        if len(tensors) == 1 and texts:
            return with_labels(parse_json(texts[0]["data"][0], f"the text of {self.name}"), self._names)
        missing = [name for name in self._outputs.values() if name not in tensors]
        if missing:
            raise ValueError(
                f"{self.name} answers with {', '.join(tensors) or 'nothing'}; there is no {missing[0]!r}: "
                "name its outputs with system.boxes, system.classes and system.scores"
            )
        found: dict[str, Any] = {part: _array(tensors[name]) for part, name in self._outputs.items()}
        found["boxes"] = found["boxes"].reshape(-1, 4)
        found |= {part: found[part].reshape(-1) for part in ("labels", "scores")}
        return with_labels({**found, "confidence": self._confidence}, self._names)


def _array(tensor: Mapping[str, Any]) -> npt.NDArray[Any]:
    kind = TYPES.get(tensor["datatype"])
    if kind is None or "data" not in tensor:
        raise ValueError(f"output {tensor['name']!r} is {tensor['datatype']}, which is no tensor of numbers")
    flat: npt.NDArray[Any] = np.array(tensor["data"], kind)
    shaped: npt.NDArray[Any] = flat.reshape(tensor["shape"])
    return shaped
