"""What a driving rule makes of a picture, shown while it is typed."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from pathlib import Path

import numpy as np

from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_relation
from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.follow_up import follow_ups_of
from instar.core.relation import Relation
from instar.core.scene import Image, Observation, Scene
from instar.core.workspace import Folder, prepare_relation
from instar.imaging.preview import encode_preview
from instar.scenes import load_scenes
from instar.workbench import NotHere
from instar.workbench.workers import Recent

DRIVES = "drive:8"  # what rules are pictured on, unless pictures are chosen
MOST_SCENES = 8
KEPT, MOST_SOURCES = 40, 4


class RulePreviews:
    """The last preview pictures, by what was typed; one is made at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made = Recent[list[bytes]](KEPT)
        self._wanted = Recent[tuple[str, str]](10 * KEPT)
        self._sources = Recent[_Source](MOST_SOURCES)

    def prepare(self) -> None:
        """Collect what any rule needs of the drives, which takes seconds."""
        with self._lock:
            self._source(DRIVES).relation("If: it rains, Then: slow down.")

    def announce(self, text: str, scenes: str = DRIVES) -> str:
        """The name under which the picture of a rule, on one of these scenes, can be asked for."""
        key = hashlib.sha256(f"{scenes}\0{text}".encode()).hexdigest()[:24]
        self._wanted.put(key, (text, scenes))
        return key

    def pictures(self, key: str) -> list[bytes]:
        """A scene and what the rule makes of it: the first on which it can be done."""
        wanted = self._wanted.get(key)
        if wanted is None:
            raise NotHere("this rule is not known any more; type it again")
        with self._lock:
            made = self._made.get(key)
            if made is None:
                text, scenes = wanted
                images = self._source(scenes).try_rule(text)
                made = [encode_preview(image, longest=520) for image in images]
                self._made.put(key, made)
            return made

    def _source(self, scenes: str) -> _Source:
        source = self._sources.get(scenes)
        if source is None:
            source = _Source(scenes)
            self._sources.put(scenes, source)
        return source


class _Source:
    """Scenes that rules are pictured on, and what was collected of them."""

    def __init__(self, scenes: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="instar-rules-")
        loaded = load_scenes(scenes, limit=None if scenes == DRIVES else MOST_SCENES)
        # Clear days first, night and fog last: there is more to see.
        self._scenes = sorted(loaded, key=lambda scene: -float(scene.image.std()))

    def try_rule(self, text: str) -> list[Image]:
        relation = self.relation(text)
        why = "none of the pictures allows it"
        for scene in self._scenes:
            made = _change_scene(relation, scene)
            if not isinstance(made, Inapplicable):
                return made
            why = made.reason
        raise BadInput(why)

    def relation(self, text: str) -> Relation:
        relation = resolve_relation(Use("rule", {"text": text}))
        return prepare_relation(relation, self._scenes, Folder(Path(self._folder.name)))


def _change_scene(relation: Relation, scene: Scene) -> list[Image] | Inapplicable:
    source = Observation(scene, None, scene.read)
    change = relation.drawn(source, np.random.default_rng(0))
    made = change if isinstance(change, Inapplicable) else follow_ups_of(relation, source.input, change)
    return made if isinstance(made, Inapplicable) else [source.input, *(one.input for one in made)]
