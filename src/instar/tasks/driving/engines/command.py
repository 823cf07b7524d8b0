"""An engine that is another program: it is given a picture and a mask, and gives back a picture.

The program is called with four paths: the picture and the mask (PNG, white where it may change something),
where to write the result (PNG of the same size), and a JSON file with what the rule asks for: `op`,
`element`, `properties`, `count`, `place`, `new`, `comparative`, `strength` and `seed`. For what is added the
mask is the place and the size of the thing. Whatever the program changes outside of the mask is undone.
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
from instar.tasks.driving.engines.paste import times_usual
from instar.tasks.driving.engines.placement import alter as move
from instar.tasks.driving.engines.placement import place_at, place_each, places
from instar.tasks.driving.engines.selection import select_pixels
from instar.tasks.driving.engines.words import not_there
from instar.tasks.driving.gallery import METRES
from instar.tasks.driving.rules.model import Condition

SECONDS = 300
STRONGER = 1.35
TALL, WIDE = 1.2, 0.8  # metres, and over the height, of what nobody knows the size of
WIDTHS = {"person": 0.45, "car": 1.3, "van": 1.1, "truck": 0.9, "bus": 0.9, "rider": 0.6}


@dataclass(frozen=True, slots=True)
class CommandEngine:
    """The engine of that `name` in a file of engines; it adds, removes, replaces, changes and compares."""

    name: str
    command: str

    def plan(
        self, condition: Condition, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        told = {
            "op": condition.op,
            "element": condition.element,
            "properties": dict(condition.properties),
            "count": condition.count,
            "place": [condition.position, condition.reference],
            "new": None if condition.new is None else condition.new.to_json(),
            "seed": int(rng.integers(2**31)),
        }
        edit: dict[str, Any] = {"engine": self.name, "of": condition.element, "told": json.dumps(told)}
        if condition.op == "add":
            return self._placed(condition, edit, view, rng)
        new = condition.new
        if view.ontology.elements[condition.element].is_environment:
            assert new is not None, "weather and time are always replaced"
            kind = new.properties.get("type") or new.properties.get("state", "")
            return (
                {**edit, "mask": mask_to_text(np.ones(view.size, np.bool_)), "kind": kind, "strength": 0.7},
            )
        mask = select_pixels(condition, view)
        if isinstance(mask, Inapplicable):
            return mask
        edit["mask"] = mask_to_text(mask)
        if new is not None:
            edit["becomes"] = view.ontology.elements[new.element].classes[0]
        return (edit,)

    def _placed(
        self, condition: Condition, edit: Edit, view: SceneView, rng: np.random.Generator
    ) -> tuple[Edit, ...] | Inapplicable:
        """The place of what is added, as large as a thing of its class is there."""
        where = places(condition)
        if isinstance(where, Inapplicable) or where == "by":
            return where if isinstance(where, Inapplicable) else not_there(condition)
        person = None if view.gallery is None else view.gallery.person
        if person is None:
            return Inapplicable("nothing to tell the size of things from")
        classes = view.ontology.elements[condition.element].classes or (condition.element,)
        label = condition.properties.get("type") if condition.element == "vehicle" else None
        label = label or classes[0]
        size = person * METRES.get(label, TALL) / METRES["person"] * times_usual(condition.thing)
        drawn = {**edit, "label": label, "aspect": WIDTHS.get(label, WIDE), "least": 0.03}
        return place_each(
            condition, view, lambda view: place_at(drawn, where, size, view, rng, condition.distance)
        )

    def alter(self, edit: Edit, comparative: str, view: SceneView) -> Edit | Inapplicable:
        """Closer, farther, larger or smaller; stronger or weaker."""
        told = {**json.loads(edit["told"]), "comparative": comparative}
        edit = {**edit, "told": json.dumps(told)}
        if "foot" in edit:
            return move(edit, comparative, view)
        if "strength" not in edit or comparative not in ("more", "less"):
            return Inapplicable("what is not added cannot be compared")
        factor = STRONGER if comparative == "more" else 1 / STRONGER
        return {**edit, "strength": round(edit["strength"] * factor, 4)}

    def make(self, image: Image, edit: Mapping[str, Any], cutouts: CutOuts) -> Image:
        mask = _box(edit, image) if "foot" in edit else mask_from_text(edit["mask"])
        told = {**json.loads(edit["told"]), "strength": edit.get("strength")}
        with tempfile.TemporaryDirectory(prefix="instar-") as folder:
            paths = [Path(folder, name) for name in ("picture.png", "mask.png", "result.png", "rule.json")]
            paths[0].write_bytes(encode_png(np.asarray(image)))
            paths[1].write_bytes(encode_png(np.repeat((mask * np.uint8(255))[..., None], 3, axis=2)))
            paths[3].write_text(json.dumps(told), encoding="utf-8")
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


def _box(edit: Mapping[str, Any], image: Image) -> np.ndarray:
    mask = np.zeros(image.shape[:2], np.bool_)
    mask[edit["y"] : edit["y"] + edit["height"], edit["x"] : edit["x"] + edit["width"]] = True
    return mask
