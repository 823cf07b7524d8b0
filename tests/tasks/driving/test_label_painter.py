"""What a network painted is kept with the change, so that it can be shown again without the network."""

import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.workspace import Folder
from instar.tasks.driving import Control, rule
from instar.tasks.driving.engines import label_painter
from instar.worlds.drive import scenes

SAME = "Then: the steering angle should keep the same."


@pytest.mark.parametrize(
    "text",
    [
        f"If: the vehicles are removed, {SAME}",
        f"If: the buildings are replaced with trees, {SAME}",
        f"If: the cars are replaced with trucks, {SAME}",
    ],
)
def test_a_replay_needs_the_kept_pixels_and_no_network(text, tmp_path, monkeypatch):
    drives = scenes(6, seed=4, size=(160, 320))
    relation = rule(text, engines="pasted", least_objects=0.004).prepare(drives, Folder(tmp_path))
    shown = 0
    for scene in drives:
        source = Observation.of(scene.image, Control(40.0, 0.0), scene)
        change = relation.draw(source, np.random.default_rng(1))
        if isinstance(change, Inapplicable):
            continue
        (picture,) = relation.apply(source.input, change)
        kept = relation.pixels(change)
        ((edit,),) = change.edits
        assert edit["cutout"] in kept

        class Kept:
            def pixels(self, name, kept=kept):
                return kept[name]

        with monkeypatch.context() as patched:
            patched.setattr(label_painter, "paint", None)  # whoever calls it now fails
            again = label_painter.lay_patch(np.asarray(source.input), edit, Kept())
        np.testing.assert_array_equal(again, np.asarray(picture))
        shown += 1
    assert shown
