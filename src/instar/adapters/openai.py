"""A vision-language model behind an OpenAI-compatible endpoint, asked for boxes or a label as JSON."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

from instar.adapters.exchange import HttpRequest, HttpResponse, host_of, over_http
from instar.adapters.http_json import read_response
from instar.adapters.labels import read_labels
from instar.adapters.throttle import Throttle, ThrottledSystem
from instar.core.errors import BadInput
from instar.core.options import require_one_of, require_picture
from instar.core.scene import Image
from instar.imaging.codecs import encode_png
from instar.user_file import parse_json

HOST = "https://api.openai.com/v1"
TASKS = ("detection", "classification")
ASK = {
    "detection": (
        "Find every object{of} in the picture. Answer with JSON only: "
        '{{"objects": [{{"label": "...", "box": [x1, y1, x2, y2], "score": 0.0}}]}}, boxes in thousandths of '
        "the picture's width and height, scores from 0 to 1."
    ),
    "classification": (
        'What does the picture show{of}? Answer with JSON only: {{"labels": ["..."], "scores": [0.0]}}, best '
        "first, scores from 0 to 1."
    ),
}


class OpenAiSystem(ThrottledSystem):
    """The model of that name, asked for detections or for a label, of those in `labels` where they are given.

    Each question has one picture and temperature 0. The endpoint is `endpoint`, OPENAI_BASE_URL of the
    environment, or OpenAI's own; the key is OPENAI_API_KEY, or the variable that `auth` names. A local server
    may need none.
    """

    def __init__(
        self, *, model: str, task: str = "detection", endpoint: str = "", auth: str = "", labels: Any = None
    ) -> None:
        require_one_of("openai", "task", task, TASKS)
        auth = auth or "OPENAI_API_KEY"
        base = (endpoint or os.environ.get("OPENAI_BASE_URL") or HOST).rstrip("/")
        self.name, self.sends_to = f"openai:{model}", host_of(base)
        if base == HOST and not os.environ.get(auth):
            raise BadInput(f"{self.name} needs {auth} in the environment, or another system.endpoint")
        self.paid = bool(os.environ.get(auth))  # a local server has no key
        self._url, self._model, self._task, self._auth = f"{base}/chat/completions", model, task, auth
        names = read_labels(labels)
        of = f" of these classes: {', '.join(names)}" if isinstance(names, list) else ""
        self._ask_for = ASK[task].format(of=of)
        self.throttle = Throttle()
        self.fingerprint = f"openai {model} {self._url} {self._ask_for}"

    def ask(self, image: Image) -> Any:
        require_picture(image)
        picture = "data:image/png;base64," + base64.b64encode(encode_png(image)).decode()
        content = [
            {"type": "text", "text": self._ask_for},
            {"type": "image_url", "image_url": {"url": picture}},
        ]
        body = {
            "model": self._model,
            "temperature": 0,
            "response_format": {"type": "json_object"},
            "messages": [{"role": "user", "content": content}],
        }
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(self._auth):
            headers["Authorization"] = f"Bearer {key}"
        request = HttpRequest(self._url, headers, json.dumps(body).encode(), self.throttle.stall)
        return self.throttle.ask(lambda: self._read(over_http(request), image))

    def _read(self, response: HttpResponse, image: Image) -> Any:
        answer = read_response(self.name, response, [self._auth])
        try:
            text = answer["choices"][0]["message"]["content"]
        except (LookupError, TypeError):
            raise ValueError(f"{self.name} answers in another form than chat completions have") from None
        found = parse_json(_unfenced(str(text)), f"what {self.name} said")
        return _in_pixels(found, image) if self._task == "detection" else found


def _unfenced(text: str) -> str:
    """Without the fence of a code block, which some models put around JSON all the same."""
    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.partition("\n")[2].rpartition("```")[0]
    return stripped


def _in_pixels(found: Any, image: Image) -> Any:
    """Boxes in pixels; a box that is turned inside out is left out, since models invent some."""
    if not isinstance(found, dict) or not isinstance(found.get("objects"), list):
        raise ValueError("it gave no list of objects")
    height, width = image.shape[:2]
    objects = []
    for one in found["objects"]:
        x1, y1, x2, y2 = (min(max(float(value), 0.0), 1000.0) / 1000 for value in one["box"])
        if x1 < x2 and y1 < y2:
            box = [x1 * width, y1 * height, x2 * width, y2 * height]
            objects.append({"label": str(one["label"]), "box": box, "score": float(one.get("score", 1.0))})
    return {"objects": objects}
