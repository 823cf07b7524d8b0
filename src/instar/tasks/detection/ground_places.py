"""Places where a thing can stand: on ground that others stand on, as large as it would be there.

Every found thing of a class whose height is known tells how many pixels a metre has at its feet, and all of
them together where the ground plane lies. What is pasted stands on the line of such a thing, or nearer or
farther on the same plane. Beside each thing that is seen whole another one of its class is tried, then what
usually stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.core.scene import Image, Mask, Observation
from instar.cutouts import CutOut, Pool, Window, anywhere
from instar.cutouts.extraction import BODIES, stands_whole
from instar.cutouts.ground_plane import LevelGround, Standing, fit_ground_plane
from instar.cutouts.known_sizes import (
    COMPANY,
    FLYING,
    KNOWN_HEIGHTS,
    PERSON_WIDTH,
    Support,
    is_usual_shape,
    support_of,
)
from instar.imaging.average_hash import average_hash
from instar.imaging.geometry import Box, Boxes, areas, intersections, iou
from instar.imaging.ground import ground_like
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.places import Method, Placement, crop_box, open_places

EDGE = 2  # pixels: a box that ends so close to the picture's edge is cut off by it
MOST_ENLARGED = 1.5
LEAST_SIDE, LEAST_HEIGHT = 8, 20  # pixels; smaller ones are specks
MOST_HIGH = 0.85  # of the picture
TABLE_CAMERA, LEAST_ON_TABLE = 0.5, 0.8  # metres; how much farther things on a table may be
CARRIERS = frozenset(("horse", "bicycle", "motorcycle", "elephant", "skateboard", "chair", "couch", "bench"))
CARRIED = 0.25  # of the box of a person that lies within what carries it
SECOND = 0.6  # IoU with something found more surely: then it is another name for the same thing
SLACK = 0.02  # of the thing's height: how far its feet may be off the line
BEFORE = 0.15  # of a thing's height: ground before its feet, beyond its own shadow
ATTEMPTS = ((True, True), (True, False), (False, True), (False, False))  # of whole things, near them
WATER = frozenset(("boat", "surfboard"))  # where they are, nothing stands
UNSETTLED = FLYING | WATER | KNOWN_HEIGHTS.keys()  # what only looks right in the air, or afloat, or on ground


@dataclass(frozen=True, slots=True, eq=False)
class _Neighbour:
    """A found thing whose feet are seen, so that others can stand beside it.

    `scale` is pixels for a metre at its feet: by its own height where it is whole, else by the plane.
    """

    index: int
    label: str
    box: npt.NDArray[np.float32]
    whole: bool
    scale: float

    @property
    def foot(self) -> float:
        return float(self.box[3])

    @property
    def support(self) -> Support | None:
        """What it stands on; None for what hangs, and for classes that nobody knows."""
        return support_of(self.label) if self.label in KNOWN_HEIGHTS else None


def standing_placements(
    source: Observation,
    found: npt.NDArray[np.intp],
    taken: Boxes,
    pool: Pool,
    method: Method,
    *,
    beside_halves: bool = False,
) -> tuple[Placement, ...]:
    """Beside what stands, or else anywhere on its line; and beside its like what hangs, or nobody knows."""
    finder = _Finder.of(source, found, taken, pool, method)
    attempts = (
        tuple(finder.beside(whole=whole, near=near)) for whole, near in ATTEMPTS if whole or beside_halves
    )
    return next(filter(None, attempts), ()) + tuple(finder.alike())


def fit_plane(boxes: Boxes, labels: Sequence[str], shape: tuple[int, ...]) -> LevelGround:
    """The ground plane that found things of known heights tell of; labels are COCO's."""
    things = []
    for box, label, carried in zip(boxes, labels, _carried(boxes, labels)):
        if label not in KNOWN_HEIGHTS or support_of(label) != "ground" or carried:
            continue
        x1, y1, x2, y2 = box.tolist()
        scale = (y2 - y1) / KNOWN_HEIGHTS[label]
        if is_whole(box, label, shape):
            things.append(Standing(y2, scale, 0.15 if label == "person" else 0.25))
        elif label == "person" and y2 >= shape[0] - EDGE and y1 > EDGE:
            scale = (x2 - x1) / PERSON_WIDTH  # the feet are below the picture: only the width tells
            things.append(Standing(y1 + KNOWN_HEIGHTS[label] * scale, scale, 0.4))
        elif y2 >= shape[0] - EDGE:  # it is nearer than the picture's lower edge, and larger than is seen
            things.append(Standing(1.1 * y2, 1.3 * scale, 0.4))
    return fit_ground_plane(things, shape[0])


def ground_under(image: Image, boxes: Boxes, taken: Boxes) -> Mask:
    """What looks like the ground right below the feet of things, where nothing is in front of it."""
    strips: list[Box] = []
    for x1, y1, x2, y2 in boxes.tolist():
        inset = 0.1 * (x2 - x1)
        strips.append((x1 + inset, y2 + 1, x2 - inset, y2 + 1 + max(3.0, BEFORE * (y2 - y1))))
    return ground_like(image, strips, taken.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class _Finder:
    source: Observation
    pool: Pool
    method: Method
    taken: Boxes
    neighbours: tuple[_Neighbour, ...]
    plane: LevelGround
    shape: tuple[int, int]

    @classmethod
    def of(
        cls, source: Observation, found: npt.NDArray[np.intp], taken: Boxes, pool: Pool, method: Method
    ) -> _Finder:
        answer, shape = source.answer, (source.input.shape[0], source.input.shape[1])
        found = _without_second_boxes(answer, found)
        labels = [canonical_class(answer.labels[i]) for i in found]
        boxes = answer.boxes[found]
        plane = fit_plane(boxes, labels, shape)
        at_sea = not WATER.isdisjoint(labels)
        neighbours = [
            _neighbour(int(i), label, box, plane, shape)
            for i, label, box, carried in zip(found, labels, boxes, _carried(boxes, labels))
            if not carried and box[3] < shape[0] - EDGE
            if (label in KNOWN_HEIGHTS and not at_sea) or (label in pool and label not in UNSETTLED)
        ]
        return cls(source, pool, method, taken, tuple(neighbours), plane, shape)

    def beside(self, *, whole: bool, near: bool) -> Iterator[Placement]:
        """On the ground of neighbours, right beside them or anywhere on their line.

        Each neighbour is joined by one of its class, or else by what usually stands there.
        """
        for support in ("ground", "table"):
            around = [n for n in self.neighbours if n.support == support and n.whole == whole]
            if not around or (support == "table" and not near):
                continue  # nobody knows how far a table reaches
            ground = self._ground(around)
            for one in around:
                own = self._joining(one, (one.label,), ground, near)
                yield from own or self._joining(one, self._company(one), ground, near)

    def alike(self) -> Iterator[Placement]:
        """More of what hangs, or nobody knows, where the picture looks as it does below its like."""
        others = [n for n in self.neighbours if n.support is None and n.whole]
        for label in dict.fromkeys(n.label for n in others):
            around = [n for n in others if n.label == label]
            ground = self._ground(around)
            for one in around:
                close = self._joining(one, (label,), ground, near=True)
                yield from close or self._joining(one, (label,), ground, near=False)

    def _ground(self, around: Sequence[_Neighbour]) -> Mask:
        boxes = np.array([n.box for n in around], np.float32)
        return ground_under(self.source.input, boxes, self.taken)

    def _company(self, one: _Neighbour) -> Iterable[str]:
        """What may stand beside it: its usual company, and on the ground what is seen to stand there."""
        here = [n.label for n in self.neighbours if n.support == one.support == "ground"]
        return dict.fromkeys([*COMPANY.get(one.label, ()), *here])

    def _joining(self, one: _Neighbour, labels: Iterable[str], ground: Mask, near: bool) -> list[Placement]:
        cutouts = (cutout for label in labels for cutout in self._cutouts(label, one.box))
        return [place for cutout in cutouts for place in self._on_line(cutout, one, ground, near)]

    def _cutouts(self, label: str, box: npt.NDArray[np.float32]) -> Iterator[CutOut]:
        reference = average_hash(crop_box(self.source.input, box))
        here, most = self.source.scene.id, self.method.cutouts
        for cutout in self.pool.nearest_few(label, reference, not_from=here, most=most):
            if is_usual_shape(label, cutout.height / cutout.width):
                yield cutout

    def _on_line(
        self, cutout: CutOut, neighbour: _Neighbour, ground: Mask, near: bool
    ) -> Iterator[Placement]:
        # Above the table, the camera is lower than above the ground.
        camera = TABLE_CAMERA if neighbour.support == "table" else self.plane.camera
        horizon = neighbour.foot - camera * neighbour.scale
        for factor in self.method.sizes:
            if neighbour.support == "table" and factor < LEAST_ON_TABLE:
                continue
            foot = horizon + factor * (neighbour.foot - horizon) if neighbour.support else None
            anchor, box = neighbour.index, neighbour.box
            place = self._stand(
                cutout, neighbour.scale * factor, foot, box, anchor, box if near else None, ground
            )
            if place is not None:
                yield place
                if not self.method.every_size:
                    return

    def _stand(
        self,
        cutout: CutOut,
        scale: float,
        foot: float | None,
        model: npt.NDArray[np.float32],
        anchor: int | None,
        beside: npt.NDArray[np.float32] | None,
        ground: Mask,
    ) -> Placement | None:
        """The cut-out with its feet at that row, or at any; None where it has no free place."""
        enlarged = (cutout.metres or _metres(cutout.label)) * scale / cutout.height
        size = round(cutout.height * enlarged), round(cutout.width * enlarged)
        if enlarged > MOST_ENLARGED or min(size) < LEAST_SIDE or size[0] < LEAST_HEIGHT:
            return None
        if size[0] > MOST_HIGH * self.shape[0] or (foot is not None and foot > self.shape[0]):
            return None
        if beside is not None and self.method.window is not None:
            window = self.method.window(self.shape, size, beside)
        else:
            window = anywhere(self.shape, size)
        if foot is not None:
            slack = max(1.0, SLACK * size[0])
            window = window.rows(foot - slack - size[0], foot + slack - size[0])
        place = Placement(cutout, size, window, model, anchor, ground)
        return place if _any(window) and open_places(place, self.taken).any() else None


def is_whole(box: npt.NDArray[np.float32], label: str, shape: tuple[int, ...]) -> bool:
    """Whether a box shows a whole thing, so that it tells how large one of its class is."""
    height, width = shape[:2]
    x1, y1, x2, y2 = box.tolist()
    if y2 >= height - EDGE or y1 <= EDGE:
        return False
    if (x1 <= EDGE or x2 >= width - EDGE) and label in BODIES:
        return False
    return bool(stands_whole(label, (y2 - y1) / (x2 - x1))) and is_usual_shape(label, (y2 - y1) / (x2 - x1))


def _neighbour(
    index: int, label: str, box: npt.NDArray[np.float32], plane: LevelGround, shape: tuple[int, int]
) -> _Neighbour:
    foot, scale = float(box[3]), float(box[3] - box[1]) / _metres(label)
    stands = label in KNOWN_HEIGHTS and support_of(label) == "ground"
    # What fits no plane stands on something, bends or sits: only its feet tell anything.
    whole = is_whole(box, label, shape) and (not stands or plane.fits(Standing(foot, scale)))
    # What is seen of it is never larger than all of it.
    return _Neighbour(index, label, box, whole, scale if whole else max(scale, plane.scale(foot)))


def _without_second_boxes(answer: Detections, found: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The surest box of each thing: a car that is also found as a truck tells no size of trucks."""
    surest = found[np.argsort(-answer.scores[found], kind="stable")]
    same = iou(answer.boxes[surest], answer.boxes[surest]) >= SECOND
    return np.sort(surest[~np.tril(same, -1).any(axis=1)])


def _metres(label: str) -> float:
    """How high one of a class is; those of an unknown class are all equally high, whatever that is."""
    return KNOWN_HEIGHTS.get(label, 1.0)


def _carried(boxes: Boxes, labels: Sequence[str]) -> npt.NDArray[np.bool_]:
    """`bool (n,)`: which are people on a horse, a bicycle or a couch, so that their feet are on no ground."""
    people = np.array([label == "person" for label in labels], np.bool_)
    under = boxes[np.array([label in CARRIERS for label in labels], np.bool_)]
    covered = intersections(boxes, under).max(axis=1, initial=0.0)
    return np.asarray(people & (covered > CARRIED * areas(boxes)))


def _any(window: Window) -> bool:
    return window.bottom > window.top and window.right > window.left
