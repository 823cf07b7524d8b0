"""Cut-outs to add to a street, and how large each class is on the ground."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.relation import Workspace
from instar.core.scene import Mask, Scene, SceneObject
from instar.cutouts import Pool, build_pool, load_pool
from instar.cutouts.pool import CutOut, save_pool, write_cutout
from instar.imaging.average_hash import average_hash
from instar.imaging.foliage import cut_leaves
from instar.imaging.labels import LabelMap
from instar.imaging.photometric import light_of
from instar.imaging.treeline import cut_tree, cut_treeline
from instar.tasks.driving.ground import ROAD, ROADSIDE, STANDING, ground_of
from instar.tasks.driving.lorry import lorries
from instar.tasks.driving.maps import labels_of
from instar.tasks.driving.outlines import Outline, collect_outlines, stretch_of
from instar.tasks.driving.several import is_several
from instar.worlds.drive.scenes import models

CLASSES = ("person", "rider", "bicycle", "car", "truck", "bus", "van", "traffic light", "animal")
LEAST_PIXELS = 300  # of a piece of a label map; less is a crumb
WIDTHS = {
    "person": (0.2, 0.6),
    "rider": (0.25, 0.75),
    "bicycle": (0.4, 2.0),
    "car": (0.8, 2.4),
    "truck": (0.5, 3.0),
    "bus": (0.5, 3.5),
    "van": (0.6, 2.6),
}  # over the height: a wider piece of people is two of them, a narrower one is half hidden
METRES = {"person": 1.72, "rider": 1.75, "car": 1.5, "van": 2.1, "truck": 3.0, "bus": 3.0}  # usual heights
KEPT, LEAST = 0.6, 20  # of the things of a class, the largest: enough for pictures of any light
RISES = tuple(np.linspace(0.0, 0.12, 13).round(2).tolist())  # of the picture
ENOUGH = 8  # things of a class, to tell the horizon from
SOLID = 0.87  # of the convex hull of a vehicle
CUT = 0.12  # of its outline
TREE = "vegetation"
MOST_TREELINES, HANGS = 48, 0.07  # of the width: trees end no higher above the ground
LEAFY, MOST_LEAVES = 0.04, 24  # of the picture; squares, so that few scenes have to be read
DIMMEST = 0.22  # of the scene's light: darker leaves look like stone,
GREYEST = 0.06  # and so do greyer ones
PATCHY = 2.0  # times as uneven from patch to patch as from pixel to pixel: more is no hedge
UNEVEN = 0.04  # of the road: less tells no side
FULL = {"car": 0.65, "truck": 0.65, "bus": 0.65, "van": 0.65}  # of its box; less is a car behind a pole

RowOfTrees = tuple[npt.NDArray[np.uint8], int, Scene]


@dataclass(frozen=True, slots=True, eq=False)
class Gallery:
    """The pool, and for each class its height over how far its feet are below the horizon.

    `lights` are the mean light of the scenes that cut-outs come from, where they come from scenes. `rise` is
    how much higher than the end of the road the horizon is, as a share of the picture. `keeps` is the side of
    the road that they drive on, where it shows. `outlines` are those
    of trees that stand in the scenes, `leaves` the content hashes of squares out of them, with the light of
    their scenes. `treelines` are the content hashes of rows of trees, with light and width of the scene, and
    how far their upper edge is above the row where its road ends.
    """

    pool: Pool
    heights: Mapping[str, float]
    lights: Mapping[str, float] = field(default_factory=dict)
    rise: float = 0.0
    keeps: str = ""
    outlines: Sequence[Outline] = ()
    leaves: Sequence[tuple[str, float]] = ()
    treelines: Sequence[tuple[str, float, int, int]] = ()

    @property
    def person(self) -> float | None:
        """The height of a person on the ground; where nobody was seen, told from what else stands there."""
        known = next((label for label in METRES if label in self.heights), None)
        return None if known is None else self.heights[known] * METRES["person"] / METRES[known]

    def of(self, labels: Sequence[str], *, not_from: str) -> list[CutOut]:
        """The cut-outs of these classes that do not come from a scene."""
        return [
            cutout
            for cutout in self.pool.cutouts
            if cutout.label in labels and cutout.scene != not_from and cutout.label in self.heights
        ]


def collect_gallery(scenes: Sequence[Scene], workspace: Workspace) -> Gallery:
    """Cut the objects out of the scenes, by their masks or by their label maps.

    Of drawn drives there are models, which are near and whole; trees are made of rows of trees.
    """
    folder: Path = workspace.folder / "gallery"
    sizes = folder.with_name("gallery-sizes.json")
    if not ((folder / "index.json").is_file() and sizes.is_file()):
        sizes.parent.mkdir(parents=True, exist_ok=True)
        mixed = [scenes[row] for row in np.random.default_rng(0).permutation(len(scenes))]
        rows = list(islice(_rows_of_trees(mixed), MOST_TREELINES))
        if any(scene.knowledge.get("drive") is not None for scene in scenes):
            folder.mkdir(exist_ok=True)
            models_only, heights = _drawn(folder)
            save_pool(folder, models_only)
            lights, rise, keeps = {}, 0.0, ""
        else:
            known = _whole_only([_with_objects(scene) for scene in scenes])
            heights, rise = _heights(known)
            keeps = _side(known)
            lights = {scene.id: light_of(scene.image).mean for scene in known if scene.objects}
            shutil.rmtree(folder, ignore_errors=True)  # one that was left unfinished
            pool = build_pool(
                known,
                folder,
                find_objects=lambda image: (),
                progress=workspace.progress,
                keep=KEPT,
                least=LEAST,
            )
            trees = list(_trees(rows, folder))
            lights |= {tree.scene: light for tree, light in trees}
            save_pool(folder, [*pool.cutouts, *(tree for tree, _ in trees)])
            heights = _with_models(load_pool(folder), folder, heights)
        outlines = collect_outlines(scenes)
        kept = {"heights": heights, "lights": lights, "rise": rise, "keeps": keeps, "outlines": outlines}
        kept["leaves"] = list(_leaves(mixed, folder))
        kept["treelines"] = [
            (write_cutout(folder, pixels), light_of(scene.image).mean, scene.image.shape[1], above)
            for pixels, above, scene in rows
        ]
        sizes.write_text(json.dumps(kept), encoding="utf-8")
    return Gallery(load_pool(folder), **json.loads(sizes.read_text(encoding="utf-8")))


def _trees(rows: Sequence[RowOfTrees], folder: Path) -> Iterator[tuple[CutOut, float]]:
    """Single trees out of rows of them, and how light each scene is."""
    for number, (pixels, _, scene) in enumerate(rows):
        tree = cut_tree(pixels, np.random.default_rng(number))
        if tree is not None:
            yield _cutout(folder, TREE, tree, scene.id), light_of(scene.image).mean


def _leaves(scenes: Sequence[Scene], folder: Path) -> Iterator[tuple[str, float]]:
    """Squares of trees from the first of these scenes that show enough of them, and how light each scene is.

    Where some are as even as a hedge, those alone: others show a trunk, grass or a wall beside leaves.
    """
    found: list[tuple[float, npt.NDArray[np.uint8], float]] = []
    for scene in scenes:
        labels = labels_of(scene)
        if labels is None or labels.mask([TREE]).mean() < LEAFY:
            continue
        leaves = cut_leaves(scene.image, labels.mask([TREE]), labels.mask(["sky"]))
        light = light_of(scene.image).mean
        if leaves is not None and leaves.mean() > DIMMEST * light and _is_leafy(leaves):
            found.append((_unevenness_of(leaves), leaves, light))
        if len(found) == MOST_LEAVES:
            break
    most = max(PATCHY, min((uneven for uneven, _, _ in found), default=0.0))
    for uneven, leaves, light in found:
        if uneven <= most:
            opaque = np.full((*leaves.shape[:2], 1), 255, np.uint8)
            yield write_cutout(folder, np.dstack([leaves, opaque])), light


def _rows_of_trees(scenes: Sequence[Scene]) -> Iterator[RowOfTrees]:
    """Rows of trees before the sky, and how far each goes up from the end of the road."""
    for scene in scenes:
        labels = labels_of(scene)
        stretch = None if labels is None else stretch_of(labels)
        if labels is None or stretch is None:
            continue
        first, last, end = stretch
        trees, sky = labels.mask([TREE]), labels.mask(["sky"])
        cut = cut_treeline(scene.image, trees, sky, first, last)
        if cut is not None and cut[1] + len(cut[0]) > end - HANGS * trees.shape[1]:
            yield cut[0], round(end) - cut[1], scene


def _is_leafy(leaves: npt.NDArray[np.uint8]) -> bool:
    """Whether they have a colour, and it is not the blue of dusk."""
    red, green, blue = leaves.reshape(-1, 3).mean(axis=0)
    return bool(max(red, green) - blue > GREYEST * leaves.mean())


def _unevenness_of(leaves: npt.NDArray[np.uint8]) -> float:
    """How much quarters of quarters differ in light, over how much neighbouring pixels do."""
    grey = cv2.cvtColor(np.ascontiguousarray(leaves), cv2.COLOR_RGB2GRAY).astype(np.float32)
    coarse = cv2.resize(grey, (4, 4), interpolation=cv2.INTER_AREA)
    fine = np.abs(grey - cv2.GaussianBlur(grey, (0, 0), 2))
    return float(coarse.std() / max(1e-3, float(fine.mean())))


def _drawn(folder: Path, *, fine: bool = False) -> tuple[list[CutOut], dict[str, float]]:
    """The drawn models as cut-outs of no scene, and how large each class is where they are drawn.

    Those that are `fine` are for photographs, where the lorries of the drawn world look like toys.
    """
    kept, seen = [], defaultdict(list)
    for label, pixels, height in models():
        seen[label].append(height)
        if not (fine and label == "truck"):
            kept.append(_cutout(folder, label, pixels))
    if fine:
        kept += [_cutout(folder, "truck", pixels) for pixels in lorries()]
    return kept, {label: median(heights) for label, heights in sorted(seen.items())}


def _cutout(folder: Path, label: str, pixels: npt.NDArray[np.uint8], scene: str = "") -> CutOut:
    tall, wide = pixels.shape[:2]
    area = int(np.count_nonzero(pixels[..., 3]))
    return CutOut(write_cutout(folder, pixels), label, scene, wide, tall, area, average_hash(pixels))


def _with_models(pool: Pool, folder: Path, heights: Mapping[str, float]) -> dict[str, float]:
    """The heights, after drawn models were put into the pool for classes that no two scenes show."""
    drawn, usual = _drawn(folder, fine=True)
    person = Gallery(pool, heights).person
    scale = 1.0 if person is None else person / usual["person"]
    shown = {label: {c.scene for c in pool.cutouts if c.label == label} for label in usual}
    save_pool(folder, [*pool.cutouts, *(c for c in drawn if len(shown[c.label]) < 2)])
    return {label: height * scale for label, height in usual.items()} | dict(heights)


def _with_objects(scene: Scene) -> Scene:
    """The scene with the pieces of its label map as objects, where it knows no objects."""
    labels = labels_of(scene)
    if scene.objects is not None or labels is None:
        return scene
    return dataclasses.replace(scene, objects=tuple(_pieces(scene, labels)))


def _whole_only(scenes: Sequence[Scene]) -> list[Scene]:
    """The scenes with only those pieces that show a single thing as a whole, where a class has any."""
    whole = {id(thing) for scene in scenes for thing in scene.objects or () if _is_whole(scene, thing)}
    having = {thing.label for scene in scenes for thing in scene.objects or () if id(thing) in whole}

    def keep(things: Sequence[SceneObject]) -> tuple[SceneObject, ...]:
        return tuple(thing for thing in things if id(thing) in whole or thing.label not in having)

    return [s if s.objects is None else dataclasses.replace(s, objects=keep(s.objects)) for s in scenes]


def _is_whole(scene: Scene, thing: SceneObject) -> bool:
    """Whether a piece is inside the picture, shaped like one thing, and stands on the ground it hides."""
    labels = labels_of(scene)
    if labels is None or thing.mask is None:
        return True
    left, top, right, bottom = (round(edge) for edge in thing.box)
    rows, columns = labels.ids.shape
    narrowest, widest = WIDTHS.get(thing.label, (0.0, np.inf))
    if left < 1 or top < 1 or right >= columns or bottom >= rows - 1:
        return False
    if not narrowest <= (right - left) / (bottom - top) <= widest:
        return False
    if thing.label not in WIDTHS:
        return True
    mask = thing.mask()[top:bottom, left:right]
    quarter = (right - left) // 4
    below = labels.mask((*ROAD, *ROADSIDE))[bottom : bottom + 2, left + quarter : right - quarter]
    is_vehicle = thing.label in FULL
    if mask.mean() < FULL.get(thing.label, 0.3) or below.mean() <= 0.5:
        return False
    if is_several(mask, vehicle=is_vehicle):
        return False
    return not is_vehicle or (_solidity(mask) >= SOLID and _beside_others(thing.mask(), labels) <= CUT)


def _beside_others(mask: Mask, labels: LabelMap) -> float:
    """The share of a piece's outline that touches what may stand before it: then it is cut off there."""
    grown = cv2.dilate(mask.astype(np.uint8), np.ones((7, 7), np.uint8)) > 0
    ring = grown & ~mask
    return float(labels.mask((*STANDING, "unlabelled"))[ring].mean()) if ring.any() else 0.0


def _solidity(mask: Mask) -> float:
    """How much of its convex hull a piece fills: several cars one behind the other have notches."""
    points = np.argwhere(mask).astype(np.int32)
    return float(len(points)) / max(cv2.contourArea(cv2.convexHull(points)), 1.0)


def _pieces(scene: Scene, labels: LabelMap) -> Iterator[SceneObject]:
    for name in CLASSES:
        mask = labels.mask([name]).astype(np.uint8)
        _, _, stats, _ = cv2.connectedComponentsWithStats(mask)
        for number, (left, top, width, height, area) in enumerate(stats[1:].tolist(), start=1):
            if area >= LEAST_PIXELS:
                box = (float(left), float(top), float(left + width), float(top + height))
                yield SceneObject(name, box, mask=partial(_piece, scene, name, number))


def _piece(scene: Scene, name: str, number: int) -> Mask:
    labels = labels_of(scene)
    assert labels is not None, "it had one when its pieces were found"
    _, pieces = cv2.connectedComponents(labels.mask([name]).astype(np.uint8))
    return np.asarray(pieces == number)


def _heights(scenes: Sequence[Scene]) -> tuple[dict[str, float], float]:
    """For each class the median of height over distance below the horizon, and how high that is.

    Things of a class have one height, so that ratio is the same near and far: the horizon is where it is.
    """
    seen: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for scene in scenes:
        labels = labels_of(scene)
        ground = None if labels is None else ground_of(labels)
        if ground is None:
            continue
        rows = ground.size[0]
        for thing in scene.objects or ():
            _, top, _, bottom = thing.box
            below = bottom - ground.horizon
            if below > 0.1 * (rows - ground.horizon) and bottom < rows - 1:
                seen[thing.label].append(((bottom - top) / rows, below / rows))
    found = {label: np.array(pairs) for label, pairs in sorted(seen.items())}
    rise = min(RISES, key=lambda rise: _unevenness(found, rise))
    return {
        label: float(np.median(pairs[:, 0] / (pairs[:, 1] + rise))) for label, pairs in found.items()
    }, rise


def _side(scenes: Sequence[Scene]) -> str:
    """The side of the road that they keep to: where there is less of it beside them, mostly."""
    shares = []
    for scene in scenes:
        labels = labels_of(scene)
        ground = None if labels is None else ground_of(labels)
        if ground is None:
            continue
        rows = np.flatnonzero(ground.road.any(axis=1))
        lefts = [ground.road[row, : round(ground.path(int(row)))].sum() for row in rows]
        shares.append(float(np.sum(lefts)) / float(ground.road.sum()))
    share = median(shares) if shares else 0.5
    return "left" if share < 0.5 - UNEVEN else "right" if share > 0.5 + UNEVEN else ""


def _unevenness(seen: Mapping[str, npt.NDArray[np.float64]], rise: float) -> float:
    """How much things of one class differ in height, as shares, if the horizon is that much higher."""
    errors = [0.0]
    for pairs in seen.values():
        if len(pairs) >= ENOUGH:
            ratios = pairs[:, 0] / (pairs[:, 1] + rise)
            errors += np.abs(np.log(ratios / np.median(ratios))).tolist()
    return float(np.mean(errors))
