"""An engine that is another program: it is given a picture and a mask, and gives back a picture.

The program is called with four paths: the picture and the mask (PNG, white where it may change something),
where to write the result (PNG of the same size), and a JSON file with what the rule asks for: `op`,
`element`, `properties`, `new` and `seed`. Whatever it changes outside of the mask is undone.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.codecs import encode_png, read_picture
from instar.imaging.mask_text import mask_from_text, mask_to_text
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.selection import select_pixels
from instar.tasks.driving.rules.model import Condition

__all__ = ["CommandEngine"]

SECONDS = 300
ENVIRONMENT = ("weather", "time")


@dataclass(frozen=True, slots=True)
class CommandEngine:
    """The engine of that `name` in a file of engines; it removes, replaces, changes weather and time."""

    name: str
    command: str

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        if condition.op == "add":
            return Inapplicable("a command does not say where to add things")
        mask: Any = np.ones(view.size, np.bool_)
        if condition.element not in ENVIRONMENT:
            mask = select_pixels(condition, view)
            if isinstance(mask, Inapplicable):
                return mask
        new = condition.new
        told = {
            "op": condition.op,
            "element": condition.element,
            "properties": dict(condition.properties),
            "new": None if new is None else new.to_json(),
            "seed": int(rng.integers(2**31)),
        }
        edit: dict[str, Any] = {
            "engine": self.name,
            "of": condition.element,
            "mask": mask_to_text(mask),
            "told": json.dumps(told),
        }
        if new is not None and condition.element in ENVIRONMENT:
            edit |= {"kind": new.properties.get("type", ""), "strength": 0.7}
        elif new is not None:
            edit["becomes"] = view.ontology.elements[new.element].classes[0]
        return (edit,)

    def make(self, image: Image, edit: Mapping[str, Any], cutouts: CutOuts) -> Image:
        mask = mask_from_text(edit["mask"])
        with tempfile.TemporaryDirectory(prefix="instar-") as folder:
            paths = [Path(folder, name) for name in ("picture.png", "mask.png", "result.png", "rule.json")]
            paths[0].write_bytes(encode_png(np.asarray(image)))
            paths[1].write_bytes(encode_png(np.repeat((mask * np.uint8(255))[..., None], 3, axis=2)))
            paths[3].write_text(edit["told"], encoding="utf-8")
            self._run([*shlex.split(self.command), *map(str, paths)])
            if not paths[2].is_file():
                raise BadInput(f"engine {self.name!r}: {self.command} wrote no picture")
            result = read_picture(paths[2])
        if result.shape != image.shape:
            raise BadInput(f"engine {self.name!r}: its picture is {result.shape}, not {image.shape}")
        return np.where(mask[..., None], result, image)

    def _run(self, words: list[str]) -> None:
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BadInput(f"engine {self.name!r}: cannot run {words[0]}: {error}") from None
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise BadInput(
                f"engine {self.name!r}: {self.command} ended with status {done.returncode}: {said}"
            )
